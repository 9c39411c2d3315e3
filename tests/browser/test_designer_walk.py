"""A designer moves a vault in, works on it and takes it out again, with the mouse and the keyboard
alone."""

import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from art.models import Picture
from art.pictures import file_names
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore, LorePassage
from memory_site.presence import is_worker_running
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from tests.browser.conftest import PATIENCE, sign_in
from tests.memory_site.test_worker import wait_for, worker
from worlds.audiences import Audience
from worlds.models import ImportRun, World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        "DATABASE_URL" in os.environ, reason="the worker is pointed at the embedded test database"
    ),
]
MOST_CLICKS = 60
SHOTS = os.environ.get("WALK_SHOTS")
LANTERNS = Audience("party", "lanternbearers")
NOTES = {
    "Places/Saltmarsh.md": "# Saltmarsh\n\nA village on the mud, kept dry by [[Ada Reed]].\n\n"
    "![The dyke](../img/dyke.png)\n\n> [!secret]\n> The dyke was breached on purpose.\n",
    "Places/Old Dyke.md": "---\naliases: [the Dyke]\nregion: '[[Saltmarsh]]'\n---\nA wall of clay.",
    "Places/Heron Inn.md": "Beds for [three coins](../Items/Toll%20Coin.md).\n\n"
    "> [!note]\n> The ale is thin.\n",
    "Places/Маяк.md": "---\naliases: [Старый маяк]\n---\n# Маяк\n\nСветит над [[Saltmarsh]].",
    "장소/등대.md": "# 등대\n\n[[한지우]]가 지킨다.\n\n> [!secret]\n> 불은 거짓이다.\n",
    "People/Ada Reed.md": "---\ntype: character\nlocation: '[[Saltmarsh]]'\n"
    "portrait: ada.png\n---\nShe mends the dyke.\n\n%%She breached it herself.%%\n",
    "People/Tom Reed.md": "---\ntype: character\nallies: ['[[Ada Reed]]']\n---\nHer brother.",
    "Люди/Анна Ветрова.md": "---\ntype: персонаж\n---\nСмотрительница [[Маяк|маяка]].",
    "인물/한지우.md": "---\ntype: 인물\n---\n등대지기.",
    "Factions/Reed Cutters.md": "A guild of [[Ada Reed]] and [[Tom Reed]].",
    "Items/Toll Coin.md": "Clay, stamped with a heron.",
    "Quests/Mend the Breach.md": "Before the spring tide, says [[Ada Reed]].",
    "Events/Great Flood.md": "---\ndate: Year 12\n---\nIt took [[Old Dyke]].",
    "Laws/Dyke Law.md": "Who lives behind the [[the Dyke|dyke]] mends it.",
    "Notes/Broken.md": "---\ntitle: Broken\ntags: [a\n---\nLost.",
}
PICTURES = {"img/dyke.png": "brown", "img/ada.png": "green"}
ENTRIES = len(NOTES) - 1
"""One of the notes is broken."""


@dataclass
class Hand:
    """What the designer does, counted: a choice from a list is two clicks, a file as well."""

    page: Page
    clicks: int = 0
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(30_000)
        self.page.on("console", lambda text: self.note(text.text, text.type == "error"))
        self.page.on("response", lambda got: self.note(got.url, got.status >= 400))

    def note(self, text: str, is_bad: bool) -> None:
        if is_bad:
            self.complaints.append(text)

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def press(self, name: str, *, within: Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("button", name=name, exact=True))

    def follow(self, name: str, *, within: Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("link", name=name, exact=True))

    def choose(self, label: str, option: str, *, within: Locator | None = None) -> None:
        self.clicks += 2
        (within or self.page).get_by_label(label, exact=True).select_option(label=option)

    def upload(self, label: str, name: str, content: bytes) -> None:
        self.clicks += 2
        file: Any = {"name": name, "mimeType": "application/zip", "buffer": content}
        self.page.get_by_label(label).set_input_files([file])

    def shot(self, name: str) -> None:
        if SHOTS:
            self.page.screenshot(path=str(Path(SHOTS, f"{name}.png")), full_page=True)


def vault() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in NOTES.items():
            packed.writestr(f"My world/{name}", text)
        for name, colour in PICTURES.items():
            packed.writestr(f"My world/{name}", image_bytes(size=(640, 400), colour=colour))
    return content.getvalue()


def counts(world: World) -> dict[str, int]:
    """How many rows of each kind the world has."""
    models: dict[str, Any] = {"lore": Lore, "npc": NPC, "entity": GraphNode, "picture": Picture}
    models |= {"passage": LorePassage, "fact": GraphEdge}
    return {name: model.objects.filter(world=world).count() for name, model in models.items()}


@pytest.fixture
def hand(chromium: Browser, live_server: LiveServer, people: World) -> Iterator[Hand]:
    page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    sign_in(page, live_server, "anna")
    expect.set_options(timeout=60_000)  # the worker may be busy with other things
    with worker(MEDIA_ROOT=str(settings.MEDIA_ROOT)):
        assert wait_for(is_worker_running)
        page.goto(f"{live_server.url}/w/ferrymark/")
        yield Hand(page)
    expect.set_options(timeout=PATIENCE)


def test_a_vault_is_moved_in_worked_on_and_taken_out_again(hand: Hand, people: World) -> None:
    before = counts(people)

    bring_vault_in(hand)
    after = counts(people)
    assert after["lore"] == before["lore"] + ENTRIES
    assert after["npc"] == before["npc"] + 4
    # Every note but the law is an entity.
    assert after["entity"] == before["entity"] + ENTRIES - 1
    assert after["picture"] == before["picture"] + len(PICTURES)
    files = [
        name
        for picture in Picture.objects.filter(name__in=["dyke.png", "ada.png"])
        for name in file_names(picture)
    ]
    assert files
    upload = ImportRun.objects.get().file.name

    publish_drafts(hand)
    assert not Lore.objects.filter(world=people, status="draft").exists()

    edit_with_link_and_secret(hand)
    entry = Lore.objects.get(title="Saltmarsh")
    assert "[[Анна Ветрова]]" in entry.body
    assert entry.body.count(":::secret") == 2
    assert not entry.body.startswith("#")

    reveal_to_party(hand)
    entry.refresh_from_db()
    assert (entry.visibility, entry.known_to) == ("revealed", [str(LANTERNS)])
    seen = " ".join(
        LorePassage.objects.visible_to(LANTERNS).filter(lore=entry).values_list("text", flat=True)
    )
    assert "A village on the mud" in seen
    assert "on purpose" not in seen
    assert "sluice" not in seen

    add_relation(hand)
    fact = GraphEdge.objects.get(label="sends its reeds to")
    assert (fact.src.lore, fact.dst.name) == (entry, "Heron Inn")

    restore_older_version(hand)
    entry.refresh_from_db()
    assert "Анна Ветрова" not in entry.body
    assert entry.known_to == [str(LANTERNS)], "restoring a text does not undo a reveal"

    undo_import(hand)
    assert counts(people) == before
    assert not any(map(default_storage.exists, [*files, upload]))
    assert hand.complaints == []
    assert hand.clicks <= MOST_CLICKS


def bring_vault_in(hand: Hand) -> None:
    page = hand.page
    hand.click(page.locator(".masthead details summary").first)
    hand.follow("Import")
    hand.upload("Files or a zip archive", "My world.zip", vault())
    hand.press("Upload")
    faults = page.locator("details", has_text="1 fault")
    expect(faults).to_contain_text("Notes/Broken.md:4")
    expect(faults).to_contain_text("not YAML")
    expect(page.locator("#recognised + p")).to_contain_text(f"{ENTRIES} entries")
    hand.shot("1-recognised")
    hand.click(page.get_by_role("button", name="Check").first)
    expect(page.get_by_role("heading", name="What the import would do")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Notes/Broken.md:4")
    hand.shot("2-checked")
    hand.press("Import now")
    expect(page.get_by_role("heading", name="Imported", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Notes/Broken.md:4")
    hand.shot("3-imported")


def publish_drafts(hand: Hand) -> None:
    page = hand.page
    hand.follow("To the lore")
    hand.choose("Status", "Draft")
    hand.press("Filter")
    expect(page.locator("table.work tbody tr")).to_have_count(ENTRIES)
    hand.shot("4-drafts")
    hand.click(page.get_by_label(f"all {ENTRIES} entries of this list"))
    hand.choose("Change the selected entries", "Status")
    hand.press("Continue")
    hand.click(page.get_by_label("Published"))
    hand.press(f"Change {ENTRIES} entries")
    expect(page.locator(".notice.good")).to_contain_text(f"{ENTRIES} entries were changed")
    hand.shot("5-published")


def edit_with_link_and_secret(hand: Hand) -> None:
    page = hand.page
    page.get_by_label("Search everything").press_sequentially("Saltmarsh")
    page.keyboard.press("Enter")
    hand.click(page.get_by_role("main").get_by_role("link", name="Saltmarsh").first)
    expect(page.get_by_role("heading", name="Saltmarsh")).to_have_count(1)
    expect(page.locator("article.lore img")).to_be_visible()
    hand.shot("6-entry")
    hand.follow("Edit")
    hand.click(page.locator(".cm-content"))
    page.keyboard.press("Control+End")
    page.keyboard.type("\n\nIts light is kept by [[Анна")
    suggestion = page.locator(".cm-tooltip-autocomplete li").first
    expect(suggestion).to_contain_text("Анна Ветрова")
    page.wait_for_timeout(300)  # CodeMirror ignores a key that comes at once
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_contain_text("[[Анна Ветрова]]")
    page.keyboard.type("\n\n/sec")
    expect(suggestion).to_contain_text("/secret")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("Behind the sluice lies a door.")
    expect(page.locator(".editor-preview .secret").last).to_contain_text("sluice")
    hand.shot("7-editing")
    hand.click(page.get_by_role("button", name="Save", exact=True).first)
    expect(page.locator("article.lore")).to_contain_text("Its light is kept by Анна Ветрова")
    hand.shot("8-saved")


def reveal_to_party(hand: Hand) -> None:
    part = hand.page.locator("#knows li", has_text="The entry").first
    hand.click(part.locator("summary"))
    hand.choose("To whom", "Lanternbearers", within=part)
    hand.press("Reveal", within=part)
    expect(hand.page.locator(".notice.good")).to_contain_text("Revealed")
    expect(hand.page.locator("#knows li").first).to_contain_text("Lanternbearers")
    expect(hand.page.locator(".pagehead")).to_contain_text("Known to Lanternbearers")


def add_relation(hand: Hand) -> None:
    card = hand.page.locator("#relations")
    hand.click(card.locator("summary"))
    hand.click(card.get_by_label("Saltmarsh …", exact=True))
    hand.page.keyboard.type("sends its reeds to")
    hand.page.keyboard.press("Tab")
    hand.page.keyboard.type("Heron Inn")
    hand.press("Add", within=card)
    expect(hand.page.locator("#relations")).to_contain_text("sends its reeds to Heron Inn")
    hand.shot("9-related")


def restore_older_version(hand: Hand) -> None:
    page = hand.page
    hand.follow("History")
    hand.shot("10-history")
    published = page.locator("section.version", has_text="status Published")
    hand.click(published.get_by_role("button", name="Restore the version of"))
    expect(page.locator(".notice.good")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("sluice")
    hand.shot("11-restored")


def undo_import(hand: Hand) -> None:
    page = hand.page
    hand.click(page.locator(".masthead details summary").first)
    hand.follow("Import")
    hand.follow("My world.zip")
    hand.press("Undo the whole import")
    expect(page.get_by_role("heading", name="Kept")).to_be_visible()
    hand.shot("12-kept")
    hand.press("Undo all of these")
    expect(page.get_by_role("heading", name="Kept")).to_have_count(0)
    expect(page.get_by_role("heading", name="The import was undone")).to_be_visible()
    hand.shot("13-undone")
