"""Search by a client's own vectors: exact distances, fused with the site's keyword search."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import FloatField, Value
from django.db.models.functions import Coalesce, NullIf
from pgvector.django import CosineDistance

from memories.querysets import MemoryQuerySet
from memories.vectors import Vectors, VectorSource
from retrieval.search import Hit, Leg, Mode, SearchRequest, get_preset
from retrieval.search import search as search_passages
from retrieval.text import storage_flaw

NOT_A_NUMBER = Value("NaN", output_field=FloatField())
COLUMNS = ("pk", "text", "context", "metadata", "payload", "language", "updated_at", "away")


def search_by_client_vectors(
    rows: MemoryQuerySet, request: SearchRequest, *, vectors: VectorSource, mode: Mode | str
) -> tuple[list[Hit], Sequence[str]]:
    """Return hits among `rows` by the client's vectors, by words, or by both, and the legs that
    could not take part. There may be more hits than the request's limit."""
    mode, query = Mode(mode), request.query
    limit = request.limit if mode != Mode.HYBRID else max(request.limit, request.candidates)
    words: dict[UUID, Hit] = {}
    # A query that cannot be searched by words (empty, or with a NUL) may still have a vector.
    if mode != Mode.VECTOR and query.strip() and not storage_flaw(query):
        k = max(limit, get_preset("memory").k_keyword)
        by_words = replace(request, query=query[:8000], limit=k, mode=Mode.KEYWORD)
        words = {hit.id: hit for hit in search_passages(rows, by_words).hits}
    if mode == Mode.KEYWORD:
        return list(words.values())[:limit], ()
    query_vectors = vectors.of_queries([query])
    if query_vectors is None:
        return list(words.values())[:limit], ("vector",)
    near = hits_by_vector(rows, query_vectors, limit, request.fields)
    if not words:
        return near, ()
    near_ids = {hit.id for hit in near}
    # Hits by words alone need a cosine too, or the fusion would count them as unrelated.
    others = rows.filter(pk__in=[pk for pk in words if pk not in near_ids])
    also = hits_by_vector(others, query_vectors, len(words), request.fields)
    hits = _fuse_hits(words, near, also)[:limit]
    return request.weigh(query, hits) if request.weigh else hits, ()


def hits_by_vector(
    rows: MemoryQuerySet, query_vectors: Vectors, limit: int, fields: Sequence[str]
) -> list[Hit]:
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
            fields=dict(zip(fields, row[len(COLUMNS) :], strict=True)),
        )
        for rank, row in enumerate(ranked_rows.values_list(*COLUMNS, *fields), start=1)
    ]


def _fuse_hits(words: dict[UUID, Hit], near: list[Hit], also: list[Hit]) -> list[Hit]:
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
