"""A real Chromium in front of the real site with the demo world: required in CI, skipped elsewhere
with the reason."""

import os
import shutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from memory_site.asgi import Application
from tests.memory_site.api.serving import serve
from tests.saved_rows import SavedRows
from worlds.models import Membership, Party, World

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PATIENCE = 20_000
"""Milliseconds for which an expectation waits. A machine that runs two browsers, two servers and
two databases may need more than Playwright's five seconds."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="module")  # its event loop must be gone before asynchronous tests run
def chromium() -> Iterator[Browser]:
    if not CHROMIUM:
        why = "Chromium is not installed (Debian: apt-get install chromium)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    # Playwright's synchronous API runs an event loop in this thread, which Django would take for an
    # async context.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def demo(demo_rows: SavedRows, transactional_db: None) -> World:
    demo_rows.write()
    return World.objects.get(slug="ferrymark")


def sign_in(page: Page, live_server: LiveServer, username: str) -> None:
    """Put a session of that user into the browser."""
    client = Client()
    client.force_login(get_user_model().objects.get(username=username))
    cookie = client.cookies["sessionid"]
    page.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])


@pytest.fixture
def people(demo: World) -> World:
    """Anna is the game master, Pat plays with the Lanternbearers."""
    users = get_user_model().objects
    anna = users.create_user("anna", is_staff=True, is_superuser=True)
    pat = users.create_user("pat")
    party = Party.objects.get(world=demo, slug="lanternbearers")
    Membership.objects.create(user=anna, world=demo, role="gm")
    Membership.objects.create(user=pat, world=demo, role="player", party=party)
    return demo


PHONE: Any = {"width": 390, "height": 844}


@pytest.fixture
def url(people: World, settings: Any) -> Iterator[str]:
    """The address of the site as it is deployed: with live updates, which the server of the other
    tests has not."""
    settings.WHITENOISE_AUTOREFRESH = False
    with serve(Application()) as address:
        yield address


@pytest.fixture
def phone(chromium: Browser, url: str) -> Iterator[Page]:
    """Anna's phone."""
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    sign_in(page, SimpleNamespace(url=url), "anna")  # type: ignore[arg-type]
    yield page
    context.close()
