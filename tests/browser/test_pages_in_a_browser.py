"""What game masters and players see and do on single pages. All pages together are looked at in
test_every_page_in_a_browser.py."""

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from npcs.models import NPC, Disposition, DispositionChange
from tests.browser.conftest import sign_in
from worlds.models import World

LAPTOP = {"width": 1280, "height": 800}

pytestmark = pytest.mark.browser


def open_page(
    browser: Browser, live_server: LiveServer, *, scheme: str, size: dict[str, int], who: str
) -> Page:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    sign_in(page, live_server, who)
    return page


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
