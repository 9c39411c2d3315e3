"""Memories by question, by time of recording, and as of a moment."""

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
"""Number of memories from which words are searched by default beside a client's vectors: with
fewer it is unknown which words are rare."""
CANDIDATES = 50
"""Hits read when scores of neighbours are added."""


@dataclass(frozen=True)
class MemorySource:
    """An observation a memory is derived from."""

    id: UUID
    text: str
    source: str
    recorded_at: datetime


@dataclass(frozen=True)
class FoundMemory:
    """A memory that a search or a listing found. `now` is the newer memory that contradicts it."""

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
class RecallResult:
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
) -> RecallResult:
    """Return the memories of `namespace` that fit `query` best.

    `within` narrows the rows (a bucket, a source, a span of event time); `as_of` searches what was
    in use at that moment. `neighbours` adds that share of the scores of the memories written just
    before and after: a question about a conversation often matches the turn beside the answer.
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
        result = search_passages(
            rows,
            SearchRequest(
                query=query,
                scopes=[namespace.pk],
                limit=candidates,
                mode=mode,
                language=namespace.language,
            ),
        )
        hits, degraded = list(result.hits), result.degraded
    if neighbours:
        hits = add_neighbor_scores(namespace, hits, share=neighbours)
    memories = describe_hits(hits[:limit], sources=sources)
    if count_recalls:
        recall_counts.count_recalls(memory.id for memory in memories)
    return RecallResult(memories, degraded)


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
    """Add the rows; with `sources`, a contradicted memory comes after the newer one."""
    items = MemoryItem.objects.defer("embedding", "search_vector").in_bulk([hit.id for hit in hits])
    memories = [as_found_memory(items[hit.id], hit) for hit in hits if hit.id in items]
    if not sources:
        return memories
    sources_by_id, newer = sources_of(items), contradictions_of(items)
    memories = [
        replace(memory, sources=sources_by_id.get(memory.id, ()), now=newer.get(memory.id))
        for memory in memories
    ]
    return order_newer_first(memories)


def sources_of(ids: Iterable[UUID]) -> dict[UUID, list[MemorySource]]:
    sources: dict[UUID, list[MemorySource]] = {}
    rows = Evidence.objects.filter(memory__in=list(ids)).select_related("observation")
    for row in rows.order_by("observation__recorded_at", "pk"):
        seen = row.observation
        sources.setdefault(row.memory_id, []).append(
            MemorySource(seen.pk, seen.text, seen.source, seen.recorded_at)
        )
    return sources


def contradictions_of(ids: Iterable[UUID]) -> dict[UUID, UUID]:
    rows = Succession.objects.filter(
        older__in=list(ids), kind=Link.FORMERLY, in_effect=True, newer__state="active"
    )
    return dict(rows.order_by("newer__timestamp_ms").values_list("older_id", "newer_id"))


def order_newer_first(memories: list[FoundMemory]) -> list[FoundMemory]:
    """Move each contradicted memory behind the newer one, if that was found too."""
    found_ids = {memory.id for memory in memories}
    ordered: list[FoundMemory] = []
    placed_ids: set[UUID] = set()
    waiting: dict[UUID, list[FoundMemory]] = {}

    def place(memory: FoundMemory) -> None:
        ordered.append(memory)
        placed_ids.add(memory.id)
        for older in waiting.pop(memory.id, []):
            place(older)

    for memory in memories:
        if memory.now in found_ids and memory.now not in placed_ids:
            waiting.setdefault(memory.now, []).append(memory)
        else:
            place(memory)
    # Memories that contradict each other in a circle wait for ever: they come last.
    return ordered + [memory for group in waiting.values() for memory in group]
