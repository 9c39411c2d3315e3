"""Every named page of the site, for a designer, a player and somebody who is not signed in: on a
laptop in light and on a phone in dark it is accessible, nothing sticks out, the browser does not
complain. `SITE_SHOTS=<folder>` keeps a picture of each."""

import json
import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.conftest import sign_in
from tests.browser.full_world import link_to_set_a_password, write_everything
from tests.browser.site_pages import (
    SitePage,
    pages_of_empty_world,
    pages_of_site,
    rows_in_addresses,
)
from tests.cast import create_world
from worlds.models import World

pytestmark = pytest.mark.browser
LOOKS: dict[str, tuple[dict[str, int], str]] = {
    "laptop in light": ({"width": 1280, "height": 800}, "light"),
    "phone in dark": ({"width": 390, "height": 844}, "dark"),
}
SHOTS = os.environ.get("SITE_SHOTS")
WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.body.querySelectorAll("*")].filter((each) => each.checkVisibility() &&
    each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 160))
    .slice(0, 3)"""

# In the browser: all that axe finds takes longer to send than to find.
INACCESSIBLE = """(contrast) => axe.run({
    resultTypes: ["violations"], rules: {"color-contrast": {enabled: contrast}}
  }).then(({violations}) => violations
  .filter(({impact}) => impact == "serious" || impact == "critical")
  .map(({id, nodes}) => [id, nodes[0].html.slice(0, 160)]))"""


@dataclass
class Looker:
    """A browser, and what was wrong with the pages that it opened."""

    page: Page
    who: str
    faults: list[tuple[str, ...]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    opened: int = 0
    is_second: bool = False
    """Whether somebody else has seen the same kinds of pages on each device in every colour: then
    one look of each page is enough, now this one, now that, and its contrast is not measured, which
    takes two thirds of the time."""

    def look_at(self, base: str, site_page: SitePage) -> None:
        """Open the page once, and look at it on each device: a page follows its window. Every other
        page is opened on a phone. Who `is_second` looks once."""
        self.complaints.clear()
        first, second = list(LOOKS) if self.opened % 2 else reversed(LOOKS)
        self.opened += 1
        take_look(self.page, first)
        self.page.goto(base + site_page.address)
        for look in (first,) if self.is_second else (first, second):
            take_look(self.page, look)
            found = faults(self.page, contrast=not self.is_second)
            self.faults += [(look, self.who, site_page.address, *each) for each in found]
            keep_shot(self.page, f"{look} {self.who} {site_page.name} {site_page.address}")
        self.faults += [(self.who, site_page.address, "complaint", x) for x in self.complaints]


def take_look(page: Page, look: str) -> None:
    size, scheme = LOOKS[look]
    page.set_viewport_size(size)  # type: ignore[arg-type]
    # Colours that still change have any contrast.
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]


def faults(page: Page, *, contrast: bool = True) -> list[tuple[str, str]]:
    """What sticks out of the page, and what is not accessible, each with its element."""
    if page.evaluate("typeof axe == 'undefined'"):
        page.evaluate(Axe().axe_script)
    wide = [("too wide", each) for each in page.evaluate(WIDE)]
    return [*wide, *((rule, element) for rule, element in page.evaluate(INACCESSIBLE, contrast))]


@contextmanager
def looker(chromium: Browser, look: str, who: str) -> Iterator[Looker]:
    context = chromium.new_context()
    page = context.new_page()
    take_look(page, look)
    page.set_default_timeout(20_000)
    made = Looker(page, who)
    page.on("console", lambda m: made.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: made.complaints.append(str(error)))
    yield made
    context.close()


def pages_shown(
    client: Client, pages: Iterable[SitePage], *, but: Container[int] = ()
) -> list[SitePage]:
    """Those that answer with a whole page, not with a file or a part of a page; each page once.
    Every other one says 405, which a page that only takes a POST does, or one of `but`."""
    shown, missing = {}, []
    for each in pages:
        answer = client.get(each.address, follow=True)
        status = answer.status_code
        if status >= 400 and status != 405 and status not in but:
            missing.append((each.name, each.address, status))
        if status == 200 and not answer.streaming and b"<title>" in answer.content:
            led_to = answer.request["PATH_INFO"] + answer.request["QUERY_STRING"]
            shown.setdefault(led_to, each)
    assert missing == []
    return list(shown.values())


@pytest.mark.timeout(600)  # a minute on a machine with nothing else to do
def test_every_page_is_accessible_fits_and_raises_no_complaint(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    anna, pat = (get_user_model().objects.get(username=name) for name in ("anna", "pat"))
    token = write_everything(people, anna)
    empty = pages_of_empty_world(create_world(slug="blank", name="Blank"))
    designer, player, nobody = Client(), Client(), Client()
    designer.force_login(anna)
    player.force_login(pat)
    # The mailed link is void as soon as its owner signs in: it is that of somebody else.
    reset = link_to_set_a_password(get_user_model().objects.create_user("mo"))
    every = pages_of_site(rows_in_addresses(people, token=token, reset=reset))
    inside = [each for each in every if each.address.startswith("/w/")]
    outside = [each for each in every if each not in inside]
    for_nobody = pages_shown(nobody, outside)
    own = [each for each in outside if each not in for_nobody]
    shown = {
        # For a designer a 404 is a row missing in `rows_in_addresses`.
        "anna": pages_shown(designer, [*inside, *own, *empty]),
        "pat": pages_shown(player, inside, but=(403, 404)),
        "": for_nobody,
    }
    found = []
    for name, pages in shown.items():
        with looker(chromium, "laptop in light", name) as person:
            if name:
                sign_in(person.page, live_server, name)
            person.is_second = name == "pat"
            for each in pages:
                person.look_at(live_server.url, each)
            found += person.faults
    assert not found, json.dumps(found, indent=1, ensure_ascii=False)


def test_what_is_wrong_with_a_page_is_found(chromium: Browser) -> None:
    with looker(chromium, "laptop in light", "nobody") as laptop:
        laptop.page.set_content(
            "<title>Pier</title><main><img src=''><p style='color: #ccc; width: 9000px'>Pale</p>"
        )
        found = {rule for rule, _element in faults(laptop.page)}
    assert found >= {"too wide", "image-alt", "color-contrast"}


def test_the_header_of_a_phone_has_two_rows_with_menu_and_search(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    with looker(chromium, "phone in dark", "anna") as phone:
        page = phone.page
        sign_in(page, live_server, "anna")
        page.goto(f"{live_server.url}/w/ferrymark/")
        controls = page.locator(".masthead :is(summary, a, input, button):visible")
        boxes = [box for each in controls.all() if (box := each.bounding_box())]
        rows = {round(box["y"] + box["height"] / 2) for box in boxes}
        assert len(rows) == 2, rows
        expect(page.get_by_role("searchbox", name="Search everything")).to_be_visible()
        menu = page.locator("summary", has_text="Menu")
        menu.focus()
        page.keyboard.press("Enter")
        sheet = page.locator(".menu.narrow .sheet")
        for name in ("Lore", "Inbox"):
            expect(sheet.get_by_role("link", name=name)).to_be_visible()
        for name in ("Canon of the world", "Lanternbearers"):
            expect(sheet.get_by_role("button", name=name, exact=True)).to_be_visible()
        page.keyboard.press("Escape")
        expect(sheet).to_be_hidden()
        expect(menu).to_be_focused()


def test_links_have_cards_and_filters_unfold(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    write_everything(people, get_user_model().objects.get(username="anna"))
    with looker(chromium, "laptop in light", "anna") as laptop:
        page = laptop.page
        sign_in(page, live_server, "anna")
        page.goto(f"{live_server.url}/w/ferrymark/lore/ferrymens-guild/")
        page.get_by_role("link", name="Mira Voss").first.hover()
        card = page.locator(".hovercard")
        expect(card.locator(".cardportrait")).to_be_visible()
        assert "Mira Voss" in card.inner_text()
        keep_shot(page, "hover card")
        page.goto(f"{live_server.url}/w/ferrymark/lore/")
        author = page.get_by_label("Author")
        assert author.count() == 1
        assert not author.is_visible()
        page.get_by_text("More filters").click()
        expect(author).to_be_visible()
        keep_shot(page, "filters")


def keep_shot(page: Page, name: str) -> None:
    if SHOTS:
        name = re.sub(r"\W+", "-", name)[:110]
        page.screenshot(path=Path(SHOTS, f"{name}.png"), full_page=True)
