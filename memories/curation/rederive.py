"""Memories derived again from their observations by the language model.

What rests on common observations is thought about together and written in one transaction of its own. Where the model
gives no answer, or somebody wrote meanwhile, everything stays as it was: nothing is superseded, nothing lost.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from memories import core
from memories.ingest import reconstruction
from memories.ingest.reconstruction import StructuredModel
from memories.ledger import plan
from memories.ledger.plan import Draft
from memories.ledger.single import (
    SHARED,
    Overtaken,
    check_active,
    link_evidence,
    next_timestamps,
    note_write,
    succeed,
)
from memories.ledger.vectors import store_vectors
from memories.models import Evidence, Insight, MemoryItem, Namespace, Observation
from memories.models.namespaces import Review
from memories.states import Maker, State

BY_HAND = (Maker.PERSON, Maker.TOOL)
AT_ONCE = 20
"""Observations one question to the model is about; a larger group stays as it is."""


@dataclass(frozen=True)
class Group:
    """Observations that memories have in common, oldest first, and those memories."""

    observations: Sequence[Observation]
    memories: Sequence[MemoryItem]


@dataclass(frozen=True)
class Rederived:
    derived: int = 0
    replaced: int = 0
    left: int = 0


def derived_memories(namespace: Namespace) -> "QuerySet[MemoryItem]":
    """Memories in use that can be made again: not by hand, no insight, and with observations they rest on."""
    rows = MemoryItem.objects.of(namespace).active().exclude(made_by__in=BY_HAND)
    rows = rows.exclude(pk__in=Insight.objects.values("pk"))
    return rows.filter(
        pk__in=Evidence.objects.filter(observation__namespace=namespace).values("memory")
    )


def groups(namespace: Namespace, observations: Iterable[Observation]) -> list[Group]:
    """`observations` by what rests on them now; one that nothing rests on is a group of its own."""
    seen = {one.pk: one for one in observations}
    memories = {one.pk: one for one in derived_memories(namespace).only("pk", "text")}
    pairs = list(
        Evidence.objects.filter(memory__in=list(memories)).values_list(
            "memory_id", "observation_id"
        )
    )
    root = _united([*((pk, pk) for pk in seen), *pairs])
    found: dict[UUID, tuple[list[UUID], list[UUID]]] = {}
    for pk in sorted(root):
        found.setdefault(root[pk], ([], []))[pk in memories].append(pk)
    return [
        Group([seen[pk] for pk in mine], [memories[pk] for pk in made])
        for mine, made in found.values()
        if mine and all(pk in seen for pk in mine)
    ]


def _united(pairs: Sequence[tuple[UUID, UUID]]) -> dict[UUID, UUID]:
    """Of each id the one that stands for all it is joined with."""
    parent: dict[UUID, UUID] = {}

    def top(pk: UUID) -> UUID:
        while parent.setdefault(pk, pk) != pk:
            parent[pk] = parent[parent[pk]]
            pk = parent[pk]
        return pk

    for one, other in pairs:
        parent[top(one)] = top(other)
    return {pk: top(pk) for pk in parent}


def rederive(namespace: Namespace, model: StructuredModel, found: Sequence[Group]) -> Rederived:
    """Think about each group with nothing locked, and write what comes of it."""
    derived = replaced = left = 0
    for group in found:
        draft, sources = _thought(model, group)
        try:
            counts = _written(namespace, group, draft, sources) if draft else None
        except Overtaken:
            counts = None
        derived, replaced = (
            derived + (counts[0] if counts else 0),
            replaced + (counts[1] if counts else 0),
        )
        left += 0 if counts else len(group.observations)
    return Rederived(derived, replaced, left)


def _thought(model: StructuredModel, group: Group) -> tuple[Draft | None, list[Observation]]:
    """What to write, and of each content the observation it comes from; None when the model is of no use."""
    if len(group.observations) > AT_ONCE:
        return None, []
    split = [
        (fact, seen)
        for seen in group.observations
        for fact in reconstruction.split(model, seen.text)
    ]
    contents = [fact for fact, _seen in split]
    answer = reconstruction.reconstruct(model, related=[], contents=contents)
    if not answer.succeeded:
        return None, []
    return plan.from_model(answer, contents, {old.pk: old.text for old in group.memories}), [
        s for _f, s in split
    ]


def _written(
    namespace: Namespace, group: Group, draft: Draft, sources: list[Observation]
) -> tuple[int, int]:
    """How many memories were made, and how many they took the place of. Raise `Overtaken` if the ground has changed."""
    with transaction.atomic():
        locked = core.locked(namespace)
        check_active(locked, {old.pk for old in group.memories})
        if not _still_there(locked, group):
            raise Overtaken
        state = State.PENDING if locked.review == Review.ALL else State.ACTIVE
        items = _items(locked, draft, sources, state)
        store_vectors(locked, items, None, reason="derived again from its observations")
        link_evidence(items, draft, sources)
        superseded, _formerly = succeed(items, draft, state)
        note_write(locked, len(items), items[-1].timestamp_ms)
    return len(items), len(superseded)


def _still_there(namespace: Namespace, group: Group) -> bool:
    """What was erased meanwhile must not come back, and what has a memory meanwhile needs no other."""
    ids = [seen.pk for seen in group.observations]
    resting = (
        derived_memories(namespace)
        .filter(evidence__observation__in=ids)
        .values_list("pk", flat=True)
    )
    stands = set(resting) == {old.pk for old in group.memories}
    return stands and namespace.observations.filter(pk__in=ids).count() == len(ids)


def _items(
    namespace: Namespace, draft: Draft, sources: list[Observation], state: State
) -> list[MemoryItem]:
    stamps = next_timestamps(namespace, len(draft.planned))
    return [
        MemoryItem(
            namespace=namespace,
            text=new.text,
            made_by=new.made_by,
            timestamp_ms=stamp,
            language=namespace.language,
            state=state,
            **{name: getattr(sources[new.evidence[0]], name) for name in SHARED},
        )
        for new, stamp in zip(draft.planned, stamps, strict=True)
    ]
