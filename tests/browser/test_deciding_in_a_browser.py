"""A game master finds the demo's intended contradiction, decides it, and sees the facts that rested
on the retracted one.
"""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.models import GraphEdge
from knowledge.graph.upsert import upsert_facts
from tests.browser.conftest import sign_in
from tests.knowledge.graph.conftest import edge
from worlds.models import World

pytestmark = pytest.mark.browser
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
WHY = "The charter says a pledge cannot bind the Oar."


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["laptop", "phone"])
def test_a_contradiction_is_decided_by_hand(
    chromium: Browser, live_server: LiveServer, people: World, size: dict[str, int]
) -> None:
    found = Contradiction.objects.get(world=people)
    assert found.second
    rests = edge(
        "isaura-brackwen",
        "RELATES_TO",
        "ninefold-oar",
        label="may sell",
        rests_on=[found.second.pk],
    )
    upsert_facts(people, [rests])
    page = chromium.new_context(viewport=size).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(20_000)
    sign_in(page, live_server, "anna")

    page.goto(f"{live_server.url}/w/ferrymark/graph/?around=ninefold-oar")
    expect(page.locator("main")).to_contain_text("Thaw")
    page.goto(f"{live_server.url}/w/ferrymark/inbox/")
    clash = page.locator("section", has=page.locator("h2#contradictions"))
    for words in ("Ferrymen's Guild", "House Brackwen", "1 Thaw 60"):
        expect(clash).to_contain_text(words)
    expect(page.locator("h2#flagged")).to_have_count(0)

    clash.locator("input[value=retract_second]").check()
    clash.get_by_role(
        "button", name="Decide"
    ).click()  # without a reason the browser keeps the form
    assert Contradiction.objects.get().state == "open"
    clash.get_by_label("Reason").fill(WHY)
    clash.get_by_role("button", name="Decide").click()

    expect(
        page.get_by_text("These facts depended on a retracted fact and are flagged")
    ).to_be_visible()
    expect(page.get_by_text("No open contradictions")).to_be_visible()
    again = page.locator("section", has=page.locator("h2#flagged"))
    expect(again).to_contain_text("may sell")
    expect(again).to_contain_text(WHY)
    decided = Contradiction.objects.get()
    assert (decided.how, decided.reason, decided.resolved_by) == ("retract_second", WHY, "anna")
    assert not GraphEdge.objects.believed_now().filter(pk=found.second.pk).exists()

    again.get_by_role("button", name="Still true").click()
    expect(page.locator("h2#flagged")).to_have_count(0)
    page.goto(f"{live_server.url}/w/ferrymark/graph/?around=ninefold-oar")
    expect(page.locator("table.stack")).to_contain_text("Ferrymen's Guild")
    expect(page.locator("table.stack")).not_to_contain_text("House Brackwen")
