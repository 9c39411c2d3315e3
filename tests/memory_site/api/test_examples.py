"""The example's tool loop, against a scripted OpenAI-compatible server and the real site."""

import json
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from openai import AsyncOpenAI

from examples import debugging_agent
from examples.play_scene import play
from examples.record_scene import record
from memories.models import StoredCodeRule
from memory37_client import Memory37Client
from tests.loopback import Loopback, calls, say

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(120)]


async def scene(site: dict[str, Any], server: Loopback, said: str) -> str:
    model = AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)
    async with Memory37Client.over_http(site["url"], site["key"]) as memory:
        return await play(memory, model, name="scripted", text=said, audience="public")


async def test_the_model_looks_a_rule_up_and_answers(
    site: dict[str, Any], openai_server: Loopback
) -> None:
    openai_server.chat.then(
        calls("rules_lookup", {"term": "grappled", "rule_id": None}), say("You are held fast.")
    )
    assert await scene(site, openai_server, "The eel wraps around me!") == "You are held fast."
    first, second = openai_server.chat.requests
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"rules_lookup", "lore_search"}
    result = json.loads(second["messages"][-1]["content"])
    assert result["hits"][0]["title"] == "Grappled"


async def test_a_wrong_call_comes_back_with_advice(
    site: dict[str, Any], openai_server: Loopback
) -> None:
    openai_server.chat.then(
        calls("rules_lookup", {"colour": "red"}), calls("open_sesame", {}), say("I see.")
    )
    assert await scene(site, openai_server, "Hm?") == "I see."
    wrong, unknown = (
        json.loads(turn["messages"][-1]["content"]) for turn in openai_server.chat.requests[1:]
    )
    assert (wrong["error"], unknown["error"]) == ("invalid", "not_found")
    assert "rules_lookup" in unknown["candidates"]


async def test_an_engine_records_a_scene_and_reads_it_back(site: dict[str, Any]) -> None:
    async with Memory37Client.over_http(site["url"], site["key"]) as memory:
        titles = await record(memory, party="lanternbearers", summary_id="example-1")
        again = await record(memory, party="lanternbearers", summary_id="example-1")
    assert len(titles) == 1
    assert again == titles


async def test_an_agent_that_debugged_once_knows_the_error_again(
    site: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORY37_URL", site["url"])
    monkeypatch.setenv("MEMORY37_API_KEY", site["key"])
    await debugging_agent.main()
    output = capsys.readouterr().out
    assert "errors: KeyError: 'fare'" in output
    assert "known:  KeyError" in output
    assert "Rows of free crossings have no fare" in output
    async with Memory37Client.over_http(site["url"], site["key"]) as memory:
        knowledge = await memory.call(
            "knowledge_for_task", {"query": "a ledger row without a fare", "project": "ferry"}
        )
        rules = await sync_to_async(list)(StoredCodeRule.objects.filter(namespace__name="live"))
    assert knowledge["errors"][0]["solution"].startswith("row.get")
    assert [rule.project_id for rule in rules] == ["ferry"]
    page = await sync_to_async(report_outcomes)(site, rules[0])
    confidences = await sync_to_async(list)(
        rules[0].outcomes.order_by("pk").values_list("confidence", flat=True)
    )
    assert confidences[-3] < confidences[-2] > confidences[-1]
    assert "<polyline" in page
    assert all(f"<td>{confidence:.0%}</td>" in page for confidence in confidences)


def report_outcomes(site: dict[str, Any], rule: StoredCodeRule) -> str:
    """Report two successes and a failure of the rule; return its page in the admin."""
    for success in (True, True, False):
        answer = httpx2.post(
            f"{site['url']}/api/v1/memory/code-rules/{rule.pk}/outcome",
            json={"success": success},
            headers={"Authorization": f"Bearer {site['key']}"},
            timeout=30,
        )
        assert answer.status_code == 200, answer.text
    return page_of(rule)


def page_of(rule: StoredCodeRule) -> str:
    """Open the page as an administrator created in this thread: a fixture's transaction is not
    visible here."""
    admin, client = get_user_model().objects.create_superuser("ingrid-of-the-example"), Client()
    try:
        client.force_login(admin)
        page = client.get(reverse("admin:memories_storedcoderule_change", args=[rule.pk]))
        client.logout()
    finally:
        admin.delete()
    assert page.status_code == 200
    return page.content.decode()
