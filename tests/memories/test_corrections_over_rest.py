"""Corrections over REST answer with what they stored."""

import json
from typing import Any

import pytest
from django.db import connection

from memories.curation import lifecycle
from memories.curation.duplicates import ComparedMemory, compare_with_nearest
from memories.models import MemoryItem
from memories.models.namespaces import Namespace, Review
from tests.memories.test_api import CORE, Agent
from worlds.models import World

pytestmark = pytest.mark.django_db
ROPE, KEY = "Jory cut the rope at the ferry.", "The key lies under the third stair."


@pytest.fixture
def mira(world: World) -> Agent:
    return Agent(world, "mira-voss")


@pytest.fixture
def reviewer(world: World) -> Agent:
    return Agent(world, "mira-voss", scopes=("agent:write", "agent:review"))


def add(agent: Agent, text: str, **more: Any) -> str:
    answer = agent("POST", "/memory", {"contents": [text], **more}, status=201)
    ids: list[str] = answer["ids"] or answer["pending"]
    return ids[0]


def test_an_edited_memory_keeps_its_metadata(mira: Agent) -> None:
    pk = add(mira, ROPE)
    MemoryItem.objects.filter(pk=pk).update(metadata={"place": "ferry"})
    edited = mira("POST", f"/memory/item/{pk}/edit", {"text": "Jory cut the rope at dawn."})
    assert edited["text"] == "Jory cut the rope at dawn."
    assert MemoryItem.objects.get(pk=edited["id"]).metadata["place"] == "ferry"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by_tool", [False, True])
def test_no_transaction_is_open_while_a_restored_memory_is_compared(
    mira: Agent, monkeypatch: pytest.MonkeyPatch, by_tool: bool
) -> None:
    inside = []

    def compare(memory: MemoryItem) -> list[ComparedMemory]:
        inside.append(connection.in_atomic_block)
        return compare_with_nearest(memory)

    monkeypatch.setattr(lifecycle, "compare_with_nearest", compare)
    pk = add(mira, ROPE)
    mira("POST", f"/memory/item/{pk}/archive", {})
    if by_tool:
        path, body = "/tools/memory_revise", {"memory_id": pk, "action": "restore"}
    else:
        path, body = f"/memory/item/{pk}/restore", {}
    first, again = (mira("POST", path, body, **{"Idempotency-Key": "once"}) for _time in range(2))
    assert inside == [False]
    assert first == again
    assert first["state"] == "active"


def test_a_merge_answers_with_the_new_memory(mira: Agent) -> None:
    ids = [add(mira, ROPE), add(mira, KEY)]
    for pk, metadata in zip(
        ids, ({"place": "ferry"}, {"place": "stair", "by": "Ida"}), strict=True
    ):
        MemoryItem.objects.filter(pk=pk).update(metadata=metadata)
    merged = mira("POST", "/memory/merge", {"ids": ids, "text": f"{ROPE} {KEY}"})
    assert (merged["text"], merged["state"]) == (f"{ROPE} {KEY}", "active")
    assert MemoryItem.objects.get(pk=merged["id"]).metadata == {"place": "ferry", "by": "Ida"}


@pytest.fixture
def reviewed(mira: Agent) -> Agent:
    add(mira, "The bell is silver.")
    Namespace.objects.filter(name="mira-voss").update(review=Review.ALL)
    return mira


def test_a_pending_memory_is_edited(reviewed: Agent, reviewer: Agent) -> None:
    pk = add(reviewed, ROPE)
    edited = reviewer("POST", f"/memory/inbox/{pk}/edit", {"text": "Jory cut the rope."})
    assert (edited["text"], edited["state"]) == ("Jory cut the rope.", "active")


def test_a_pending_memory_is_split(reviewed: Agent, reviewer: Agent) -> None:
    pk = add(reviewed, f"{ROPE} {KEY}")
    parts = reviewer("POST", f"/memory/inbox/{pk}/split", {"texts": [ROPE, KEY]})
    assert [part["text"] for part in parts] == [ROPE, KEY]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/memory/inbox/decide", {"ids": ["{pending}"], "decision": "approve"}),
        ("POST", "/memory/inbox/{pending}/edit", {"text": KEY}),
        ("POST", "/memory/inbox/{pending}/split", {"texts": [ROPE, KEY]}),
        ("POST", "/memory/merge", {"ids": ["{pending}", "{active}"], "text": KEY}),
        ("POST", "/memory/item/{active}/edit", {"text": KEY}),
        ("PATCH", "/memory/item/{active}", {"text": KEY}),
        ("POST", "/memory/item/{active}/restore", {}),
        ("POST", "/memory/item/{active}/undo", None),
        ("PUT", "/memory/core", {"markdown": CORE}),
        ("POST", "/memory/core/versions/0/restore", {}),
    ],
)
def test_an_agent_does_not_review_itself(
    reviewed: Agent, method: str, path: str, body: Any
) -> None:
    ids = {
        "{active}": str(MemoryItem.objects.get(state="active").pk),
        "{pending}": add(reviewed, ROPE),
    }
    text = json.dumps([path, body])
    for name, pk in ids.items():
        text = text.replace(name, pk)
    path, body = json.loads(text)
    problem = reviewed(method, path, body, status=403)
    assert problem["code"] == "wrong_scope"
    assert "agent:review" in problem["detail"]
    assert MemoryItem.objects.get(pk=ids["{pending}"]).state == "pending"
    assert MemoryItem.objects.filter(state="active").count() == 1
    assert reviewed("GET", "/memory/core")["version"] == 0


def test_a_proposal_for_the_core_is_decided_by_a_reviewer(reviewed: Agent, reviewer: Agent) -> None:
    call = {"section": "USER", "content": "Mira prefers short answers."}
    reviewed("POST", "/tools/core_memory_append", call)
    [proposal] = reviewed("GET", "/memory/core/proposals")
    address = f"/memory/core/proposals/{proposal['id']}/approve"
    reviewed("POST", address, status=403)
    assert reviewer("POST", address)["version"] == 1
