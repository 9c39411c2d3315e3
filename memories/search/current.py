"""Which memories say what was once, and the order in which what holds now comes first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from uuid import UUID

from django.db import connection

from memories.found_memory import FoundMemory
from memories.models import MemoryItem
from memories.querysets import MemoryQuerySet

# A rewording of a former memory is as former as its first wording: the links of the wordings
# before it count, and so do those of the newer memory to its own rewordings. UNION ends circles.
NEWER = """
WITH RECURSIVE wording AS (
  SELECT id AS memory, id AS root FROM unnest(%(ids)s::uuid[]) AS given(id)
  UNION
  SELECT link.older_id, wording.root
  FROM wording JOIN memories_succession link
    ON link.newer_id = wording.memory AND link.in_effect AND link.kind <> 'formerly'
),
newer AS (
  SELECT wording.root, link.newer_id AS memory
  FROM wording JOIN memories_succession link
    ON link.older_id = wording.memory AND link.in_effect AND link.kind = 'formerly'
  UNION
  SELECT newer.root, link.newer_id
  FROM newer JOIN memories_succession link ON link.older_id = newer.memory AND link.in_effect
)
SELECT root, memory FROM newer WHERE root <> memory
"""


class Dated(Protocol):
    @property
    def id(self) -> UUID: ...

    @property
    def newer(self) -> UUID | None: ...


Memory = TypeVar("Memory", bound=Dated)


def put_current_first(
    rows: MemoryQuerySet, memories: Sequence[FoundMemory], *, limit: int, former: bool = True
) -> list[FoundMemory]:
    """Return up to `limit` of `memories`, of which the former ones are marked or, without `former`,
    left out. The current one takes the place of the former, also if it was not found itself, and
    the former follows it. `rows` are those that may be shown."""
    current = find_current(rows, [memory.id for memory in memories])
    if not current:
        return order_current_first(memories)[:limit]
    marked = {memory.id: replace(memory, now=_id_of(current, memory.id)) for memory in memories}
    missing = {
        item.pk: FoundMemory.of_row(item) for item in current.values() if item.pk not in marked
    }
    for memory in memories:
        newer = _id_of(current, memory.id)
        if newer in missing and not missing[newer].legs:
            at_place = replace(missing[newer], score=memory.score, relevance=memory.relevance)
            missing[newer] = replace(at_place, match=memory.match, legs=memory.legs)
    shown = order_current_first(list(marked.values()), missing)
    return [memory for memory in shown if former or not memory.formerly][:limit]


def find_current(rows: MemoryQuerySet, ids: Sequence[UUID]) -> dict[UUID, MemoryItem]:
    """Return for each former memory of `ids` the newest one among `rows` that contradicts it."""
    with connection.cursor() as cursor:
        cursor.execute(NEWER, {"ids": list(ids)})
        pairs = set(cursor.fetchall())
    if not pairs:
        return {}
    both = {pk for pair in pairs for pk in pair}
    items = rows.filter(pk__in=both).without_index_columns().in_bulk()
    newer: dict[UUID, list[MemoryItem]] = {}
    for root, memory in pairs:
        if memory not in items:
            continue
        # Two that contradict each other, as after a return to an old value: the later one holds.
        is_circle = (memory, root) in pairs and root in items
        if not is_circle or items[memory].timestamp_ms > items[root].timestamp_ms:
            newer.setdefault(root, []).append(items[memory])
    return {root: max(found, key=lambda item: item.timestamp_ms) for root, found in newer.items()}


def order_current_first(
    memories: Iterable[Memory], missing: Mapping[UUID, Memory] | None = None
) -> list[Memory]:
    """Return `memories` in their order, but the current one before each former one. One that is not
    among them is taken from `missing`."""
    memories = list(memories)
    by_id = {**(missing or {}), **{memory.id: memory for memory in memories}}
    ordered: dict[UUID, Memory] = {}
    for memory in memories:
        if memory.newer in by_id:
            ordered.setdefault(memory.newer, by_id[memory.newer])
        ordered.setdefault(memory.id, memory)
    return list(ordered.values())


def _id_of(current: Mapping[UUID, MemoryItem], former: UUID) -> UUID | None:
    return current[former].pk if former in current else None
