"""The examples that run in Node and in a browser, as their README says."""

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from playwright.async_api import async_playwright

from memory37_client import SyncMemory37Client
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.memory_site.api.npm import install, run
from worlds import keys

pytestmark = [pytest.mark.django_db, pytest.mark.node, pytest.mark.timeout(400)]
ROOT = Path(settings.BASE_DIR)
CLIENT = ROOT / "clients" / "typescript"
INK, PAGE = ROOT / "examples" / "ink", ROOT / "examples" / "browser"


@pytest.fixture(scope="module")
def client() -> Path:
    """The client, built; return the folder of its modules."""
    run(install(CLIENT) / "tsc", "--project", ".", cwd=CLIENT)
    return CLIENT / "dist"


def test_a_story_depends_on_a_disposition_and_changes_it(
    client: Path, site: dict[str, Any]
) -> None:
    install(INK)
    access = {"MEMORY37_URL": site["url"], "MEMORY37_API_KEY": site["key"]}
    write(site, {"npc_id": "jory-fenn", "name": "Jory Fenn", "visibility": "public"})
    play = functools.partial(run, "node", "play.js", "lanternbearers", cwd=INK, **access)
    stranger = play()
    assert "The toll bridge is that way." in stranger
    assert "back way" not in stranger
    assert "neutral (0), then" in play("0")
    friend = play()
    assert "For you, the back way through the reeds." in friend
    assert "0: Take the back way" in friend


@pytest.fixture
def other_origin(client: Path, tmp_path: Path) -> Iterator[str]:
    """The page with the client beside it, on a port of its own; yield its origin."""
    shutil.copytree(PAGE, tmp_path / "page", ignore=shutil.ignore_patterns("memory37"))
    shutil.copytree(client, tmp_path / "page" / "memory37")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_args: Any) -> None:
            """Keep the test's output clean."""

    handler = functools.partial(Quiet, directory=str(tmp_path / "page"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.browser
async def test_a_page_of_another_origin_asks_and_follows(
    site: dict[str, Any], other_origin: str
) -> None:
    if not CHROMIUM:
        why = "Chromium is not installed (Debian: apt-get install chromium)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    _key, text = await sync_to_async(keys.create_key)(
        site["world"], name="page", audience="party:lanternbearers", origins=[other_origin]
    )
    npc = {"npc_id": "ada", "name": "Ada", "visibility": "public"}
    secret = {"npc_id": "odo", "name": "Odo", "visibility": "gm"}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await browser.new_page()
        await page.goto(f"{other_origin}/index.html#{site['url']}&{text}")
        await page.get_by_text("as party:lanternbearers knows it").wait_for()
        await page.get_by_label("Question").fill("grappled")
        await page.get_by_role("button", name="Ask").click()
        await page.get_by_role("heading", name="Grappled").wait_for()
        await page.wait_for_timeout(1000)  # the stream is open
        for each in (secret, npc):
            await sync_to_async(write)(site, each)
        await page.get_by_text("npc ada: created").wait_for()
        news = await page.locator("#news").inner_text()
        await browser.close()
    assert "odo" not in news


def write(site: dict[str, Any], npc: dict[str, str]) -> None:
    with SyncMemory37Client.over_http(site["url"], site["key"]) as memory:
        memory.request("PUT", "/world/npcs", npc)
