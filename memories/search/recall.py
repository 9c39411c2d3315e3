"""Memories by question, by time of recording, and as of a moment."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memories.found_memory import FoundMemory, MemorySource
from memories.models import Evidence, MemoryItem, Namespace
from memories.querysets import MemoryQuerySet
from memories.search import recall_counts, turns
from memories.search.answers import order_by_answers
from memories.search.client_vectors import search_by_client_vectors
from memories.search.current import order_current_first, put_current_first
from memories.search.filters import MemoryFilter
from memories.search.in_world_days import days_of_campaigns
from memories.search.named import NamedMemories, find_named
from memories.search.neighbors import add_neighbor_scores
from memories.search.observed import find_by_observation
from memories.search.outdated import mark_outdated
from memories.search.question_map import map_question
from memories.search.relevant import keep_relevant
from memories.search.summaries import put_summaries_last
from memories.similarity.reversed_deeds import tells_the_reverse
from memories.vectors import VectorSource
from retrieval.errors import Invalid
from retrieval.search import MAX_HITS, Hit, Mode, Rerank, SearchRequest
from retrieval.search import search as search_passages

HYBRID_FROM = 250
"""Number of memories from which words are searched by default beside a client's vectors: with
fewer it is unknown which words are rare."""
OWN_SCALE = (
    "Leave out `least`: this namespace has the vectors of its client, whose scale is unknown."
)
CANDIDATES = 50
"""Hits read when scores of neighbours are added."""
SPARE = 10
"""Hits read beyond those asked for, because former memories and labels are left out."""


@dataclass(frozen=True)
class RecallResult:
    """`named`: those that the question names."""

    memories: Sequence[FoundMemory]
    degraded: Sequence[str] = ()
    named: NamedMemories = field(default_factory=NamedMemories)


def search(
    namespace: Namespace,
    query: str,
    *,
    limit: int = 10,
    mode: Mode | str | None = None,
    vectors: VectorSource | None = None,
    within: MemoryQuerySet | None = None,
    where: MemoryFilter | None = None,
    as_of: datetime | None = None,
    neighbours: float = 0.0,
    rerank: Rerank | str | None = None,
    least: float = 0.0,
    share: float = 0.0,
    former: bool = True,
    reads_answers: bool = False,
    sources: bool = True,
    count_recalls: bool = True,
) -> RecallResult:
    """Return the memories of `namespace` that fit `query` best. What holds now comes before what
    held once (`FoundMemory.formerly`), which is left out without `former`. When the question names
    what some memories are about, those alone are found (`memories.search.named`).

    `where` filters the memories, and `within` narrows the rows by any query; `as_of` searches
    what was in use at that moment. `neighbours` adds that share of the scores of the memories
    written just before and after: a question about a conversation often matches the turn beside
    the answer. `rerank` has a model order the best ones, and `least` leaves out those of less
    relevance; neither is possible with a client's own vectors. Raise `Invalid` for `least` with
    those. With `reads_answers`, and with `rerank`, a model reads the question with each of the
    first memories, in some 50 ms.
    `share` leaves out memories of less than this share of the best one's relevance, unless
    `neighbours` raise the scores of others.
    """
    rows = searchable_rows(namespace, within, as_of)
    rows = where.apply(rows) if where else rows
    named = find_named(rows, query)
    request = replace(
        _request_for(namespace, query, named),
        limit=_hits_to_find(limit, has_neighbours=bool(neighbours)),
        mode=mode,
        rerank=rerank,
        least=least,
    )
    hits, degraded = _find_hits(namespace, named.narrow(rows), request, vectors=vectors)
    # Scores with those of neighbours say nothing of a memory's own relevance.
    share = 0.0 if neighbours else share
    hits = add_neighbor_scores(namespace, hits, share=neighbours) if neighbours else hits
    reads_answers = reads_answers or request.check_rerank() not in (None, Rerank.OFF)
    selection = HitSelection(
        *(namespace, query, rows, named, limit, former),
        has_least=bool(least),
        reads_answers=reads_answers,
    )
    memories = selection.choose(hits, share=share)
    memories = _add_sources(memories) if sources else memories
    if count_recalls:
        recall_counts.count_recalls(memory.id for memory in memories)
    return RecallResult(memories, degraded, named)


def _request_for(namespace: Namespace, query: str, named: NamedMemories) -> SearchRequest:
    """Return the request of a question to a memory, in which turns of conversations are found by
    those around them."""
    return SearchRequest(
        query=query,
        scopes=[namespace.pk],
        name_hits=named.passages(),
        fields=(*turns.FIELDS, "turn_order"),
        candidates=turns.CANDIDATES,
        weigh=turns.weigh_turns,
        map_vector=map_question,
        language=namespace.language,
    )


@dataclass(frozen=True)
class HitSelection:
    """What of the hits of a search is shown, and in which order."""

    namespace: Namespace
    query: str
    rows: MemoryQuerySet
    named: NamedMemories
    limit: int
    former: bool
    has_least: bool
    reads_answers: bool

    def choose(self, hits: Sequence[Hit], *, share: float) -> list[FoundMemory]:
        """Return up to `limit` memories of at least `share` of the best one's relevance, what holds
        now first, with what is found by its observation alone."""
        limit, former = self.limit, self.former
        found = self.named.leave_out_labels(_describe_hits(hits[: limit + SPARE]))
        if self.reads_answers:
            found = order_by_answers(self.query, found)
        found.sort(key=lambda memory: tells_the_reverse(self.query, memory.text))
        found = put_summaries_last(self.namespace, found)
        # Before any is left out: what seems to hold now takes the place of what it may outdate.
        found = order_current_first(mark_outdated(self.namespace, self.query, found))
        # Without the former memories some places are left for others.
        found = found[: limit if former else limit + SPARE]
        found = keep_relevant(found, share=share, named=self.named.holds)
        memories = put_current_first(self.rows, found, limit=limit, former=former)
        # What is found by its observation alone has no relevance to compare with.
        return memories if self.has_least else self.add_observed(memories)

    def add_observed(self, memories: Sequence[FoundMemory]) -> list[FoundMemory]:
        found = {memory.id for memory in memories}
        rows = self.named.narrow(self.rows)
        observed = find_by_observation(self.namespace, self.query, rows, found=found)
        observed = put_current_first(self.rows, observed, limit=len(observed), former=self.former)
        memories = [*memories[: self.limit - len(observed)], *observed]
        return put_summaries_last(self.namespace, memories)


def _hits_to_find(limit: int, *, has_neighbours: bool) -> int:
    wanted = max(limit, min(limit + SPARE, MAX_HITS))
    return max(wanted, CANDIDATES) if has_neighbours else wanted


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
    if namespace.only_campaign:
        rows = rows.of_campaign(namespace.only_campaign)
    if as_of is not None:
        return rows.as_of(as_of)
    # NPCs forget; what they knew at an earlier moment they did not know by an in-world day.
    return (
        rows.active().with_valid_time().remembered_on(days_of_campaigns(namespace))
        if namespace.npc_id
        else rows.active().with_valid_time()
    )


def _default_mode(namespace: Namespace) -> Mode:
    few = len(namespace.memories.active().values_list("pk")[:HYBRID_FROM]) < HYBRID_FROM
    return Mode.VECTOR if few else Mode.HYBRID


def _describe_hits(hits: Sequence[Hit]) -> list[FoundMemory]:
    items = MemoryItem.objects.without_index_columns().in_bulk([hit.id for hit in hits])
    return [FoundMemory.of_row(items[hit.id], hit) for hit in hits if hit.id in items]


def _add_sources(memories: Sequence[FoundMemory]) -> list[FoundMemory]:
    sources_by_id: dict[UUID, list[MemorySource]] = {}
    ids = [memory.id for memory in memories]
    evidence = Evidence.objects.filter(memory__in=ids).select_related("observation")
    for row in evidence.order_by("observation__recorded_at", "pk"):
        raw = row.observation
        source = MemorySource(raw.pk, raw.text, raw.source, raw.recorded_at)
        sources_by_id.setdefault(row.memory_id, []).append(source)
    return [replace(memory, sources=sources_by_id.get(memory.id, ())) for memory in memories]
