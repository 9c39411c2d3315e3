"""The review inbox: nothing the machine wrote is used before it is approved, and every decision can
be looked up.
"""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from memories import core
from memories.curation import duplicates, edits, inbox, lifecycle
from memories.ingest import add
from memories.ledger.client_vectors import embed_missing
from memories.ledger.commit import namespace_transaction
from memories.models import MemoryItem, Namespace, StateChange
from memories.models.namespaces import Review
from memories.search import recall
from memories.states import Maker, State
from memories.vectors import ClientSource, nearest_memories
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.indexing import embed_pending
from tests.memories.conftest import remember
from tests.memories.fakes import Vectors
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db
CORE = "# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- Mira prefers short answers.\n"


@pytest.fixture
def reviewed(mira: Namespace) -> Namespace:
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    mira.refresh_from_db()
    return mira


def test_pending_memories_are_not_retrieved_until_approved(reviewed: Namespace) -> None:
    (pk,) = remember(reviewed, "The ninth oarsman rows at night.").ids
    assert recall.search(reviewed, "ninth oarsman").memories == recall.latest(reviewed) == []
    assert [memory.pk for memory in inbox.inbox(reviewed)] == [pk]
    inbox.approve(reviewed, pk, by="gm")
    assert [memory.id for memory in recall.search(reviewed, "ninth oarsman").memories] == [pk]
    assert StateChange.objects.filter(memory=pk).latest("at", "pk").by == "gm"


def test_what_is_to_be_replaced_stays_until_the_approval(mira: Namespace) -> None:
    (old,) = remember(mira, "Mira Voss likes the salted eel soup.").ids
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    (new,) = remember(mira, "Mira Voss likes salted eel soup.").ids
    assert [memory.id for memory in recall.latest(mira)] == [old]
    assert [memory.pk for memory in inbox.pending(mira, new).replaces] == [old]
    inbox.approve(mira, new, by="gm")
    assert [memory.id for memory in recall.latest(mira)] == [new]


def test_a_rejected_memory_replaces_nothing(mira: Namespace) -> None:
    (old,) = remember(mira, "Mira Voss likes the salted eel soup.").ids
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    (new,) = remember(mira, "Mira Voss likes salted eel soup.").ids
    inbox.reject(mira, new, by="gm", reason="no news")
    assert [memory.id for memory in recall.latest(mira)] == [old]
    assert MemoryItem.objects.get(pk=new).state == State.REJECTED


def test_an_agent_is_told_that_it_waits(reviewed: Namespace, world: World) -> None:
    agent = Agent(world, reviewed.name)
    event = {"content": "The miller's son stole the bell rope."}
    told = agent("POST", "/tools/memory_event", event)
    assert (told["result"], told["waiting"]) == ("stored", True)
    (listed,) = agent("POST", "/memory/events", {"events": [{"content": "The smith left town."}]})
    assert listed["waiting"] is True
    line = {"section": "RULE", "content": "Never split the party."}
    change = agent("POST", "/tools/core_memory_append", line)
    assert change["changed"] is False
    assert "approve" in " ".join(change["problems"])


def test_approving_twice_is_a_conflict(reviewed: Namespace) -> None:
    (pk,) = remember(reviewed, "The ninth oarsman rows at night.").ids
    inbox.approve(reviewed, pk, by="gm")
    for again in (inbox.approve, inbox.reject):
        with pytest.raises(Conflict, match="not waiting"):
            again(reviewed, pk, by="gm")


def test_a_pending_memory_is_shown_with_the_nearest_and_its_evidence(reviewed: Namespace) -> None:
    (known,) = remember(reviewed, "Mira Voss owns three ferries at the lower landing.").ids
    inbox.approve(reviewed, known, by="gm")
    (pk,) = remember(reviewed, "Mira Voss owns four ferries at the lower landing.").ids
    case = inbox.pending(reviewed, pk)
    assert [seen.text for seen in case.evidence] == [
        "Mira Voss owns four ferries at the lower landing."
    ]
    assert [(beside.memory.pk, beside.differs_in) for beside in case.beside] == [(known, "number")]


def test_decisions_in_bulk_fail_one_by_one(reviewed: Namespace) -> None:
    ids = remember(reviewed, "The tide turns at noon.", "The bell rings twice.").ids
    inbox.approve(reviewed, ids[0], by="gm")
    result = inbox.decide_all(reviewed, [*ids, uuid4()], is_approval=True, by="gm")
    assert result.done == [ids[1]]
    assert len(result.failed) == 2


def test_edit_merge_and_split_keep_what_was(reviewed: Namespace) -> None:
    one, other = remember(reviewed, "Mira rows.", "Mira sings at dawn and sleeps at noon.").ids
    edited = inbox.edit(reviewed, one, "Mira rows the night ferry.", by="gm")
    parts = inbox.split(reviewed, other, ["Mira sings at dawn.", "Mira sleeps at noon."], by="gm")
    merged = edits.merge(
        reviewed, [part.pk for part in parts], "Mira sings at dawn, sleeps at noon.", by="gm"
    )
    assert edited.made_by == merged.made_by == Maker.PERSON
    assert {memory.id for memory in recall.latest(reviewed)} == {edited.pk, merged.pk}
    assert merged.observations.count() == 1
    back = edits.undo(reviewed, merged.pk, by="gm")
    assert {memory.pk for memory in back} == {part.pk for part in parts}
    with pytest.raises(Conflict):
        edits.undo(reviewed, merged.pk, by="gm")


@pytest.mark.parametrize("text", ["", "  ", "nul\x00", "x" * 200_000])
def test_a_memory_is_not_edited_into_nonsense(mira: Namespace, text: str) -> None:
    (pk,) = remember(mira, "Mira rows.").ids
    with pytest.raises(Invalid):
        edits.edit(mira, pk, text, by="gm")
    assert [memory.id for memory in recall.latest(mira)] == [pk]


def test_another_namespaces_memory_cannot_be_decided(reviewed: Namespace, tobin: Namespace) -> None:
    (pk,) = remember(reviewed, "Mira rows.").ids
    with pytest.raises(NotFound):
        inbox.approve(tobin, pk, by="gm")


def test_under_review_the_core_waits_too(mira: Namespace) -> None:
    Namespace.objects.filter(pk=mira.pk).update(review=Review.CORE)
    with namespace_transaction(mira) as locked:
        core.append(locked, "user", "Prefers short answers.")
    assert core.current(mira).number == 0
    (proposal,) = mira.core_proposals.all()
    core.approve(proposal.pk, mira, author="gm")
    assert "- Prefers short answers." in core.current(mira).markdown
    with pytest.raises(Conflict):
        core.approve(proposal.pk, mira, author="gm")


def test_core_versions_can_be_compared_and_restored(mira: Namespace) -> None:
    core.write_by_hand(mira, CORE, reason="by hand", author="gm")
    core.write_by_hand(mira, CORE.replace("short", "long"), reason="changed", author="gm")
    assert "-- Mira prefers short answers." in core.diff(mira, 2)
    restored = core.restore(mira, 1, author="gm")
    assert (restored.number, restored.markdown, restored.reason) == (
        3,
        CORE,
        "Restored from version 1",
    )
    with pytest.raises(NotFound):
        core.restore(mira, 9)


def test_a_stale_edit_of_the_core_is_a_conflict(mira: Namespace) -> None:
    core.write_by_hand(mira, CORE, reason="by hand", base_number=0)
    with pytest.raises(Conflict):
        core.write_by_hand(mira, CORE + "- x\n", reason="by hand", base_number=0)


def test_core_text_is_replaced_only_where_it_is_unambiguous(mira: Namespace) -> None:
    core.write_by_hand(mira, CORE + "- Mira has short hair.\n", reason="by hand")
    with namespace_transaction(mira) as locked, pytest.raises(Invalid, match="More than one"):
        core.replace(locked, "USER", "short", "long")
    with namespace_transaction(mira) as locked:
        core.replace(locked, "USER", "- Mira has short hair.", "")
    assert core.current(mira).markdown == CORE


def test_duplicates_in_the_store_are_merged_and_come_back(mira: Namespace) -> None:
    (first,) = remember(mira, "Mira Voss likes the salted eel soup.").ids
    (other,) = remember(mira, "Something else altogether, about bridges.").ids
    second = edits.edit(mira, other, "Mira Voss likes salted eel soup.", by="gm")
    embed_pending(MemoryItem)
    (pair,) = duplicates.merge_duplicates(mira)
    assert (pair.older, pair.newer) == (first, second.pk)
    assert [memory.id for memory in recall.latest(mira)] == [second.pk]
    lifecycle.restore(mira, first, by="gm")
    assert {memory.id for memory in recall.latest(mira)} == {first, second.pk}


@pytest.fixture
def two_alike(mira: Namespace) -> list[UUID]:
    """Two memories in use that say the same, both with a vector."""
    remember(mira, "Mira Voss likes the salted eel soup.", "Of bridges, and of who built them.")
    first, other = MemoryItem.objects.of(mira).order_by("timestamp_ms")
    second = edits.edit(mira, other.pk, "Mira Voss likes salted eel soup.", by="gm")
    embed_pending(MemoryItem)
    return [first.pk, second.pk]


def test_a_memory_that_is_erased_while_memories_are_compared_is_left_out(
    mira: Namespace, two_alike: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_alike
    assert [(pair.older, pair.newer) for pair in duplicates.find_pairs(mira)] == [(first, second)]
    remaining = MemoryItem.objects.get(pk=first)

    def search_then_erase(*args: Any, **options: Any) -> Any:
        nearest = nearest_memories(*args, **options)
        MemoryItem.objects.filter(pk=second).delete()
        return nearest

    monkeypatch.setattr(duplicates, "nearest_memories", search_then_erase)
    with transaction.atomic():
        assert list(duplicates.find_pairs(mira)) == []
        transaction.set_rollback(True)
    assert MemoryItem.objects.filter(pk=second).exists()
    assert duplicates.compare_with_nearest(remaining) == []


def test_only_vectors_of_the_agents_own_client_are_compared(mira: Namespace) -> None:
    Namespace.objects.filter(pk=mira.pk).update(dims=16)
    mira.refresh_from_db()
    alike = ["Mira Voss likes the salted eel soup.", "Mira Voss likes salted eel soup."]
    client = ClientSource(Vectors(dict.fromkeys(alike, [1.0] * 16)), 16)
    contents = [alike[0], "Of bridges, and of who built them."]
    ids = add.add(mira, contents, models=add.Models(client)).ids
    # It has a vector of the site's embedder only, which is wider.
    edited = edits.edit(mira, ids[1], alike[1], by="gm")
    embed_pending(MemoryItem)
    assert duplicates.compare_with_nearest(edited) == []
    assert list(duplicates.find_pairs(mira)) == []
    embed_missing(mira, client)
    assert [near.memory.pk for near in duplicates.compare_with_nearest(edited)] == [ids[0]]
    assert [pair.newer for pair in duplicates.find_pairs(mira)] == [edited.pk]
