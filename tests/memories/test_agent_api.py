"""The buckets, working memory and what was learned, over REST and in the admin."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from memories.models import MemoryItem, StoredCodeRule
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def mira(world: World) -> Agent:
    return Agent(world, "mira-voss")


def test_events_are_sorted_and_asked_for(mira: Agent) -> None:
    sent = [{"content": "The fare over the river is one penny."}, {"content": "short"}]
    stored, dropped = mira("POST", "/memory/events", {"events": sent})
    assert (stored["result"], stored["bucket"]) == ("stored", "fact")
    assert (dropped["result"], dropped["reason"]) == ("dropped", "too_short")
    found = mira(
        "POST",
        "/memory/query",
        {"query": "What is the fare over the river?", "intent": "knowledge"},
    )
    assert [memory["id"] for memory in found["memories"]] == [stored["memory_id"]]
    assert found["explanation"]


@pytest.mark.parametrize("importance", [-1, 2, "much"])
def test_an_importance_outside_its_range_is_refused(mira: Agent, importance: object) -> None:
    event = {"content": "The fare over the river is one penny.", "importance": importance}
    problem = mira("POST", "/memory/events", {"events": [event]}, status=422)
    assert "importance" in str(problem["errors"])
    assert not MemoryItem.objects.exists()


def test_a_debugging_session_over_rest(mira: Agent, world: World) -> None:
    mira("GET", "/memory/working", status=404)
    mira(
        "POST",
        "/memory/working",
        {"description": "The ledger crashes", "plan": ["fix it"]},
        status=201,
    )
    mira("POST", "/memory/working", {"description": "Another"}, status=409)
    failed = {"tool_name": "run", "error_type": "KeyError", "error_message": "'fare' is missing"}
    mira("POST", "/memory/working/steps", failed, status=201)
    mira(
        "POST", "/memory/working/hypotheses", {"text": "No row yet", "confidence": 0.6}, status=201
    )
    mira("POST", "/memory/working/decisions", {"description": "Use get"}, status=201)
    edit = {
        "file_path": "ferry/ledger.py",
        "old_string": "x = row['fare']",
        "new_string": "x = row.get('fare')",
    }
    mira("POST", "/memory/working/steps", {"tool_name": "edit", "tool_input": edit}, status=201)
    mira("POST", "/memory/working/track", {"files": ["ferry/toll.py"], "symbols": ["toll"]})
    episode = mira("POST", "/memory/working/consolidate", {"solution": "Ask with get"})
    assert (episode["project_id"], episode["symbols"]) == ("ferry", ["toll"])
    assert [found["id"] for found in mira("GET", "/memory/episodes?project_id=ferry")] == [
        episode["id"]
    ]
    (bug,) = mira(
        "POST", "/memory/bugs/match", {"error_type": "KeyError", "error_message": "'fare' missing"}
    )
    assert (bug["solution"], bug["cause"]) == ("Ask with get", "No row yet")
    asked = {"query": "'fare' is missing", "error_type": "KeyError"}
    assert mira("POST", "/memory/episodes/search", asked)[0]["episode"]["id"] == episode["id"]
    assert mira("POST", "/memory/knowledge", {"query": "ledger KeyError fare"})["bug_patterns"]
    (rule,) = mira("GET", "/memory/code-rules?project_id=ferry")
    assert rule["confidence"] == pytest.approx(0.6)
    after = mira("POST", f"/memory/code-rules/{rule['id']}/outcome", {"success": True})
    assert after["confidence"] == pytest.approx(0.68)
    other = Agent(world, "tobin")
    assert other("GET", "/memory/code-rules") == []
    other("POST", f"/memory/code-rules/{rule['id']}/outcome", {"success": True}, status=404)


class MuleReranker:
    name = "mule"

    def knows(self, query: str) -> bool:
        return True

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float]:
        return [float("mule" in text) for text in texts]


def test_an_agent_who_asks_gets_what_the_re_ranker_puts_first(
    mira: Agent, world: World, settings: Any
) -> None:
    for content in (
        "The fare over the river is one penny.",
        "The fare of the mule is two pence.",
        "Salt is dear in Ferrymark this year.",
    ):
        mira("POST", "/tools/memory_event", {"content": content, "importance": 0.5})
    asked = {"query": "What is the fare over the river?", "intent": "knowledge"}

    def first(path: str) -> str:
        return str(mira("POST", path, asked)["memories"][0]["text"])

    settings.RERANKER = ""
    assert first("/tools/memory_ask") == "The fare over the river is one penny."
    settings.RERANKER = f"{__name__}.MuleReranker"
    assert first("/tools/memory_ask") == "The fare of the mule is two pence."
    # A program says itself what it waits for.
    assert first("/memory/query") == "The fare over the river is one penny."


def test_an_agent_works_with_its_tools_alone(mira: Agent, world: World) -> None:
    def tool(name: str, status: int = 200, **arguments: object) -> object:
        return mira("POST", f"/tools/{name}", arguments, status=status)

    stored = tool("memory_event", content="The fare over the river is one penny.")
    assert (stored["result"], stored["bucket"]) == ("stored", "fact")
    again = tool("memory_event", content="the fare over the river is ONE penny")
    assert (again["result"], again["memory_id"]) == ("merged", stored["memory_id"])
    assert tool("memory_event", content="Okay, thanks!")["reason"] == "unimportant"
    found = tool("memory_ask", query="What is the fare over the river?", intent="knowledge")
    assert [hit["id"] for hit in found["memories"]] == [stored["memory_id"]]
    silent = tool("memory_ask", query="Which dragon guards the northern pass?")
    assert (silent["abstained"], silent["memories"]) == (True, [])
    assert silent["because"]

    tool("task_note", 409, kind="decision", text="Use get")
    tool(
        "task_begin",
        description="The ledger crashes on empty rows",
        plan=["mend it"],
        project="ferry",
    )
    tool("task_begin", 409, description="Another")
    tool("task_note", 422, kind="step", text="a step without its tool")
    failed = {
        "tool": "run",
        "error_type": "KeyError",
        "error_message": "'fare' is missing",
        "file": "ferry/ledger.py",
    }
    tool("task_note", kind="step", text="1 failed", **failed)
    tool("task_note", kind="hypothesis", text="The row has no fare yet", confidence=0.7)
    noted = tool("task_note", kind="decision", text="Read it with get")
    assert (noted["steps"], noted["files"]) == (1, ["ferry/ledger.py"])
    closed = tool("task_close", success=True, solution="Read the fare with get")
    assert closed["learned_errors"] == ["KeyError: 'fare' is missing"]

    met = tool("error_lookup", error_type="KeyError", error_message="'fare' missing")
    assert (met["known"][0]["cause"], met["known"][0]["solution"]) == (
        "The row has no fare yet",
        "Read the fare with get",
    )
    assert met["earlier"][0]["episode_id"] == closed["episode_id"]
    assert tool("error_lookup", error_type="TimeoutError") == {"known": [], "earlier": []}
    assert tool("knowledge_for_task", query="the ledger fails with KeyError fare")["errors"]
    other = Agent(world, "tobin")
    assert other("POST", "/tools/error_lookup", {"error_type": "KeyError"}) == {
        "known": [],
        "earlier": [],
    }
    reader = Agent(world, "mira-voss", scopes=("tools:read",))
    reader("POST", "/tools/memory_event", {"content": "The fare is one penny."}, status=403)


def test_rules_in_a_patch_are_kept_once(mira: Agent) -> None:
    patch = {"before": "a == None", "after": "a is None"}
    first = mira("POST", "/memory/code-rules/detect", patch)
    again = mira("POST", "/memory/code-rules/detect", patch)
    assert [rule["id"] for rule in first] == [rule["id"] for rule in again]
    assert mira("POST", "/memory/code-rules/cleanup", {}) == {"deleted": 0}


def test_a_key_without_the_scope_is_refused(world: World) -> None:
    reader = Agent(world, "mira-voss", scopes=("tools:read",))
    problem = reader(
        "POST", "/memory/events", {"events": [{"content": "The fare is one penny."}]}, status=403
    )
    assert problem["code"] == "wrong_scope"
    assert not MemoryItem.objects.exists()


def test_the_admin_shows_a_rules_confidence_over_time(
    mira: Agent, admin_client: Client, admin_user: User
) -> None:
    patch = {"before": "a == None", "after": "a is None"}
    rule = mira("POST", "/memory/code-rules/detect", patch)[0]
    for success in (True, True, False):
        mira("POST", f"/memory/code-rules/{rule['id']}/outcome", {"success": success})
    page = admin_client.get(
        reverse("admin:memories_storedcoderule_change", args=[rule["id"]])
    ).content.decode()
    assert "<polyline" in page
    assert all(percent in page for percent in ("60%", "68%", "54%"))
    assert StoredCodeRule.objects.get(pk=rule["id"]).outcomes.count() == 3
    for model in ("storedcoderule", "reflection", "insight", "agentstate"):
        assert admin_client.get(reverse(f"admin:memories_{model}_changelist")).status_code == 200
