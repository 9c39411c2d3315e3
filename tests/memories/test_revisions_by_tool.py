"""An agent corrects, closes, forgets and restores what it remembers, and nobody else's memories."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories.models import MemoryItem, Namespace, StateChange, Succession
from memories.models.namespaces import Review
from tests.memories.test_api import NOBODYS, Agent
from worlds.models import AuditedCall, World

pytestmark = pytest.mark.django_db
ROPE, CHAIN = "Jory cut the rope at the ferry.", "Jory cut the chain at the ferry."


@pytest.fixture
def mira(world: World) -> Agent:
    return Agent(world, "mira-voss")


def insert(agent: Agent, text: str = ROPE, **more: Any) -> str:
    answer = agent("POST", "/tools/archival_memory_insert", {"content": text, **more})
    ids: list[str] = answer["ids"]
    return ids[0]


def revise(agent: Agent, pk: str, action: str, *, status: int = 200, **more: Any) -> Any:
    body = {"memory_id": pk, "action": action, **more}
    return agent("POST", "/tools/memory_revise", body, status=status)


def texts_found(agent: Agent) -> list[str]:
    answer = agent("POST", "/tools/archival_memory_search", {"query": "Who cut what at the ferry?"})
    return [hit["text"] for hit in answer["hits"]]


def test_a_correction_takes_the_place_of_the_memory(mira: Agent) -> None:
    pk = insert(mira, scope="river", tags=["night"], subject="Jory Fenn")
    answer = revise(mira, pk, "correct", text=CHAIN, reason="Tobin saw the chain.")
    assert (answer["text"], answer["state"], answer["waiting"]) == (CHAIN, "active", False)
    assert texts_found(mira) == [CHAIN]
    item = MemoryItem.objects.get(pk=answer["memory_id"])
    assert (item.subject, item.made_by) == ("Jory Fenn", "tool")
    assert item.metadata == {"scope": "river", "tags": ["night"]}
    assert item.observations.get().text == ROPE
    link = Succession.objects.get(newer=item)
    assert (str(link.older_id), link.reason) == (pk, "Tobin saw the chain.")
    assert AuditedCall.objects.filter(tool="memory_revise").count() == 1


@pytest.mark.parametrize(("action", "state"), [("close", "expired"), ("forget", "archived")])
def test_what_is_closed_or_forgotten_is_not_found_until_it_is_restored(
    mira: Agent, action: str, state: str
) -> None:
    pk = insert(mira)
    assert revise(mira, pk, action, reason="It is mended.")["state"] == state
    assert texts_found(mira) == []
    last = StateChange.objects.filter(memory=pk).latest("pk")
    assert (last.state, last.reason) == (state, "It is mended.")
    assert last.by
    revise(mira, pk, action, status=409)
    assert revise(mira, pk, "restore")["state"] == "active"
    assert texts_found(mira) == [ROPE]


def test_a_memory_can_be_closed_from_a_later_moment_on(mira: Agent) -> None:
    pk, until = insert(mira), timezone.now() + timedelta(days=1)
    answer = revise(mira, pk, "close", until=until.isoformat(), reason="The ferry is mended then.")
    assert answer["state"] == "active"
    assert texts_found(mira) == [ROPE]
    assert MemoryItem.objects.get(pk=pk).expires_at == until
    assert StateChange.objects.filter(memory=pk, reason="The ferry is mended then.").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "correct"},
        {"action": "correct", "text": "a\x00b"},
        {"action": "forget", "text": CHAIN},
        {"action": "forget", "until": "2030-01-01T00:00:00Z"},
        {"action": "erase"},
    ],
)
def test_arguments_that_do_not_fit_change_nothing(mira: Agent, arguments: dict[str, str]) -> None:
    pk = insert(mira)
    mira("POST", "/tools/memory_revise", {"memory_id": pk, **arguments}, status=422)
    assert texts_found(mira) == [ROPE]


@pytest.mark.parametrize("action", ["correct", "close", "forget", "restore"])
def test_another_agents_memory_is_not_found(world: World, mira: Agent, action: str) -> None:
    pk, tobin = insert(mira), Agent(world, "tobin")
    text = {"text": CHAIN} if action == "correct" else {}
    theirs = revise(tobin, pk, action, status=404, **text)
    nobodys = revise(tobin, NOBODYS, action, status=404, **text)
    assert {**theirs, "instance": ""} == {**nobodys, "instance": ""}
    assert texts_found(mira) == [ROPE]
    assert not StateChange.objects.filter(memory=pk).exclude(state="active").exists()


def test_a_key_that_only_reads_changes_no_memory(world: World, mira: Agent) -> None:
    pk = insert(mira)
    reader = Agent(world, "mira-voss", scopes=("tools:read",))
    problem = revise(reader, pk, "forget", status=403)
    assert problem["code"] == "wrong_scope"
    assert texts_found(mira) == [ROPE]


@pytest.fixture
def reviewed(mira: Agent) -> tuple[Agent, str]:
    """Mira with an approved memory, under review from now on."""
    pk = insert(mira)
    Namespace.objects.update(review=Review.ALL)
    return mira, pk


def test_a_correction_of_a_reviewed_memory_waits(world: World, reviewed: tuple[Agent, str]) -> None:
    mira, pk = reviewed
    answer = revise(mira, pk, "correct", text=CHAIN)
    assert (answer["state"], answer["waiting"]) == ("pending", True)
    assert texts_found(mira) == [ROPE]
    reviewer = Agent(world, "mira-voss", scopes=("agent:write", "agent:review"))
    decision = {"ids": [answer["memory_id"]], "decision": "approve"}
    reviewer("POST", "/memory/inbox/decide", decision)
    assert texts_found(mira) == [CHAIN]
    assert MemoryItem.objects.get(pk=pk).state == "superseded"


def test_a_correction_of_what_waits_takes_its_place_in_the_inbox(
    world: World, reviewed: tuple[Agent, str]
) -> None:
    mira, _pk = reviewed
    waiting = insert(mira, "The bell is silver.")
    corrected = revise(mira, waiting, "correct", text="The bell is bronze.")
    inbox = mira("GET", "/memory/inbox")
    assert [one["id"] for one in inbox["memories"]] == [corrected["memory_id"]]
    assert MemoryItem.objects.get(pk=waiting).state == "archived"


def test_what_a_person_rejected_is_not_restored_by_the_agent(
    world: World, reviewed: tuple[Agent, str]
) -> None:
    mira, _pk = reviewed
    waiting = insert(mira, "The bell is silver.")
    reviewer = Agent(world, "mira-voss", scopes=("agent:write", "agent:review"))
    reviewer("POST", "/memory/inbox/decide", {"ids": [waiting], "decision": "reject"})
    problem = revise(mira, waiting, "restore", status=403)
    assert "agent:review" in problem["detail"]
    assert revise(reviewer, waiting, "restore")["state"] == "active"


@pytest.mark.parametrize("more", [{}, {"text": " "}])
def test_a_correction_without_a_text_says_what_to_send(mira: Agent, more: dict[str, str]) -> None:
    pk = insert(mira)
    problem = revise(mira, pk, "correct", status=422, **more)
    assert "`text`" in problem["detail"]
    assert "`forget`" in problem["detail"]
    assert texts_found(mira) == [ROPE]
