"""Reading memories: what fits a question, what came last, what was known at a moment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memories.models import Evidence, MemoryItem, Namespace, Succession
from memories.querysets import MemoryQuerySet
from memories.search import recall_counts
from memories.search.client_vectors import search_by_client_vectors
from memories.search.neighbors import add_neighbor_scores
from memories.states import Link
from memories.vectors import VectorSource
from retrieval.search import Hit, Leg, Mode, SearchRequest
from retrieval.search import search as search_passages

WORDS_COUNT_FROM = 250
"""Memories from which words take part by default beside a client's vectors: below, what is rare is not known."""
CANDIDATES = 50
"""Hits looked at when neighbours may lift one another."""


@dataclass(frozen=True)
class MemorySource:
    """An observation a memory rests on."""

    id: UUID
    text: str
    source: str
    recorded_at: datetime


@dataclass(frozen=True)
class FoundMemory:
    """A memory as it was found. `formerly` says that `now` speaks against it and is newer."""

    id: UUID
    text: str
    score: float = 0.0
    match: str = ""
    legs: Mapping[str, Leg] = field(default_factory=dict)
    context: str = ""
    speaker: str = ""
    bucket: str = ""
    importance: float = 0.5
    state: str = ""
    timestamp_ms: int = 0
    event_at: datetime | None = None
    sources: Sequence[MemorySource] = ()
    now: UUID | None = None

    @property
    def formerly(self) -> bool:
        return self.now is not None


@dataclass(frozen=True)
class SearchResult:
    memories: Sequence[FoundMemory]
    degraded: Sequence[str] = ()


def search(
    namespace: Namespace,
    query: str,
    *,
    limit: int = 10,
    mode: Mode | str | None = None,
    vectors: VectorSource | None = None,
    within: "MemoryQuerySet | None" = None,
    as_of: datetime | None = None,
    neighbours: float = 0.0,
    sources: bool = True,
    count_recalls: bool = True,
) -> SearchResult:
    """Return the memories of `namespace` that fit `query` best.

    `within` narrows them (a bucket, a source, a span of event time); `as_of` reads what was known then. `neighbours`
    lifts a memory by that share of the score of the ones written just before and after it: a question about a
    conversation often matches the turn beside the answer.
    """
    rows = rows_to_search(namespace, within, as_of)
    candidates = max(limit, CANDIDATES) if neighbours else limit
    if namespace.has_own_vectors and vectors is not None:
        hits, degraded = search_by_client_vectors(
            namespace,
            rows,
            query,
            vectors=vectors,
            limit=candidates,
            mode=mode or default_mode(namespace),
        )
    else:
        found = search_passages(
            rows,
            SearchRequest(
                query=query,
                scopes=[namespace.pk],
                limit=candidates,
                mode=mode,
                language=namespace.language,
            ),
        )
        hits, degraded = list(found.hits), found.degraded
    if neighbours:
        hits = add_neighbor_scores(namespace, hits, share=neighbours)
    memories = describe_hits(hits[:limit], sources=sources)
    if count_recalls:
        recall_counts.count_recalls(memory.id for memory in memories)
    return SearchResult(memories, degraded)


def latest(
    namespace: Namespace, *, begin: int = 1, count: int = 10, as_of: datetime | None = None
) -> list[FoundMemory]:
    """Return memories, latest first, from the `begin`-th on."""
    rows = rows_to_search(namespace, None, as_of).latest_first()[begin - 1 : begin - 1 + count]
    return [as_found_memory(item) for item in rows.defer("embedding", "search_vector")]


def as_found_memory(item: MemoryItem, hit: Hit | None = None) -> FoundMemory:
    return FoundMemory(
        id=item.pk,
        text=item.text,
        context=item.context,
        speaker=item.speaker,
        bucket=item.bucket,
        state=item.state,
        importance=item.importance,
        timestamp_ms=item.timestamp_ms,
        event_at=item.event_at,
        score=hit.score if hit else 0.0,
        match=hit.match if hit else "",
        legs=hit.legs if hit else {},
    )


def rows_to_search(
    namespace: Namespace, within: "MemoryQuerySet | None", as_of: datetime | None
) -> MemoryQuerySet:
    rows = (MemoryItem.objects.all() if within is None else within).of(namespace)
    return rows.active() if as_of is None else rows.as_of(as_of)


def default_mode(namespace: Namespace) -> Mode:
    few = len(namespace.memories.active().values_list("pk")[:WORDS_COUNT_FROM]) < WORDS_COUNT_FROM
    return Mode.VECTOR if few else Mode.HYBRID


def describe_hits(hits: Sequence[Hit], *, sources: bool) -> list[FoundMemory]:
    """Add what the rows say; a memory that another one speaks against comes after it."""
    items = MemoryItem.objects.defer("embedding", "search_vector").in_bulk([hit.id for hit in hits])
    memories = [as_found_memory(items[hit.id], hit) for hit in hits if hit.id in items]
    if not sources:
        return memories
    resting_on, now = sources_of(items), contradictions_of(items)
    memories = [
        replace(memory, sources=resting_on.get(memory.id, ()), now=now.get(memory.id))
        for memory in memories
    ]
    return order_newer_first(memories)


def sources_of(ids: Iterable[UUID]) -> dict[UUID, list[MemorySource]]:
    found: dict[UUID, list[MemorySource]] = {}
    rows = Evidence.objects.filter(memory__in=list(ids)).select_related("observation")
    for row in rows.order_by("observation__recorded_at", "pk"):
        seen = row.observation
        found.setdefault(row.memory_id, []).append(
            MemorySource(seen.pk, seen.text, seen.source, seen.recorded_at)
        )
    return found


def contradictions_of(ids: Iterable[UUID]) -> dict[UUID, UUID]:
    rows = Succession.objects.filter(
        older__in=list(ids), kind=Link.FORMERLY, in_effect=True, newer__state="active"
    )
    return dict(rows.order_by("newer__timestamp_ms").values_list("older_id", "newer_id"))


def order_newer_first(memories: list[FoundMemory]) -> list[FoundMemory]:
    """Move each outdated memory behind the one that speaks against it, if that was found too."""
    ordered: list[FoundMemory] = []
    waiting: dict[UUID, list[FoundMemory]] = {}
    present = {memory.id for memory in memories}
    placed: set[UUID] = set()
    for memory in memories:
        if memory.now in present and memory.now not in placed:
            waiting.setdefault(memory.now, []).append(memory)
            continue
        _place(memory, ordered, placed, waiting)
    return ordered + [late for group in waiting.values() for late in group if late.id not in placed]


def _place(
    memory: FoundMemory,
    ordered: list[FoundMemory],
    placed: set[UUID],
    waiting: dict[UUID, list[FoundMemory]],
) -> None:
    ordered.append(memory)
    placed.add(memory.id)
    for late in waiting.pop(memory.id, []):
        _place(late, ordered, placed, waiting)
