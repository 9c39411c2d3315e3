"""Derived memories made again from the observations they were made from."""

from dataclasses import dataclass, replace

from memories.curation import rederive
from memories.ingest.plans import plan_unmerged
from memories.ingest.reconstruction import StructuredModel
from memories.ledger.commit import commit
from memories.ledger.lock import namespace_transaction
from memories.ledger.state_changes import change_state
from memories.models import Namespace, Observation
from memories.states import Maker, State

AT_ONCE = 500


@dataclass(frozen=True)
class RebuildResult:
    derived: int
    replaced: int
    left: int = 0
    """Observations whose memories stayed as they were: the language model gave no answer, or somebody wrote."""


def observations_without_memory(namespace: Namespace) -> list[Observation]:
    """Return the observations that are evidence of no memory, oldest first."""
    return list(namespace.observations.filter(evidence=None).order_by("recorded_at", "pk"))


def derive_from_observations(namespace: Namespace, observations: list[Observation]) -> int:
    """Make a memory of each observation as it came; return how many. Call it with the namespace locked."""
    for start in range(0, len(observations), AT_ONCE):
        chunk = observations[start : start + AT_ONCE]
        plan = plan_unmerged(
            rederive.contents_of((seen, seen.text) for seen in chunk), Maker.REBUILD
        )
        commit(namespace, replace(plan, reason="derived again from its observation"))
    return len(observations)


def rebuild_memories(
    namespace: Namespace,
    *,
    everything: bool = False,
    by: str = "",
    model: StructuredModel | None = None,
) -> RebuildResult:
    """Derive memories from observations that have none; with `everything`, from all, superseding what was derived.

    With a `model` it says anew what the observations teach; without one each is taken as it came. What a person wrote
    or approved by hand has no other source than itself and stays. Erased observations are gone, so nothing that was
    erased comes back. Call it with no transaction open.
    """
    if model is None:
        return _as_they_came(namespace, everything=everything, by=by)
    observations = (
        list(namespace.observations.order_by("pk"))
        if everything
        else observations_without_memory(namespace)
    )
    made = rederive.rederive_groups(
        namespace, model, rederive.group_observations(namespace, observations)
    )
    late = _as_they_came(
        namespace, everything=False, by=by
    )  # what the model said nothing about is not lost either
    return RebuildResult(
        made.derived + late.derived, made.replaced, max(0, made.left - late.derived)
    )


def _as_they_came(namespace: Namespace, *, everything: bool, by: str) -> RebuildResult:
    with namespace_transaction(namespace) as locked:
        if not everything:
            return RebuildResult(
                derive_from_observations(locked, observations_without_memory(locked)), 0
            )
        derived = list(rederive.derived_memories(locked).values_list("pk", flat=True))
        replaced = change_state(
            derived, to=State.SUPERSEDED, by=by, reason="rebuilt from observations"
        )
        return RebuildResult(
            derive_from_observations(locked, list(locked.observations.order_by("pk"))), replaced
        )
