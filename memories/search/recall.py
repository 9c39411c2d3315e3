"""Memories by question, by time of recording, and as of a moment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memories.found_memory import FoundMemory, MemorySource
from memories.models import Evidence, MemoryItem, Namespace, Succession
from memories.querysets import MemoryQuerySet
from memories.search import recall_counts, turns
from memories.search.client_vectors import search_by_client_vectors
from memories.search.neighbors import add_neighbor_scores
from memories.states import LinkKind
from memories.vectors import VectorSource
from retrieval.errors import Invalid
from retrieval.search import Hit, Mode, Rerank, SearchRequest
from retrieval.search import search as search_passages

HYBRID_FROM = 250
"""Number of memories from which words are searched by default beside a client's vectors: with
fewer it is unknown which words are rare."""
OWN_SCALE = (
    "Leave out `least`: this namespace has the vectors of its client, whose scale is unknown."
)
CANDIDATES = 50
"""Hits read when scores of neighbours are added."""


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
    within: MemoryQuerySet | None = None,
    as_of: datetime | None = None,
    neighbours: float = 0.0,
    rerank: Rerank | str | None = None,
    least: float = 0.0,
    sources: bool = True,
    count_recalls: bool = True,
) -> RecallResult:
    """Return the memories of `namespace` that fit `query` best.

    `within` narrows the rows (a bucket, a source, a span of event time); `as_of` searches what was
    in use at that moment. `neighbours` adds that share of the scores of the memories written just
    before and after: a question about a conversation often matches the turn beside the answer.
    `rerank` has a model order the best ones, and `least` leaves out those of less relevance;
    neither is possible with a client's own vectors. Raise `Invalid` for `least` with those.
    """
    request = SearchRequest(
        query=query,
        scopes=[namespace.pk],
        limit=max(limit, CANDIDATES) if neighbours else limit,
        fields=(*turns.FIELDS, "turn_order"),
        candidates=turns.CANDIDATES,
        weigh=turns.weigh_turns,
        mode=mode,
        language=namespace.language,
        rerank=rerank,
        least=least,
    )
    rows = searchable_rows(namespace, within, as_of)
    hits, degraded = _find_hits(namespace, rows, request, vectors=vectors)
    if neighbours:
        hits = add_neighbor_scores(namespace, hits, share=neighbours)
    memories = _describe_hits(hits[:limit], sources=sources)
    if count_recalls:
        recall_counts.count_recalls(memory.id for memory in memories)
    return RecallResult(memories, degraded)


def _find_hits(
    namespace: Namespace,
    rows: MemoryQuerySet,
    request: SearchRequest,
    *,
    vectors: VectorSource | None,
) -> tuple[list[Hit], Sequence[str]]:
    """Search `rows` with the vectors of the namespace's client or with those of the site; return
    the hits and the legs that failed."""
    if not namespace.has_own_vectors or vectors is None:
        result = search_passages(rows, request)
        return list(result.hits), result.degraded
    if request.least:
        raise Invalid(OWN_SCALE)
    mode = request.mode or _default_mode(namespace)
    return search_by_client_vectors(rows, request, vectors=vectors, mode=mode)


def latest(
    namespace: Namespace, *, begin: int = 1, count: int = 10, as_of: datetime | None = None
) -> list[FoundMemory]:
    """Return memories, latest first, from the `begin`-th on."""
    rows = searchable_rows(namespace, None, as_of).latest_first()[begin - 1 : begin - 1 + count]
    return [FoundMemory.of_row(item) for item in rows.without_index_columns()]


def searchable_rows(
    namespace: Namespace, within: MemoryQuerySet | None, as_of: datetime | None
) -> MemoryQuerySet:
    rows = (MemoryItem.objects.all() if within is None else within).of(namespace)
    return rows.active() if as_of is None else rows.as_of(as_of)


def _default_mode(namespace: Namespace) -> Mode:
    few = len(namespace.memories.active().values_list("pk")[:HYBRID_FROM]) < HYBRID_FROM
    return Mode.VECTOR if few else Mode.HYBRID


def _describe_hits(hits: Sequence[Hit], *, sources: bool) -> list[FoundMemory]:
    """Add the rows; with `sources`, a contradicted memory comes after the newer one."""
    items = MemoryItem.objects.without_index_columns().in_bulk([hit.id for hit in hits])
    memories = [FoundMemory.of_row(items[hit.id], hit) for hit in hits if hit.id in items]
    if not sources:
        return memories
    sources_by_id: dict[UUID, list[MemorySource]] = {}
    evidence = Evidence.objects.filter(memory__in=list(items)).select_related("observation")
    for row in evidence.order_by("observation__recorded_at", "pk"):
        raw = row.observation
        source = MemorySource(raw.pk, raw.text, raw.source, raw.recorded_at)
        sources_by_id.setdefault(row.memory_id, []).append(source)
    contradictions = Succession.objects.filter(
        older__in=list(items), kind=LinkKind.FORMERLY, in_effect=True, newer__state="active"
    ).order_by("newer__timestamp_ms")
    newer_ids = dict(contradictions.values_list("older_id", "newer_id"))
    memories = [
        replace(memory, sources=sources_by_id.get(memory.id, ()), now=newer_ids.get(memory.id))
        for memory in memories
    ]
    return _order_newer_first(memories)


def _order_newer_first(memories: list[FoundMemory]) -> list[FoundMemory]:
    """Move each contradicted memory behind the newer one, if that was found too."""
    ids = {memory.id for memory in memories}
    by_id: dict[UUID, FoundMemory] = {}
    waiting: dict[UUID, list[FoundMemory]] = {}

    def place(memory: FoundMemory) -> None:
        by_id[memory.id] = memory
        for older in waiting.pop(memory.id, []):
            place(older)

    for memory in memories:
        if memory.now in ids and memory.now not in by_id:
            waiting.setdefault(memory.now, []).append(memory)
        else:
            place(memory)
    # Memories that contradict each other in a circle wait for ever: they come last.
    return [*by_id.values(), *(memory for group in waiting.values() for memory in group)]
