"""A real Chromium in front of the real site with the demo world: required in CI, skipped elsewhere
with the reason."""

import os
import shutil
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from memory_site.demo.load import load_demo
from worlds.models import Membership, Party, World

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
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
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def demo(transactional_db: None) -> World:
    load_demo()
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
