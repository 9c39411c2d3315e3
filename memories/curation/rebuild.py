"""Derived memories made again from the observations they were made from.

The language model derives memories with common observations together, and each such group is
committed on its own. Where it gives no usable answer, or another writer was faster, everything is
left unchanged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memories.ingest import reconstruction
from memories.ingest.contents import IncomingContents, plan_unmerged
from memories.ingest.model_plan import join_plans, plan_from_answer, replaced_by_all
from memories.ingest.reconstruction import StructuredModel
from memories.ledger.commit import (
    CommitResult,
    LedgerConflict,
    change_state,
    commit,
    namespace_transaction,
)
from memories.ledger.plan import Particulars
from memories.models import Evidence, Insight, MemoryItem, Namespace, Observation
from memories.querysets import MemoryQuerySet
from memories.states import Maker, State

BY_HAND = (Maker.PERSON, Maker.TOOL)
AT_ONCE = 500
MAX_GROUP = 20
"""Observations in one request to the model; a larger group is left unchanged."""


@dataclass(frozen=True)
class ObservationGroup:
    """Observations that memories have in common, oldest first, and those memories."""

    observations: Sequence[Observation]
    memories: Sequence[MemoryItem]


@dataclass(frozen=True)
class RebuildResult:
    """`unchanged_count` counts observations whose memories are unchanged: the language model gave
    no usable answer, or another writer was faster."""

    derived_count: int = 0
    replaced_count: int = 0
    unchanged_count: int = 0


def rebuild_memories(
    namespace: Namespace,
    *,
    everything: bool = False,
    by: str = "",
    model: StructuredModel | None = None,
) -> RebuildResult:
    """Derive memories from observations that have none; with `everything`, from all, superseding
    what was derived.

    With a `model` it derives the memories; without one each observation becomes one. Memories
    written by hand have no other source and are kept. Erased observations are gone, so nothing
    erased comes back. Call it with no transaction open: the model is called in between.
    """
    if model is None:
        return rebuild_unmerged(namespace, everything=everything, by=by)
    observations = (
        list(namespace.observations.order_by("pk"))
        if everything
        else observations_without_memory(namespace)
    )
    derived_count = replaced_count = unchanged_count = 0
    for group in _group_observations(namespace, observations):
        result = _rederive_group(namespace, model, group)
        if result is None:
            unchanged_count += len(group.observations)
        else:
            derived_count += len(result.ids)
            replaced_count += len(result.superseded)
    # What the model gave no memory for is not lost either.
    rest = rebuild_unmerged(namespace, everything=False, by=by).derived_count
    return RebuildResult(derived_count + rest, replaced_count, max(0, unchanged_count - rest))


def rebuild_unmerged(namespace: Namespace, *, everything: bool, by: str) -> RebuildResult:
    with namespace_transaction(namespace) as namespace:
        if not everything:
            observations = observations_without_memory(namespace)
            return RebuildResult(derive_from_observations(namespace, observations))
        ids = list(derived_memories(namespace).values_list("pk", flat=True))
        reason = "rebuilt from observations"
        replaced_count = change_state(ids, to=State.SUPERSEDED, by=by, reason=reason)
        observations = list(namespace.observations.order_by("pk"))
        return RebuildResult(derive_from_observations(namespace, observations), replaced_count)


def observations_without_memory(namespace: Namespace) -> list[Observation]:
    """Return the observations that are evidence of no memory, oldest first."""
    return list(namespace.observations.filter(evidence=None).order_by("recorded_at", "pk"))


def derive_from_observations(namespace: Namespace, observations: list[Observation]) -> int:
    """Make one memory of each observation, unmerged; return how many. The caller holds the lock."""
    for start in range(0, len(observations), AT_ONCE):
        chunk = observations[start : start + AT_ONCE]
        contents = contents_of((observation, observation.text) for observation in chunk)
        plan = plan_unmerged(contents, Maker.REBUILD)
        commit(namespace, replace(plan, reason="derived again from its observation"))
    return len(observations)


def contents_of(texts: Iterable[tuple[Observation, str]]) -> IncomingContents:
    """Texts taken from stored observations, with the particulars of these."""
    pairs = list(texts)
    abouts = [Particulars.of_observation(raw) for raw, _text in pairs]
    return IncomingContents(
        [text for _raw, text in pairs], abouts, [raw.pk for raw, _text in pairs]
    )


def derived_memories(namespace: Namespace) -> MemoryQuerySet:
    """Memories in use that can be made again: not by hand, no insight, and with observations
    they rest on."""
    rows = MemoryItem.objects.of(namespace).active().exclude(made_by__in=BY_HAND)
    evidence = Evidence.objects.filter(observation__namespace=namespace)
    return rows.exclude(pk__in=Insight.objects.values("pk")).filter(
        pk__in=evidence.values("memory")
    )


def _group_observations(
    namespace: Namespace, observations: Iterable[Observation]
) -> list[ObservationGroup]:
    """Group observations that have memories in common; one without memories is its own group.

    A group is left out when it has observations that were not given.
    """
    by_id = {one.pk: one for one in observations}
    memories = {one.pk: one for one in derived_memories(namespace).only("pk", "text")}
    evidence = Evidence.objects.filter(memory__in=list(memories))
    pairs = evidence.values_list("memory_id", "observation_id")
    root = _connected_ids([*((pk, pk) for pk in by_id), *pairs])
    components: dict[UUID, tuple[list[UUID], list[UUID]]] = {}
    # UUIDv7 sorts by time: the observations of a group come oldest first.
    for pk in sorted(root):
        components.setdefault(root[pk], ([], []))[pk in memories].append(pk)
    return [
        ObservationGroup([by_id[pk] for pk in own], [memories[pk] for pk in memory_ids])
        for own, memory_ids in components.values()
        if own and all(pk in by_id for pk in own)
    ]


def _connected_ids(pairs: Sequence[tuple[UUID, UUID]]) -> dict[UUID, UUID]:
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


def _rederive_group(
    namespace: Namespace, model: StructuredModel, group: ObservationGroup
) -> CommitResult | None:
    """Ask the model with nothing locked, and commit its answer. Return None if nothing changed:
    the group is too large, the answer not usable, or another writer was faster."""
    if len(group.observations) > MAX_GROUP:
        return None
    contents = contents_of(
        (raw, fact)
        for raw in group.observations
        for fact in reconstruction.split_text(model, raw.text)
    )
    answer = reconstruction.reconstruct(model, related_texts=[], contents=list(contents.texts))
    if not answer.memories:
        return None
    old_texts = {old.pk: old.text for old in group.memories}
    of_answer = plan_from_answer(answer.memories, contents, old_texts, replacing=replaced_by_all)
    unmerged = plan_unmerged(contents.at(answer.kept), Maker.REBUILD)
    plan = join_plans(of_answer, unmerged, model_vectors=None)
    ids = [raw.pk for raw in group.observations]
    with namespace_transaction(namespace) as namespace:
        current_memories = derived_memories(namespace).filter(evidence__observation__in=ids)
        if set(current_memories.values_list("pk", flat=True)) != set(old_texts):
            return None
        # An observation was erased meanwhile: its text must not come back.
        if namespace.observations.filter(pk__in=ids).count() != len(ids):
            return None
        try:
            return commit(namespace, replace(plan, reason="derived again from its observations"))
        except LedgerConflict:
            return None
