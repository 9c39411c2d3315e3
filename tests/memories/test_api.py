"""Agent memory over REST and as tools: the scope, the key's own namespace, and nothing beside
it.
"""

import json
from typing import Any

import pytest
from django.test import Client

from memories.models import MemoryItem, Namespace
from memories.models.namespaces import Review
from worlds import keys
from worlds.models import World

pytestmark = pytest.mark.django_db
NOBODYS = "0193a7f2-0000-7000-8000-000000000000"
CORE = "# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- Mira prefers short answers.\n"


class Agent:
    """A program that holds one key."""

    def __init__(
        self, world: World, namespace: str, scopes: tuple[str, ...] = ("agent:write",)
    ) -> None:
        _key, self.secret = keys.create_key(
            world, name=namespace or "none", scopes=scopes, namespace=namespace
        )
        self.client = Client()

    def __call__(
        self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str
    ) -> Any:
        response = self.client.generic(
            method,
            f"/api/v1{path}",
            json.dumps(body) if body is not None else "",
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.secret}", **headers},
        )
        assert response.status_code == status, response.content
        return (
            json.loads(response.content)
            if "x-ndjson" not in response["Content-Type"]
            else response.content.decode()
        )


@pytest.fixture
def mira(world: World) -> Agent:
    return Agent(world, "mira-voss")


@pytest.fixture
def tobin(world: World) -> Agent:
    return Agent(world, "tobin")


@pytest.fixture
def reviewer(world: World) -> Agent:
    return Agent(world, "mira-voss", scopes=("agent:write", "agent:review"))


def test_an_agent_remembers_and_recalls(mira: Agent) -> None:
    added = mira(
        "POST",
        "/memory",
        {"contents": ["Mira owes Tobin a crossing."], "source": "session-1"},
        status=201,
    )
    (hit,) = mira("POST", "/memory/search", {"query": "what does Mira owe"})["hits"]
    assert hit["id"] == added["ids"][0]
    assert hit["sources"] == ["Mira owes Tobin a crossing."]
    history = mira("GET", f"/memory/item/{hit['id']}")
    assert [change["state"] for change in history["changes"]] == ["active"]


def test_the_tools_work_on_the_keys_own_namespace(mira: Agent, tobin: Agent) -> None:
    mira(
        "POST", "/tools/archival_memory_insert", {"content": "The ledger is under the third stair."}
    )
    assert mira("POST", "/tools/archival_memory_search", {"query": "ledger"})["hits"]
    assert tobin("POST", "/tools/archival_memory_search", {"query": "ledger"})["hits"] == []
    answer = mira(
        "POST",
        "/tools/core_memory_append",
        {"section": "USER", "content": "Prefers short answers."},
    )
    assert answer["changed"]
    assert "- Prefers short answers." in answer["core"]
    replaced = mira(
        "POST", "/tools/core_memory_replace", {"section": "USER", "old": "short", "new": "long"}
    )
    assert "- Prefers long answers." in replaced["core"]
    assert "long" not in tobin("GET", "/memory/core")["markdown"]


def test_a_passing_matter_does_not_enter_the_core(mira: Agent, reviewer: Agent) -> None:
    content = "The user is in a hurry right now."
    answer = mira("POST", "/tools/core_memory_append", {"section": "USER", "content": content})
    assert not answer["changed"]
    assert answer["problems"] == [f"Transient, not lasting: {content}"]
    (proposal,) = mira("GET", "/memory/core/proposals")
    reviewer("POST", f"/memory/core/proposals/{proposal['id']}/approve")
    assert content in mira("GET", "/memory/core")["markdown"]
    reviewer("POST", f"/memory/core/proposals/{proposal['id']}/approve", status=409)


def test_the_conversation_is_searched_by_words_and_date(mira: Agent) -> None:
    mira(
        "POST",
        "/memory/messages",
        {"text": "Ring the bell twice.", "said_at": "2026-01-02T10:00:00Z"},
        status=201,
    )
    mira(
        "POST",
        "/memory/messages",
        {"text": "The bell is cracked.", "said_at": "2026-03-02T10:00:00Z"},
        status=201,
    )
    found = mira(
        "POST", "/tools/conversation_search", {"query": "bell", "before": "2026-02-01T00:00:00Z"}
    )
    assert [hit["text"] for hit in found["hits"]] == ["Ring the bell twice."]
    latest = mira("POST", "/tools/conversation_search", {})
    assert latest["hits"][0]["text"] == "The bell is cracked."


def test_the_inbox_is_decided_over_rest(mira: Agent, reviewer: Agent) -> None:
    mira("GET", "/memory/core")
    Namespace.objects.update(review=Review.ALL)
    ids = mira(
        "POST", "/memory", {"contents": ["Oda rows.", "The tide turns at noon."]}, status=201
    )["ids"]
    assert mira("POST", "/memory/search", {"query": "tide"})["hits"] == []
    assert [row["id"] for row in mira("GET", "/memory/inbox")["memories"]] == ids
    assert mira("GET", f"/memory/inbox/{ids[0]}")["observations"][0]["text"] == "Oda rows."
    decided = reviewer("POST", "/memory/inbox/decide", {"ids": ids, "decision": "approve"})
    assert decided == {"done": ids, "failed": {}}
    again = reviewer("POST", "/memory/inbox/decide", {"ids": ids[:1], "decision": "approve"})
    assert list(again["failed"]) == ids[:1]


def test_core_writes_name_the_version_they_saw(mira: Agent) -> None:
    assert mira("PUT", "/memory/core", {"markdown": CORE}, **{"If-Match": '"0"'})["version"] == 1
    mira("PUT", "/memory/core", {"markdown": CORE}, status=412, **{"If-Match": '"0"'})
    mira("PUT", "/memory/core", {"markdown": "no sections"}, status=422)
    assert "+- Mira prefers short answers." in mira("GET", "/memory/core/versions/1/diff")["lines"]
    assert mira("POST", "/memory/core/versions/0/restore", {})["version"] == 2


def test_erasing_gives_a_receipt(mira: Agent) -> None:
    (pk,) = mira(
        "POST", "/memory", {"contents": ["The ledger is under the third stair."]}, status=201
    )["ids"]
    receipt = mira("POST", "/memory/erase", {"scope": "memory", "target": pk})
    assert receipt["is_clean"], receipt
    mira("GET", f"/memory/item/{pk}", status=404)
    mira("POST", f"/memory/item/{pk}/restore", {}, status=404)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/memory", {"contents": []}, 422),
        ("POST", "/memory", {"contents": ["a", 1]}, 422),
        ("POST", "/memory", {"contents": "nul\x00"}, 422),
        ("POST", "/memory", {"contents": "a", "bucket": "x"}, 422),
        ("POST", "/memory/search", {"query": ""}, 422),
        ("POST", "/memory/search", {"query": "   "}, 422),
        ("GET", f"/memory/item/{NOBODYS}", None, 404),
        ("POST", "/memory/erase", {"scope": "memory", "target": "no-id"}, 404),
        ("POST", "/memory/merge", {"ids": [NOBODYS], "text": "x"}, 422),
    ],
)
def test_bad_input_is_a_clear_problem(
    mira: Agent, method: str, path: str, body: Any, status: int
) -> None:
    problem = mira(method, path, body, status=status)
    assert problem["status"] == status
    assert problem["detail"]
    assert not MemoryItem.objects.exists()


def test_another_agents_memory_does_not_exist(mira: Agent, tobin: Agent) -> None:
    (pk,) = mira(
        "POST", "/memory", {"contents": ["The ledger is under the third stair."]}, status=201
    )["ids"]
    for method, path, body in [
        ("GET", f"/memory/item/{pk}", None),
        ("POST", f"/memory/item/{pk}/archive", {}),
        ("POST", "/memory/erase", {"scope": "memory", "target": pk}),
        ("POST", f"/memory/item/{pk}/edit", {"text": "mine"}),
    ]:
        tobin(method, path, body, status=404)
    assert mira("GET", f"/memory/item/{pk}")["memory"]["state"] == "active"


def test_the_scope_and_a_namespace_are_needed(world: World) -> None:
    unscoped = Agent(world, "reader", scopes=("tools:read",))("GET", "/memory/core", status=403)
    assert unscoped["code"] == "wrong_scope"
    nameless = Agent(world, "")("GET", "/memory/core", status=403)
    assert "namespace" in nameless["detail"]


def test_export_and_health(mira: Agent) -> None:
    mira("POST", "/memory", {"contents": ["The ledger is under the third stair."]}, status=201)
    lines = mira("GET", "/memory/export").splitlines()
    assert json.loads(lines[0])["model"] == "memories.namespace"
    counts = mira("GET", "/memory/health")["counts"]
    assert (counts["in_use"], counts["unsourced"], counts["duplicates"]) == (1, 0, 0)
