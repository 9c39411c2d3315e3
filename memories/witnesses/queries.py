"""What an NPC remembers, with how it knows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from memories.models import Hearsay, MemoryItem, Namespace
from memories.search.in_world_days import days_of_campaigns
from memories.witnesses.accounts import WITNESSED
from npcs.models import NPC

MOST_LINKS = 10
"""Links of a chain of hearsay that are shown."""


@dataclass(frozen=True)
class Remembered:
    """A memory of an NPC. `way` is witnessed, told (it was revealed), heard, or empty for what its
    agent wrote; `chain` are those who told it, the first teller first."""

    memory: MemoryItem
    way: str
    reasons: Sequence[str]
    disposition: int
    hearsay: Hearsay | None
    chain: Sequence[Hearsay]

    @property
    def is_witnessed(self) -> bool:
        return self.way == WITNESSED


def remembered_by(npc: NPC, *, campaign: UUID | None = None, limit: int = 50) -> list[Remembered]:
    """Return what `npc` remembers, latest in-world day first, what has no day last. Nothing is
    written."""
    namespace = Namespace.objects.filter(npc=npc).first()
    if namespace is None:
        return []
    rows = MemoryItem.objects.of(namespace).active().without_index_columns()
    rows = rows.remembered_on(days_of_campaigns(namespace))
    rows = rows.of_campaign(campaign) if campaign else rows
    rows = rows.select_related("episode", "hearsay__teller")
    latest = rows.order_by(F("in_world_at").desc(nulls_last=True), "-timestamp_ms")[:limit]
    return present_remembered(list(latest))


def present_remembered(memories: Sequence[MemoryItem]) -> list[Remembered]:
    chains = chains_of(memories)
    return [
        Remembered(
            memory=memory,
            way=str(memory.metadata.get("way", "")),
            reasons=memory.metadata.get("reasons", []),
            disposition=memory.metadata.get("disposition", 0),
            hearsay=getattr(memory, "hearsay", None),
            chain=chains.get(memory.pk, ()),
        )
        for memory in memories
    ]


def chains_of(memories: Sequence[MemoryItem]) -> dict[UUID, list[Hearsay]]:
    """Return who told whom, by the memory in which it ended: one statement for each link."""
    chains = {
        memory.pk: [memory.hearsay] for memory in memories if getattr(memory, "hearsay", None)
    }
    for _link in range(MOST_LINKS):
        ids = (chain[-1].heard_of_id for chain in chains.values())
        wanted = [pk for pk in ids if pk is not None]
        rows = Hearsay.objects.filter(memory__in=wanted).select_related("teller")
        earlier = {row.memory_id: row for row in rows} if wanted else {}
        if not earlier:
            break
        for chain in chains.values():
            told = chain[-1].heard_of_id
            if told is not None and told in earlier:
                chain.append(earlier[told])
    return {pk: chain[::-1] for pk, chain in chains.items()}
