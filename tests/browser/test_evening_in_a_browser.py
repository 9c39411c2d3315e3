"""The evening of a game master with a phone of 390 pixels, without engine and language model:
prepare, look things up, reveal secrets and take one back, note, roll, let time pass, write the
session down, approve what follows, and look at it as the players do. Every tap is counted, and so
is every field that is focused."""

import time
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Locator, Page, expect

from episodes.models import Episode, Scene
from episodes.report_models import SessionNote
from knowledge.models import LorePassage
from knowledge.schemas import RuleIn
from knowledge.upsert import upsert_rule
from npcs.models import DispositionChange, Secret
from tests.browser.conftest import PHONE
from tests.browser.test_every_page_in_a_browser import WIDE, keep_shot
from worlds.audiences import Audience
from worlds.models import World

pytestmark = pytest.mark.browser
PARTY = Audience("party", "lanternbearers")
MOST_TAPS, MOST_TAPS_OF_A_LOOKUP = 80, 2
RULES = {
    "Grappled": "- A grappled creature's speed becomes 0.\n- It ends if the grappler cannot act.",
    "Fireball": "*3rd-level evocation*\n\n" + "A bright streak blossoms into an explosion. " * 30,
    "Prone": "A prone creature's only movement option is to crawl.",
}
PEOPLE = {
    "jory": "Jory Fenn",
    "hask": "Hask Ondrel",
    "солби": "Han Solbi",
    "mira": "Mira Voss",
}
REPORT = (
    "On 6 Ebb 212 the party met Mira Voss at the Lower Landing. "
    "Mira Voss thanked Tobin for the whistle. "
    "Jory Fenn was furious that Nuri had sold his boat. "
    "Nuri promised Jory Fenn a new boat before Rime."
)


class Thumb:
    """One thumb on a phone. It counts what it touches, and remembers where it was led."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0
        self.addresses: list[str] = []
        self.complaints: list[str] = []
        page.on("framenavigated", lambda frame: self.addresses.append(frame.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self.listen)

    def listen(self, message: Any) -> None:
        # htmx reports requests that a newer one has replaced.
        is_replaced = message.text.startswith(("htmx:afterRequest", "htmx:sendAbort", "htmx:abort"))
        if message.type == "error" and not is_replaced:
            self.complaints.append(message.text)

    def tap(self, what: Locator) -> None:
        self.taps += 1
        what.tap()

    def write(self, field: Locator, text: str) -> None:
        self.tap(field)
        field.fill(text)

    def choose(self, field: Locator, option: str) -> None:
        """The list is opened, and one of it is chosen."""
        self.taps += 2
        field.select_option(option)

    def button(self, name: str, part: Any = None, *, exact: bool = False) -> None:
        self.tap((part or self.page).get_by_role("button", name=name, exact=exact).first)

    def link(self, name: str) -> None:
        self.tap(self.page.get_by_role("link", name=name, exact=True).first)

    def unfold(self, part: Locator) -> None:
        """Open what is for the game master alone: players may see the screen."""
        summary = part.locator("summary", has_text="For the game master").first
        if not summary.evaluate("each => each.parentElement.open"):
            self.tap(summary)

    def look_up(self, words: str, title: str) -> Locator:
        """Return what opened, which nobody had to scroll to."""
        before = self.taps
        self.write(self.page.get_by_role("searchbox"), words)
        expect(self.page.locator("#opened-title", has_text=title)).to_be_in_viewport(ratio=1)
        assert self.taps - before <= MOST_TAPS_OF_A_LOOKUP
        return self.page.locator(".opened")


def test_an_evening_on_a_phone(phone: Page, url: str, people: World) -> None:
    get_user_model().objects.filter(username="anna").update(is_superuser=False, is_staff=False)
    for title, body in RULES.items():
        rule = RuleIn(rule_id=f"house/{title.lower()}", title=title, body=body, kind="condition")
        upsert_rule(people, rule, reason="test")
    phone.goto(f"{url}/w/ferrymark/")
    thumb, started = Thumb(phone), time.monotonic()
    prepare(thumb)
    look_things_up(thumb)
    open_scene(thumb)
    known, hidden = reveal_two(thumb)
    play(thumb)
    use_keys(phone)
    write_down(thumb)
    approve(thumb)
    look_as_the_players(thumb, known=known, hidden=hidden)
    print(f"taps: {thumb.taps}, seconds: {time.monotonic() - started:.0f}")
    assert thumb.taps <= MOST_TAPS
    assert not [each for each in thumb.addresses if "/admin/" in each]
    assert thumb.complaints == []


def prepare(thumb: Thumb) -> None:
    thumb.link("Prepare Lanternbearers")
    page = thumb.page
    expect(page.get_by_role("heading", name="Last time")).to_be_in_viewport()
    thumb.link("Secrets")
    expect(page.get_by_role("heading", name="does not know yet")).to_be_in_viewport()
    thumb.link("Notes")
    thumb.write(page.get_by_role("textbox", name="Preparation notes"), "Fog first.")
    thumb.button("Save the notes")
    expect(page.locator("#said")).to_contain_text("The notes are saved.")
    assert page.evaluate(WIDE) == []
    keep_shot(page, "evening prepare")
    thumb.link("Play")


def look_things_up(thumb: Thumb) -> None:
    for title in RULES:
        text = thumb.look_up(title.lower(), title).locator(".lore").first
        assert ends_on_screen(text), f"{title} is to be read without scrolling"
    for words, name in PEOPLE.items():
        opened = thumb.look_up(words, name)
        thumb.unfold(opened)
        for line in opened.locator(".playnow li").all():
            expect(line).to_be_in_viewport()
        expect(opened.locator(".regard").first).to_be_in_viewport()


def ends_on_screen(part: Locator) -> bool:
    """Above the bar at the bottom of the screen."""
    box, bar = part.bounding_box(), part.page.locator(".atbottom").bounding_box()
    assert bar
    assert bar["y"] + bar["height"] <= PHONE["height"] + 1
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= bar["y"]


def open_scene(thumb: Thumb) -> None:
    thumb.write(thumb.page.get_by_label("Place (optional)"), "Lower Landing")
    thumb.button("Open a scene")
    scene = thumb.page.locator("#scene")
    expect(scene.get_by_role("heading", name="Lower Landing")).to_be_in_viewport()
    expect(scene).to_contain_text("5 Ebb 212")


def reveal_two(thumb: Thumb) -> tuple[str, str]:
    """Reveal two of Mira's secrets, one by mistake; return the text of the one that stays known and
    of the other."""
    opened = thumb.look_up("mira", "Mira Voss")
    thumb.unfold(opened)
    rows = opened.locator(".part:has(> .partrow button)")
    ids = [str(each.get_attribute("data-part")) for each in rows.all()][:2]
    assert len(ids) == 2
    parts = [opened.locator(f'[data-part="{row}"] .lore').first for row in ids]
    texts = [" ".join(str(each.text_content()).split()) for each in parts]
    assert opened.locator(".what .lore:visible").count() == 0, "secrets are folded"
    said = thumb.page.locator("#said")
    for row in ids:
        part = opened.locator(f'[data-part="{row}"]')
        thumb.button("Reveal", part)
        expect(part.get_by_role("button", name="Undo")).to_be_visible()
        expect(said).to_contain_text("Revealed to Lanternbearers: Mira Voss.")
    assert said.get_attribute("aria-live") == "polite"
    thumb.button("Undo", opened.locator(f'[data-part="{ids[1]}"]'))
    expect(said).to_contain_text("The reveal was undone.")
    assert [is_known(row) for row in ids] == [True, False]
    thumb.button("Add to the scene")
    expect(thumb.page.locator(".actor")).to_contain_text("Mira Voss")
    expect(opened.get_by_role("button", name="Add to the scene")).to_have_count(0)
    return texts[0], texts[1]


def is_known(row: str) -> bool:
    models: Any = (Secret, LorePassage)
    return any(model.objects.filter(pk=row).visible_to(PARTY).exists() for model in models)


def play(thumb: Thumb) -> None:
    page = thumb.page
    thumb.link("Note")
    note = page.locator("#note")
    thumb.write(note.get_by_role("textbox"), "Mira was paid.")
    thumb.button("Save the note")
    expect(note).to_contain_text("The note is saved.")
    assert SessionNote.objects.get().session == Scene.objects.latest("created_at", "pk").session
    thumb.link("Dice")
    dice = page.locator("#dice")
    thumb.write(dice.get_by_label("Modifier"), "3")
    thumb.choose(dice.get_by_label("d20"), "advantage")
    thumb.button("d20", dice)
    first = dice.locator(".rolls li").first
    expect(first).to_contain_text("d20 + 3, advantage:")
    total, pair = first.inner_text().split(" d20 + 3, advantage: ")
    assert int(total) == max(int(each) for each in pair.removesuffix(" + 3").split(" | ")) + 3
    thumb.link("Scene")
    before = page.locator(".inworld").inner_text()
    thumb.button("1 hour")
    expect(page.locator(".inworld")).not_to_have_text(before)
    assert page.evaluate(WIDE) == []
    keep_shot(page, "evening play")


def use_keys(page: Page) -> None:
    """A keyboard alone does it, too: the focus is never lost when a part of the page changes."""
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("hask")
    expect(page.locator("#opened-title", has_text="Hask Ondrel")).to_be_visible()
    page.locator(".opened summary", has_text="For the game master").first.press("Enter")
    part = page.locator(".opened .part", has=page.get_by_role("button", name="Reveal")).first
    row = part.get_attribute("data-part")
    part = page.locator(f'[data-part="{row}"]')
    names = ("Reveal Lanternbearers", "Undo Lanternbearers")
    for name, other in (names, names[::-1]):
        reached = part.get_by_role("button", name=name)
        for _press in range(30):
            if reached.evaluate("each => each === document.activeElement"):
                break
            page.keyboard.press("Tab")
        expect(reached).to_be_focused()
        page.keyboard.press("Enter")
        expect(part.get_by_role("button", name=other)).to_be_focused()
    hour = page.locator("#scene").get_by_role("button", name="1 hour")
    before = page.locator(".inworld").inner_text()
    hour.press("Enter")
    expect(page.locator(".inworld")).not_to_have_text(before)
    expect(hour).to_be_focused()


def write_down(thumb: Thumb) -> None:
    page = thumb.page
    thumb.link("Write down what happened")
    thumb.write(page.get_by_label("What happened"), REPORT)
    thumb.button("Propose an episode")
    expect(page.get_by_role("heading", name="Review the episode")).to_be_visible()
    expect(page.get_by_label("In-world date")).to_have_value("6 Ebb 212")
    assert page.evaluate(WIDE) == []
    keep_shot(page, "evening review")
    changes = page.locator("section[aria-labelledby=h-changes]")
    thumb.choose(changes.get_by_label("NPC").first, "Mira Voss")  # who thanks whom is not certain
    thumb.tap(changes.get_by_role("checkbox", name="Record this"))
    thumb.tap(changes.get_by_role("checkbox", name="Jory Fenn"))
    jory = changes.locator("fieldset", has=page.get_by_role("checkbox", name="Jory Fenn"))
    thumb.write(jory.get_by_label("Change"), "-40")
    thumb.tap(page.get_by_role("checkbox", name="Nuri promised Jory Fenn a new boat"))
    assert Episode.objects.filter(session__number=4).count() == 0, "nothing is recorded unasked"
    thumb.button("Record the episode")
    expect(page.locator("main")).to_contain_text("Large changes of mind wait in the inbox")
    expect(page.get_by_role("link", name="Mira Voss").first).to_be_visible()
    assert Scene.objects.latest("created_at", "pk").ended_at, "the scene is over"


def approve(thumb: Thumb) -> None:
    page = thumb.page
    thumb.tap(page.locator("summary", has_text="Menu"))
    thumb.link("Inbox")
    waiting = page.locator("section[aria-labelledby=changes] li", has_text="Nuri had sold his boat")
    held = DispositionChange.objects.pending().get(npc__slug="jory-fenn")
    assert held.delta == -40
    thumb.button("Approve", waiting)
    expect(page.locator("section[aria-labelledby=decided]")).to_contain_text("Jory Fenn")
    expect(waiting).to_have_count(0)
    assert not DispositionChange.objects.pending().filter(pk=held.pk).exists()
    keep_shot(page, "evening inbox")


def look_as_the_players(thumb: Thumb, *, known: str, hidden: str) -> None:
    page = thumb.page
    thumb.tap(page.locator("summary", has_text="Menu"))
    thumb.button("Lanternbearers", page.locator(".menu.narrow"), exact=True)
    expect(page.get_by_role("status")).to_contain_text("Viewing as Lanternbearers")
    main = page.locator("main")
    expect(main).to_contain_text("Mira Voss thanked Tobin for the whistle.")
    expect(main).to_contain_text(known)
    expect(main).not_to_contain_text(hidden)
    expect(main).not_to_contain_text("Fog first.")
    assert page.evaluate(WIDE) == []
    keep_shot(page, "evening players")
    thumb.button("Back to the game master's view")
    expect(page.get_by_role("link", name="Play Lanternbearers")).to_be_visible()
