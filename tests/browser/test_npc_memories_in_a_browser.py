"""What an NPC remembers, on its page: the episode is one click away, and it can be told on."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from npcs.models import NPC
from tests.browser.conftest import sign_in
from worlds.models import World

pytestmark = [pytest.mark.timeout(300)]
LOOKS: list[tuple[int, Any]] = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def test_an_npc_tells_another_what_it_remembers(
    people: World, live_server: LiveServer, chromium: Browser
) -> None:
    rows = NPC.objects.filter(world=people, memory__memories__episode__isnull=False)
    teller = rows.distinct().order_by("slug").first()
    assert teller is not None
    listener = NPC.objects.filter(world=people).exclude(pk=teller.pk).order_by("-slug").first()
    assert listener is not None
    for width, scheme in LOOKS:
        page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        sign_in(page, live_server, "anna")
        page.goto(f"{live_server.url}/w/ferrymark/npcs/{teller.slug}/")
        memories = page.locator("#memories")
        expect(memories.get_by_role("link", name="the episode").first).to_be_visible()
        memories.get_by_text("Tell somebody").first.click()
        is_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not is_wide
        if shots := os.environ.get("SHOTS"):
            memories.screenshot(path=Path(shots, f"memories-{width}-{scheme}.png"))
        if (width, scheme) == LOOKS[0]:
            form = memories.locator("form").first
            form.get_by_label("To whom").fill(listener.slug)
            form.get_by_label("How sure they are").select_option("rumour")
            form.get_by_role("button", name="Tell it").click()
            expect(page.get_by_text(f"{listener.name} knows it now.")).to_be_visible()
            page.goto(f"{live_server.url}/w/ferrymark/npcs/{listener.slug}/")
            expect(page.locator("#memories")).to_contain_text("told it as a rumour")
        page.close()
