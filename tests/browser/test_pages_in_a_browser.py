"""Every page for game masters, in light and dark, on a laptop and a phone: complete, accessible,
nothing sticks out."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from npcs.models import NPC, Disposition, DispositionChange
from tests.browser.conftest import sign_in
from worlds.models import World

PAGES = (
    "",
    "npcs/",
    "npcs/mira-voss/",
    "npcs/mira-voss/?party=gilded-oath",
    "parties/lanternbearers/",
    "sessions/",
    "lore/",
    "lore/ferry-law/",
    "graph/",
    "graph/?around=mira-voss",
    "inbox/",
    "audit/",
    "search/?q=ferry",
)
LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

pytestmark = pytest.mark.browser


def open_page(
    browser: Browser, live_server: LiveServer, *, scheme: str, size: dict[str, int], who: str
) -> Page:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    sign_in(page, live_server, who)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_accessibility_fault(
    chromium: Browser, live_server: LiveServer, people: World, scheme: str
) -> None:
    page = open_page(chromium, live_server, scheme=scheme, size=LAPTOP, who="anna")
    faults = []
    for path in PAGES:
        answer = page.goto(f"{live_server.url}/w/ferrymark/{path}")
        assert answer is not None
        assert answer.status == 200, path
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        faults += [
            (path, each["id"], each["nodes"][0]["html"][:120]) for each in found if _serious(each)
        ]
    assert not faults, json.dumps(faults, indent=1)


def _serious(violation: dict[str, object]) -> bool:
    return violation["impact"] in ("serious", "critical")


def test_no_page_is_wider_than_a_phone(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    page = open_page(chromium, live_server, scheme="light", size=PHONE, who="anna")
    wide = []
    for path in PAGES:
        page.goto(f"{live_server.url}/w/ferrymark/{path}")
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            wide.append((path, width))
    assert wide == []


def test_no_page_breaks_its_content_security_policy(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    page = open_page(chromium, live_server, scheme="light", size=LAPTOP, who="anna")
    complaints: list[str] = []
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    for path in PAGES:
        page.goto(f"{live_server.url}/w/ferrymark/{path}")
    assert complaints == []


def test_the_demo_brings_its_own_pictures(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    page = open_page(chromium, live_server, scheme="light", size=LAPTOP, who="anna")
    page.goto(f"{live_server.url}/w/ferrymark/npcs/mira-voss/")
    pictures = page.locator("figure.art img")
    assert pictures.count() > 0
    for number in range(pictures.count()):
        pictures.nth(number).scroll_into_view_if_needed()
        page.wait_for_function(
            "image => image.complete && image.naturalWidth > 0",
            arg=pictures.nth(number).element_handle(),
        )


def test_what_counts_about_an_npc_stands_above_the_fold(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    page = open_page(chromium, live_server, scheme="light", size=LAPTOP, who="anna")
    page.goto(f"{live_server.url}/w/ferrymark/npcs/mira-voss/?party=lanternbearers")
    npc = NPC.objects.get(world=people, slug="mira-voss")
    shown = page.evaluate(
        "() => [...document.querySelectorAll('main *')].filter(e => e.children.length === 0 &&"
        " e.getBoundingClientRect().bottom <= innerHeight).map(e => e.textContent).join(' ')"
    )
    text = page.locator("main").inner_text()
    standing = Disposition.objects.get(npc=npc, party__slug="lanternbearers")
    last = standing.last_change
    assert last is not None
    assert npc.name in shown
    assert f"{standing.score:+.0f}" in shown
    assert page.locator(".lastreason").bounding_box()["y"] < LAPTOP["height"]  # type: ignore[index]
    assert last.reason in text
    assert npc.role in text


def test_a_game_master_reverses_a_change_and_the_number_follows(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    pair = {"npc__slug": "mira-voss", "party__slug": "lanternbearers"}
    before = Disposition.objects.get(**pair)
    change = DispositionChange.objects.filter(**pair, kind="episode", held=False).order_by("-id")[0]
    page = open_page(chromium, live_server, scheme="light", size=LAPTOP, who="anna")
    page.goto(f"{live_server.url}/w/ferrymark/npcs/mira-voss/?party=lanternbearers")
    entry = page.locator(f"#change-{change.pk}")
    entry.locator("summary").click()
    entry.get_by_placeholder("Reason").fill("That was somebody else.")
    entry.get_by_role("button", name="Reverse").click()
    page.wait_for_selector(".notice.good")
    after = Disposition.objects.get(**pair)
    assert after.score == pytest.approx(before.score - change.delta, abs=1e-6)
    assert f"{after.score:+.0f}" in page.locator("main").inner_text()


def test_a_player_sees_the_same_pages_without_what_is_hidden(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    page = open_page(chromium, live_server, scheme="light", size=LAPTOP, who="pat")
    page.goto(f"{live_server.url}/w/ferrymark/")
    assert page.get_by_role("link", name="Inbox").count() == 0
    for path in ("inbox/", "audit/"):
        answer = page.goto(f"{live_server.url}/w/ferrymark/{path}")
        assert answer is not None
        assert answer.status == 404
