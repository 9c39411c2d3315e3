"""Search by a client's own vectors: exact distances, fused with the site's keyword search."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import FloatField, Value
from django.db.models.functions import Coalesce, NullIf
from pgvector.django import CosineDistance

from memories.models import Namespace
from memories.querysets import MemoryQuerySet
from memories.vectors import Vectors, VectorSource
from retrieval.search import Hit, Leg, Mode, SearchRequest, get_preset
from retrieval.search import search as search_passages
from retrieval.text import storage_flaw

NOT_A_NUMBER = Value("NaN", output_field=FloatField())
COLUMNS = ("pk", "text", "context", "metadata", "payload", "language", "updated_at", "away")


def search_by_client_vectors(
    namespace: Namespace,
    rows: MemoryQuerySet,
    query: str,
    *,
    vectors: VectorSource,
    limit: int,
    mode: Mode | str,
) -> tuple[list[Hit], Sequence[str]]:
    """Return hits among `rows` by the client's vectors, by words, or by both."""
    chosen_mode = Mode(mode)
    words = hits_by_words(namespace, rows, query, limit) if chosen_mode != Mode.VECTOR else {}
    if chosen_mode == Mode.KEYWORD:
        return list(words.values())[:limit], ()
    query_vectors = vectors.of_queries([query])
    if query_vectors is None:
        return list(words.values())[:limit], ("vector",)
    near = hits_by_vector(rows, query_vectors, limit)
    if not words:
        return near, ()
    near_ids = {hit.id for hit in near}
    also = hits_by_vector(
        rows.filter(pk__in=[pk for pk in words if pk not in near_ids]), query_vectors, len(words)
    )
    return fuse_hits(words, near, also)[:limit], ()


def hits_by_words(
    namespace: Namespace, rows: MemoryQuerySet, query: str, limit: int
) -> dict[UUID, Hit]:
    if storage_flaw(query) or not query.strip():
        return {}
    result = search_passages(
        rows,
        SearchRequest(
            query=query[:8000],
            scopes=[namespace.pk],
            limit=max(limit, get_preset("memory").k_keyword),
            mode=Mode.KEYWORD,
            language=namespace.language,
        ),
    )
    return {hit.id: hit for hit in result.hits}


def hits_by_vector(rows: MemoryQuerySet, query_vectors: Vectors, limit: int) -> list[Hit]:
    """Rank by exact cosine distance."""
    # The distance to a zero vector is NaN: count it as unrelated.
    distance = Coalesce(
        NullIf(CosineDistance("client_vector__vector", query_vectors[0]), NOT_A_NUMBER), Value(1.0)
    )
    ranked_rows = (
        rows.filter(client_vector__isnull=False)
        .annotate(away=distance)
        .order_by("away", "timestamp_ms")[:limit]
    )
    return [
        Hit(
            id=row[0],
            text=row[1],
            context=row[2],
            metadata=row[3],
            payload=row[4],
            language=row[5],
            updated_at=row[6],
            score=1 - row[7],
            legs={"vector": Leg(rank, 1 - row[7])},
            match="vector",
        )
        for rank, row in enumerate(ranked_rows.values_list(*COLUMNS), start=1)
    ]


def fuse_hits(words: dict[UUID, Hit], near: list[Hit], also: list[Hit]) -> list[Hit]:
    """Fuse scores as the site's statement does: keyword scores relative to the best one, cosines
    between the worst and the best."""
    weight = get_preset("memory").vector_weight
    similarities = {hit.id: hit.score for hit in (*near, *also)}
    best_word = max((hit.score for hit in words.values()), default=0.0) or 1.0
    low, high = min(similarities.values(), default=0.0), max(similarities.values(), default=0.0)
    ranks = {hit.id: hit.legs["vector"].rank for hit in near}
    hits = []
    for pk, hit in ({hit.id: hit for hit in near} | words).items():
        word = words[pk].score / best_word if pk in words else 0.0
        vector = (
            (similarities[pk] - low) / (high - low) if pk in similarities and high > low else 0.0
        )
        legs = {
            "keyword": words[pk].legs["keyword"] if pk in words else Leg(None, None),
            "vector": Leg(ranks.get(pk), similarities.get(pk)),
        }
        hits.append(replace(hit, score=(1 - weight) * word + weight * vector, legs=legs))
    return sorted(hits, key=lambda hit: (-hit.score, str(hit.id)))
