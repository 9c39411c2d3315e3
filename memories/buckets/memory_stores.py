"""What the pipelines write to and read: a namespace, what has one (a `Memory`, the store in
PostgreSQL), or another store of an agent's memories."""

from collections.abc import Sequence
from typing import Protocol, cast

from memories.found_memory import FoundMemory
from memories.ingest.rule_add import BatchOutcome
from memories.ledger.plan import Particulars
from memories.models import Namespace
from memories.search.filters import MemoryFilter
from retrieval.errors import Invalid


class HasNamespace(Protocol):
    namespace: Namespace


class EventStore(Protocol):
    """A store that is no namespace: in memory, in a file, in Qdrant."""

    def write_events(
        self, texts: Sequence[str], abouts: Sequence[Particulars]
    ) -> Sequence[BatchOutcome]: ...

    def find_memories(
        self, query: str, *, limit: int, where: MemoryFilter | None = None
    ) -> Sequence[FoundMemory]: ...


PipelineStore = Namespace | HasNamespace | EventStore


def namespace_of(store: object) -> Namespace | None:
    """Return the namespace that `store` is or has; None for another store."""
    if isinstance(store, Namespace):
        return store
    return getattr(store, "namespace", None)


def event_store(store: object) -> EventStore:
    """Return `store`, which has no namespace; raise `Invalid` for what is no store at all."""
    if not (hasattr(store, "write_events") and hasattr(store, "find_memories")):
        name = type(store).__name__
        raise Invalid(f"A pipeline needs a Memory, a namespace or a store, not {name}.")
    return cast(EventStore, store)
