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
from playwright.sync_api import Browser, Page
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


@dataclass
class Looker:
    """A browser of one size and scheme, and what was wrong with the pages that it opened."""

    page: Page
    look: str
    who: str
    faults: list[tuple[str, ...]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def look_at(self, base: str, site_page: SitePage) -> None:
        self.complaints.clear()
        self.page.goto(base + site_page.address)
        wide = self.page.evaluate(WIDE)
        found = Axe().run(self.page, options={"resultTypes": ["violations"]}).response
        serious = [
            (each["id"], each["nodes"][0]["html"][:160])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        self.faults += [(site_page.address, *each) for each in serious]
        self.faults += [(site_page.address, "too wide", each) for each in wide]
        self.faults += [(site_page.address, "complaint", each) for each in self.complaints]
        if SHOTS:
            name = re.sub(
                r"\W+", "-", f"{self.look} {self.who} {site_page.name} {site_page.address}"
            )[:110]
            self.page.screenshot(path=Path(SHOTS, f"{name}.png"), full_page=True)


@contextmanager
def looker(chromium: Browser, look: str, who: str) -> Iterator[Looker]:
    size, scheme = LOOKS[look]
    context = chromium.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    made = Looker(page, look, who)
    page.on("console", lambda m: made.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: made.complaints.append(str(error)))
    yield made
    context.close()


def pages_shown(
    client: Client, pages: Iterable[SitePage], *, but: Container[int]
) -> list[SitePage]:
    """Those that answer with a whole page, not with a file, a part of a page or a redirect. Every
    other one says 405, which a page that only takes a POST does, or one of `but`."""
    shown, missing = [], []
    for each in pages:
        answer = client.get(each.address)
        status = answer.status_code
        if status >= 400 and status != 405 and status not in but:
            missing.append((each.name, each.address, status))
        if status == 200 and not answer.streaming and b"<title>" in answer.content:
            shown.append(each)
    assert missing == []
    return shown


def test_every_page_is_accessible_fits_and_raises_no_complaint(
    chromium: Browser, live_server: LiveServer, people: World
) -> None:
    anna, pat = (get_user_model().objects.get(username=name) for name in ("anna", "pat"))
    token = write_everything(people, anna)
    reset = link_to_set_a_password(anna)
    every = pages_of_site(rows_in_addresses(people, token=token, reset=reset))
    empty = pages_of_empty_world(create_world(slug="blank", name="Blank"))
    designer, player, nobody = Client(), Client(), Client()
    designer.force_login(anna)
    player.force_login(pat)
    inside = [each for each in every if each.address.startswith("/w/")]
    outside = [each for each in every if each not in inside]
    shown = {
        # Without another status: for a designer a 404 is a row missing in `rows_in_addresses`.
        "anna": pages_shown(designer, [*every, *empty], but=()),
        "pat": pages_shown(player, inside, but=(403, 404)),
        "": pages_shown(nobody, outside, but=()),
    }
    faults = []
    for look in LOOKS:
        for name, pages in shown.items():
            with looker(chromium, look, name) as person:
                if name:
                    sign_in(person.page, live_server, name)
                for each in pages:
                    person.look_at(live_server.url, each)
                faults += [(look, name, *fault) for fault in person.faults]
    assert not faults, json.dumps(faults, indent=1, ensure_ascii=False)
