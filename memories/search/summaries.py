"""The place of summaries by rules in what an NPC remembers."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from memories.models import Namespace


class MaybeSummary(Protocol):
    @property
    def is_summary(self) -> bool: ...


Memory = TypeVar("Memory", bound=MaybeSummary)


def put_summaries_last(namespace: Namespace | None, memories: Iterable[Memory]) -> list[Memory]:
    """Return `memories` in their order, but for an NPC the summaries by rules after the others: it
    speaks of what it lived through, and a summary only counts that."""
    if namespace is None or not namespace.npc_id:
        return list(memories)
    return sorted(memories, key=lambda memory: memory.is_summary)
