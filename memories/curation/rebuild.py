"""Derived memories made again from the observations they were made from."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from memories import core
from memories.curation import rederive
from memories.ingest.reconstruction import StructuredModel
from memories.ledger import state_changes
from memories.ledger.plan import as_they_came
from memories.ledger.single import SHARED, next_timestamps
from memories.ledger.vectors import store_vectors
from memories.models import Evidence, MemoryItem, Namespace, Observation
from memories.states import ROWS_AT_ONCE, Maker, State

AT_ONCE = 500


@dataclass(frozen=True)
class Rebuilt:
    derived: int
    replaced: int
    left: int = 0
    """Observations whose memories stayed as they were: the language model gave no answer, or somebody wrote."""


def observations_without_memory(namespace: Namespace) -> list[Observation]:
    """Return the observations that are evidence of no memory, oldest first."""
    return list(namespace.observations.filter(evidence=None).order_by("recorded_at", "pk"))


def derive_again(namespace: Namespace, observations: list[Observation]) -> int:
    """Make a memory of each observation as it came. The caller holds the namespace's lock. Return how many."""
    if not observations:
        return 0
    drafted = as_they_came([seen.text for seen in observations], Maker.REBUILD).planned
    stamps = next_timestamps(namespace, len(observations))
    items = [
        MemoryItem(
            namespace=namespace,
            text=new.text,
            made_by=new.made_by,
            timestamp_ms=stamp,
            language=namespace.language,
            **{name: getattr(seen, name) for name in SHARED},
        )
        for new, stamp, seen in zip(drafted, stamps, observations, strict=True)
    ]
    store_vectors(namespace, items, None, reason="derived again from its observation")
    pairs = zip(items, observations, strict=True)
    Evidence.objects.bulk_create(
        [Evidence(memory=item, observation=seen) for item, seen in pairs], batch_size=ROWS_AT_ONCE
    )
    namespace.last_timestamp_ms = stamps[-1]
    namespace.revision += 1
    namespace.save(update_fields=["last_timestamp_ms", "revision"])
    return len(items)


def rebuild(
    namespace: Namespace,
    *,
    everything: bool = False,
    by: str = "",
    model: StructuredModel | None = None,
) -> Rebuilt:
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
    made = rederive.rederive(namespace, model, rederive.groups(namespace, observations))
    late = _as_they_came(
        namespace, everything=False, by=by
    )  # what the model said nothing about is not lost either
    return Rebuilt(made.derived + late.derived, made.replaced, max(0, made.left - late.derived))


def _as_they_came(namespace: Namespace, *, everything: bool, by: str) -> Rebuilt:
    with transaction.atomic():
        locked = core.locked(namespace)
        replaced = _supersede_derived(locked, by=by) if everything else 0
        observations = (
            list(namespace.observations.order_by("pk"))
            if everything
            else observations_without_memory(namespace)
        )
        derived = sum(
            derive_again(locked, observations[start : start + AT_ONCE])
            for start in range(0, len(observations), AT_ONCE)
        )
    return Rebuilt(derived, replaced)


def _supersede_derived(namespace: Namespace, *, by: str) -> int:
    derived: list[UUID] = list(rederive.derived_memories(namespace).values_list("pk", flat=True))
    return state_changes.move(
        derived, to=State.SUPERSEDED, by=by, reason="rebuilt from observations"
    )
