"""Somebody writes in the editor: completion, secrets, pictures, drafts, the end of a session."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from art.models import Picture
from knowledge.entry_drafts import EntryDraft
from knowledge.models import Lore
from tests.browser.conftest import sign_in
from tests.memory_site.api.event_reader import wait_for
from worlds.models import World

pytestmark = pytest.mark.browser
LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
SHOTS = os.environ.get("EDITOR_SHOTS")
DROP = """async (kind) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  canvas.getContext("2d").fillRect(0, 0, 8, 8);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const data = new DataTransfer();
  data.items.add(new File([blob], "map.png", { type: "image/png" }));
  const target = document.querySelector(".cm-content");
  target.dispatchEvent(kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true,
        clientX: target.getBoundingClientRect().x + 30,
        clientY: target.getBoundingClientRect().y + 20 }));
}"""


@pytest.fixture
def quay(people: World, settings: Any) -> Lore:
    settings.ROOT_URLCONF = "tests.browser.editor_page"
    entry: Lore = Lore.objects.get(world=people, slug="toll-house")
    Lore.objects.filter(pk=entry.pk).update(body="Wet.")
    return entry


def open_editor(
    browser: Browser,
    live_server: LiveServer,
    *,
    size: dict[str, int] = LAPTOP,
    scheme: str = "light",
) -> Page:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    sign_in(page, live_server, "anna")
    page.goto(f"{live_server.url}/w/ferrymark/try/toll-house/")
    expect(page.locator(".cm-content")).to_be_visible()
    return page


def write(page: Page, text: str) -> None:
    """Type at the end of the text, as a person does."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def choose_first(page: Page, text: str) -> None:
    """Take the first suggestion, which has `text`; CodeMirror ignores a key that comes at once."""
    expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text(text)
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")


def expect_body(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator("textarea[name=body]")).to_have_value(text)


def save(page: Page) -> None:
    """Save by the keyboard; return when the page has been loaded again."""
    with page.expect_navigation():
        page.keyboard.press("Control+s")


def expect_draft(text: str) -> None:
    """A draft is stored while somebody types: wait for the one that has the whole text."""
    drafts = EntryDraft.objects.filter(fields__body=text)
    assert wait_for(drafts.exists, 20), list(EntryDraft.objects.values_list("fields", flat=True))
    assert EntryDraft.objects.count() == 1


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS, f"{name}.png")), full_page=True)


def test_a_text_is_written_with_links_and_secrets_and_saved(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    write(page, "\n\nAsk [[Мира В")
    options = page.locator(".cm-tooltip-autocomplete li")
    expect(options.last).to_contain_text("Create “Мира В”")
    choose_first(page, "Мира Восс")
    expect(page.locator(".cm-content")).to_contain_text("[[Mira Voss]]")

    write(page, "\n\n/sec")
    choose_first(page, "/secret")
    page.keyboard.type("gild")
    choose_first(page, "party:gilded-oath")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("She forged it.")
    frame = page.locator(".cm-line.editor-secret")
    expect(frame).to_have_count(3)
    expect(page.locator(".editor-who")).to_have_text("Known to Gilded Oath")
    expect(page.locator(".editor-preview .secret")).to_contain_text("She forged it.")
    expect(page.locator("[data-count]")).to_contain_text("words")

    page.get_by_text("How it will be cut into passages").click()
    expect(page.locator(".editor-passages li.secret")).to_contain_text("She forged it.")
    save(page)
    expect(page.locator(".cm-content")).to_contain_text("She forged it.")
    quay.refresh_from_db()
    assert quay.body == (
        "Wet.\n\nAsk [[Mira Voss]]\n\n:::secret party:gilded-oath\nShe forged it.\n:::\n"
    ), quay.body
    assert not EntryDraft.objects.exists()
    assert complaints == []


def test_a_secret_that_is_never_closed_is_named_while_typing(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    write(page, "\n\n:::secret party:nobody\nShe forged it.")
    page.keyboard.press("Escape")
    expect(page.locator(".editor-problems")).to_contain_text("Line 3: This secret is never closed")
    expect(page.locator(".editor-problems")).to_contain_text("no party:nobody")
    expect(page.locator(".editor-who.bad")).to_have_text("never closed: add :::")
    quay.refresh_from_db()
    assert "She forged it." not in quay.body


def test_korean_is_composed_without_losing_letters(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    write(page, "\n\n:::secret\n")
    page.keyboard.press("Escape")
    keyboard = page.context.new_cdp_session(page)
    for text in ("ㅎ", "하", "한", "한ㄱ", "한구", "한국"):
        keyboard.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
        page.wait_for_timeout(60)
    keyboard.send("Input.insertText", {"text": "한국"})
    page.keyboard.type(" 나룻배\n:::")
    expect_body(page, "Wet.\n\n:::secret\n한국 나룻배\n:::")
    save(page)
    quay.refresh_from_db()
    assert quay.body.rstrip() == "Wet.\n\n:::secret\n한국 나룻배\n:::"


@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_a_picture_is_uploaded_where_it_is_put(
    chromium: Browser, live_server: LiveServer, quay: Lore, kind: str
) -> None:
    page = open_editor(chromium, live_server)
    page.locator(".cm-content").click()
    page.evaluate(DROP, kind)
    expect(page.locator(".cm-content")).to_contain_text("picture:")
    picture = Picture.objects.latest("pk")
    expect_body(page, re.compile(rf"\(picture:{picture.pk}\)"))
    assert (picture.world, picture.width, picture.height) == (quay.world, 8, 8)


def test_a_refused_picture_says_why(chromium: Browser, live_server: LiveServer, quay: Lore) -> None:
    page = open_editor(chromium, live_server)
    broken = {"name": "map.png", "mimeType": "image/png", "buffer": b"not a picture"}
    page.locator(".editor input[type=file]").set_input_files([broken])  # type: ignore[list-item]
    expect(page.locator("[data-error]")).to_contain_text("map.png was not uploaded")
    expect_body(page, "Wet.")
    assert not Picture.objects.exists()


def test_a_draft_is_saved_offered_and_restored(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    page.get_by_label("Title").fill("The Toll House")
    write(page, "\n\nUnsaved words.")
    expect(page.locator("[data-state]")).to_contain_text("Draft saved")
    expect_draft("Wet.\n\nUnsaved words.")
    questions: list[str] = []
    page.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    page.reload()
    assert questions == ["beforeunload"]

    offer = page.locator(".editor-offer")
    expect(offer).to_contain_text("Your unsaved draft:")
    offer.get_by_text("What the draft changes").click()
    expect(offer.locator("ins", has_text="Unsaved words.")).to_be_visible()
    shot(page, "offer")
    expect(page.locator(".cm-content")).to_have_text("Wet.")
    offer.get_by_role("button", name="Restore the draft").click()
    expect(page.locator(".cm-content")).to_contain_text("Unsaved words.")
    expect(page.get_by_label("Title")).to_have_value("The Toll House")
    save(page)
    expect(page.get_by_role("heading", name="The Toll House")).to_be_visible()
    expect(page.locator(".editor-offer")).to_be_hidden()
    assert not EntryDraft.objects.exists()


def test_typing_before_the_drafts_are_read_is_saved_and_never_offered(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    context = chromium.new_context(viewport=LAPTOP)  # type: ignore[arg-type]
    page = context.new_page()
    sign_in(page, live_server, "anna")
    held: list[Route] = []
    sent: list[str] = []

    def hold_reading(route: Route) -> None:
        sent.append(route.request.method)
        if route.request.method == "GET":
            held.append(route)
        else:
            route.continue_()

    page.route("**/draft/**", hold_reading)
    page.goto(f"{live_server.url}/w/ferrymark/try/toll-house/")
    expect(page.locator(".cm-content")).to_be_visible()
    write(page, "\n\nEarly words.")
    page.wait_for_timeout(4_000)  # longer than the pause after which a draft is saved
    assert sent == ["GET"]
    held[0].continue_()
    expect(page.locator("[data-state]")).to_contain_text("Draft saved")
    expect(page.locator(".editor-offer")).to_be_hidden()
    expect_draft("Wet.\n\nEarly words.")


def test_nothing_is_lost_when_the_session_ends(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    page.on("dialog", lambda dialog: dialog.accept())
    Session.objects.all().delete()
    write(page, "\n\nLate words.")
    expect(page.locator("[data-state]")).to_contain_text("You are signed out")
    link = page.get_by_role("link", name="Sign in again in a new tab")
    assert link.get_attribute("target") == "_blank"
    assert not EntryDraft.objects.exists()
    page.get_by_role("button", name="Save").click()  # too early: the login page takes its place
    expect(page).to_have_url(f"{live_server.url}/login/?next=/w/ferrymark/try/toll-house/")
    sign_in(page, live_server, "anna")
    page.goto(f"{live_server.url}/w/ferrymark/try/toll-house/")
    offer = page.locator(".editor-offer")
    expect(offer).to_contain_text("This browser has a text from")
    offer.get_by_role("button", name="Restore the draft").click()
    expect(page.locator(".cm-content")).to_contain_text("Late words.")
    expect(page.locator("[data-state]")).to_contain_text("Draft saved")


def test_writing_goes_on_after_signing_in_again_in_another_tab(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    Session.objects.all().delete()
    write(page, "\n\nLate words.")
    expect(page.locator("[data-state]")).to_contain_text("You are signed out")
    sign_in(page, live_server, "anna")
    write(page, " More.")
    expect(page.locator("[data-state]")).to_contain_text("Draft saved")
    save(page)
    expect(page.locator(".cm-content")).to_contain_text("Late words. More.")
    quay.refresh_from_db()
    assert quay.body == "Wet.\n\nLate words. More."


def test_the_keyboard_enters_works_and_leaves(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = open_editor(chromium, live_server)
    page.get_by_text("Text", exact=True).click()  # the label still leads to the field
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+b")
    expect_body(page, "**Wet.**")
    page.keyboard.press("Control+b")
    expect_body(page, "Wet.")
    page.keyboard.press("F1")
    expect(page.get_by_role("dialog")).to_be_visible()
    shot(page, "help")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator(".cm-content").click()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator(".cm-content")).not_to_be_focused()
    expect_body(page, "Wet.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_editor_is_accessible_and_fits(
    chromium: Browser, live_server: LiveServer, quay: Lore, size: dict[str, int], scheme: str
) -> None:
    text = "# Toll House\n\n**Wet** and [[Mira Voss]].\n\n:::secret\nMined.\n:::\n\n"
    Lore.objects.filter(pk=quay.pk).update(
        body=text + "| a | b |\n|---|---|\n| 1 | 2 |\n\n::: secrt\n"
    )
    page = open_editor(chromium, live_server, size=size, scheme=scheme)
    expect(page.locator(".editor-problems li")).to_have_count(1)
    page.get_by_text("How it will be cut into passages").click()
    expect(page.locator(".editor-passages li")).not_to_have_count(0)
    shot(page, f"{scheme}-{size['width']}")
    if size is PHONE:
        page.get_by_role("tab", name="Preview").click()
        expect(page.locator(".editor-preview")).to_be_visible()
        expect(page.locator(".editor-write")).to_be_hidden()
        shot(page, f"{scheme}-{size['width']}-preview")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_without_javascript_the_text_area_stays(
    chromium: Browser, live_server: LiveServer, quay: Lore
) -> None:
    page = chromium.new_context(java_script_enabled=False).new_page()
    sign_in(page, live_server, "anna")
    page.goto(f"{live_server.url}/w/ferrymark/try/toll-house/")
    page.get_by_label("Text").fill("Dry.")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    quay.refresh_from_db()
    assert quay.body == "Dry."


def test_the_admin_has_the_same_editor(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    entry = Lore.objects.get(world=people, slug="toll-house")
    context = chromium.new_context(viewport=LAPTOP)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    sign_in(page, live_server, "anna")
    page.goto(f"{live_server.url}/admin/knowledge/lore/{entry.pk}/change/")
    expect(page.locator(".cm-content")).to_be_visible()
    write(page, "\n\nAsk [[Мира В")
    choose_first(page, "Мира Восс")
    expect(page.locator(".cm-content")).to_contain_text("[[Mira Voss]]")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    entry.refresh_from_db()
    assert entry.body.endswith("Ask [[Mira Voss]]")
    assert complaints == []
    context.close()
