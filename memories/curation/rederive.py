"""Memories derived again from their observations by the language model.

Memories with common observations are derived together and committed in a transaction of their own.
Where the model gives no answer, or another writer was faster, everything is left unchanged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import QuerySet

from memories.ingest import reconstruction
from memories.ingest.add import IncomingContents, plan_from_model
from memories.ingest.reconstruction import StructuredModel
from memories.ledger.commit import CommitResult, LedgerConflict, commit, namespace_transaction
from memories.ledger.plan import Particulars, Plan
from memories.models import Evidence, Insight, MemoryItem, Namespace, Observation
from memories.states import Maker

BY_HAND = (Maker.PERSON, Maker.TOOL)
AT_ONCE = 20
"""Observations in one request to the model; a larger group is left unchanged."""


@dataclass(frozen=True)
class ObservationGroup:
    """Observations that memories have in common, oldest first, and those memories."""

    observations: Sequence[Observation]
    memories: Sequence[MemoryItem]


@dataclass(frozen=True)
class RebuildResult:
    """`left` counts observations whose memories are unchanged: the language model gave no usable
    answer, or another writer was faster."""

    derived: int = 0
    replaced: int = 0
    left: int = 0


def derived_memories(namespace: Namespace) -> "QuerySet[MemoryItem]":
    """Memories in use that can be made again: not by hand, no insight, and with observations
    they rest on."""
    rows = MemoryItem.objects.of(namespace).active().exclude(made_by__in=BY_HAND)
    rows = rows.exclude(pk__in=Insight.objects.values("pk"))
    return rows.filter(
        pk__in=Evidence.objects.filter(observation__namespace=namespace).values("memory")
    )


def group_observations(
    namespace: Namespace, observations: Iterable[Observation]
) -> list[ObservationGroup]:
    """Group observations that have memories in common; one without memories is its own group.

    A group is left out when it has observations that were not given.
    """
    by_id = {one.pk: one for one in observations}
    memories = {one.pk: one for one in derived_memories(namespace).only("pk", "text")}
    pairs = list(
        Evidence.objects.filter(memory__in=list(memories)).values_list(
            "memory_id", "observation_id"
        )
    )
    root = connected_ids([*((pk, pk) for pk in by_id), *pairs])
    components: dict[UUID, tuple[list[UUID], list[UUID]]] = {}
    # UUIDv7 sorts by time: the observations of a group come oldest first.
    for pk in sorted(root):
        components.setdefault(root[pk], ([], []))[pk in memories].append(pk)
    return [
        ObservationGroup([by_id[pk] for pk in own], [memories[pk] for pk in derived])
        for own, derived in components.values()
        if own and all(pk in by_id for pk in own)
    ]


def connected_ids(pairs: Sequence[tuple[UUID, UUID]]) -> dict[UUID, UUID]:
    """Map each id to the representative of its connected component (union-find)."""
    parent: dict[UUID, UUID] = {}

    def top(pk: UUID) -> UUID:
        while parent.setdefault(pk, pk) != pk:
            parent[pk] = parent[parent[pk]]
            pk = parent[pk]
        return pk

    for one, other in pairs:
        parent[top(one)] = top(other)
    return {pk: top(pk) for pk in parent}


def rederive_groups(
    namespace: Namespace, model: StructuredModel, groups: Sequence[ObservationGroup]
) -> RebuildResult:
    """Ask the model about each group with nothing locked, and commit what comes of it."""
    derived = replaced = left = 0
    for group in groups:
        plan = plan_group(model, group)
        try:
            result = commit_group(namespace, group, plan) if plan else None
        except LedgerConflict:
            result = None
        if result is None:
            left += len(group.observations)
        else:
            derived, replaced = derived + len(result.ids), replaced + len(result.superseded)
    return RebuildResult(derived, replaced, left)


def contents_of(texts: Iterable[tuple[Observation, str]]) -> IncomingContents:
    """Texts taken from stored observations, with the particulars of these."""
    pairs = list(texts)
    abouts = [Particulars.of_observation(seen) for seen, _text in pairs]
    return IncomingContents(
        [text for _seen, text in pairs], abouts, [seen.pk for seen, _text in pairs]
    )


def plan_group(model: StructuredModel, group: ObservationGroup) -> Plan | None:
    """None when the group is too large or the model gives no usable answer."""
    if len(group.observations) > AT_ONCE:
        return None
    contents = contents_of(
        (seen, fact)
        for seen in group.observations
        for fact in reconstruction.split_text(model, seen.text)
    )
    answer = reconstruction.reconstruct(model, related=[], contents=list(contents.texts))
    if not answer.succeeded:
        return None
    plan = plan_from_model(answer, contents, {old.pk: old.text for old in group.memories})
    return replace(plan, reason="derived again from its observations")


def commit_group(namespace: Namespace, group: ObservationGroup, plan: Plan) -> CommitResult:
    """Raise `LedgerConflict` if observations were erased meanwhile or other memories rest on
    them now."""
    ids = [seen.pk for seen in group.observations]
    with namespace_transaction(namespace) as locked:
        current_memories = derived_memories(locked).filter(evidence__observation__in=ids)
        if set(current_memories.values_list("pk", flat=True)) != {old.pk for old in group.memories}:
            raise LedgerConflict("other memories rest on these observations now")
        if locked.observations.filter(pk__in=ids).count() != len(ids):
            raise LedgerConflict("an observation was erased")
        return commit(locked, plan)
