"""Derived memories made again from the observations they were made from."""

from dataclasses import replace

from memories.curation import rederive
from memories.curation.rederive import RebuildResult
from memories.ingest.add import plan_unmerged
from memories.ingest.reconstruction import StructuredModel
from memories.ledger.commit import change_state, commit, namespace_transaction
from memories.models import Namespace, Observation
from memories.states import Maker, State

AT_ONCE = 500


def observations_without_memory(namespace: Namespace) -> list[Observation]:
    """Return the observations that are evidence of no memory, oldest first."""
    return list(namespace.observations.filter(evidence=None).order_by("recorded_at", "pk"))


def derive_from_observations(namespace: Namespace, observations: list[Observation]) -> int:
    """Make one memory of each observation, unmerged; return how many. The caller holds the lock."""
    for start in range(0, len(observations), AT_ONCE):
        chunk = observations[start : start + AT_ONCE]
        contents = rederive.contents_of((observation, observation.text) for observation in chunk)
        plan = plan_unmerged(contents, Maker.REBUILD)
        commit(namespace, replace(plan, reason="derived again from its observation"))
    return len(observations)


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
    groups = rederive.group_observations(namespace, observations)
    result = rederive.rederive_groups(namespace, model, groups)
    # What the model gave no memory for is not lost either.
    rest = rebuild_unmerged(namespace, everything=False, by=by)
    left = max(0, result.left - rest.derived)
    return RebuildResult(result.derived + rest.derived, result.replaced, left)


def rebuild_unmerged(namespace: Namespace, *, everything: bool, by: str) -> RebuildResult:
    with namespace_transaction(namespace) as locked:
        if not everything:
            orphans = observations_without_memory(locked)
            return RebuildResult(derive_from_observations(locked, orphans))
        ids = list(rederive.derived_memories(locked).values_list("pk", flat=True))
        reason = "rebuilt from observations"
        replaced_count = change_state(ids, to=State.SUPERSEDED, by=by, reason=reason)
        observations = list(locked.observations.order_by("pk"))
        return RebuildResult(derive_from_observations(locked, observations), replaced_count)
