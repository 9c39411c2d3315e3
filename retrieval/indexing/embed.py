"""Embed passages: claim rows by lease, call the model without a lock, store the vectors of rows
whose text is unchanged.

The rows themselves are the queue (`embedded_rev < rev`), so a lost message loses no work, and the
rows of a killed worker are claimed again when their lease expires.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models import F, QuerySet
from pgvector import HalfVector

from retrieval.embedders import Embedder, Vectors, get_embedder
from retrieval.embedders.vector_cache import SHIPPED
from retrieval.errors import EmbedderDown
from retrieval.models import Passage

BATCH = 64
LEASE = timedelta(minutes=10)
PARKED_AFTER = 8
"""Tries. A parked passage is tried again when its text changes or by `reindex`."""
FIRST_WAIT = timedelta(seconds=5)

CLAIM = """
UPDATE {table} SET embed_after = now() + %(lease)s, embed_tries = embed_tries + 1
WHERE id IN (
  SELECT id FROM {table}
  WHERE embedded_rev < rev AND embed_tries < %(tries)s
    AND (embed_after IS NULL OR embed_after < now())
  ORDER BY embed_after NULLS FIRST, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
RETURNING id, rev, context, text, embed_tries
"""

STORE = """
UPDATE {table} AS passage
SET embedding = made.vector::halfvec, embedding_model = %(model)s, embedded_rev = made.rev,
  embed_after = NULL, embed_tries = 0, embed_error = ''
FROM unnest(%(ids)s::uuid[], %(revs)s::int[], %(vectors)s::text[]) AS made (id, rev, vector)
WHERE passage.id = made.id AND passage.rev = made.rev
  -- not by a process that does not know yet that all vectors were replaced
  AND NOT EXISTS (
    SELECT FROM retrieval_servingmodel AS in_use
    WHERE in_use.domain = %(domain)s AND in_use.model <> %(model)s
      AND in_use.model = ANY(%(shipped)s)
  )
"""

RELEASE = """
UPDATE {table} SET embed_after = now() + %(wait)s,
  embed_tries = greatest(embed_tries - %(forgiven)s, 0),
  embed_error = %(error)s
WHERE id = ANY(%(ids)s::uuid[]) AND embedded_rev < rev
"""


def pending_passages(model: type[Passage]) -> "QuerySet[Any]":
    """Return the rows without a current vector that will be tried again."""
    return model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__lt=PARKED_AFTER)


def parked_passages(model: type[Passage]) -> "QuerySet[Any]":
    """Return the rows that failed too often; `embed_error` says why."""
    return model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__gte=PARKED_AFTER)


def embed_pending(
    model: type[Passage],
    *,
    limit: int | None = None,
    embedder: Embedder | None = None,
    on_batch: Callable[[int], None] = lambda _done: None,
) -> int:
    """Embed up to `limit` passages without a current vector; return the number of stored vectors.

    Raises `EmbedderDown` when the model does not answer at all; the claimed rows are then released
    and their tries not counted. Never call it inside a transaction.
    """
    model_embedder = embedder or get_embedder(model.search_config.domain)
    store_count = claim_count = 0
    while limit is None or claim_count < limit:
        batch = claim_batch(model, BATCH if limit is None else min(BATCH, limit - claim_count))
        if not batch:
            break
        claim_count += len(batch)
        store_count += embed_batch(model, batch, model_embedder)
        on_batch(store_count)
    return store_count


def embed_batch(model: type[Passage], batch: Sequence[Passage], embedder: Embedder) -> int:
    try:
        vectors = embedder.embed_document([row.indexed_text for row in batch])
    except EmbedderDown as problem:
        if len(batch) == 1:
            release_batch(model, batch, str(problem))
            raise
        return embed_one_by_one(model, batch, embedder, problem)
    return store_batch(model, batch, vectors, embedder.name)


def embed_one_by_one(
    model: type[Passage], batch: Sequence[Passage], embedder: Embedder, problem: EmbedderDown
) -> int:
    """Embed each row alone, to find the text that the model refuses. If it refuses the first two
    texts, the model is down."""
    store_count, refusals = 0, []
    for row in batch:
        try:
            vectors = embedder.embed_document([row.indexed_text])
            store_count += store_batch(model, [row], vectors, embedder.name)
        except EmbedderDown as own_problem:
            refusals.append((row, str(own_problem)))
            if store_count == 0 and len(refusals) == 2:
                release_batch(model, batch, str(problem), forgiven=1)
                raise
    for row, reason in refusals:
        release_batch(model, [row], reason)
    return store_count


def claim_batch(model: type[Passage], limit: int) -> list[Passage]:
    """Lease up to `limit` stale rows; return them with the columns that `CLAIM` names."""
    values = {"lease": LEASE, "tries": PARKED_AFTER, "limit": limit}
    with transaction.atomic():
        return list(model._default_manager.raw(for_table(model, CLAIM), values))


def store_batch(model: type[Passage], batch: Sequence[Passage], vectors: Vectors, name: str) -> int:
    texts = [HalfVector(vector).to_text() for vector in vectors]
    values: dict[str, Any] = {"ids": [row.id for row in batch], "vectors": texts}
    values |= {"revs": [row.rev for row in batch], "model": name}
    values |= {"domain": model.search_config.domain, "shipped": list(SHIPPED)}
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(for_table(model, STORE), values)
        return int(cursor.rowcount)


def release_batch(
    model: type[Passage], batch: Sequence[Passage], reason: str, *, forgiven: int = 0
) -> None:
    """End the lease of `batch` after a failure; the wait doubles with each try not `forgiven`."""
    tries = max(row.embed_tries for row in batch) - forgiven
    wait = FIRST_WAIT * 2 ** min(tries, 10)  # at most 85 minutes
    values: dict[str, Any] = {"ids": [row.id for row in batch], "wait": wait}
    values |= {"forgiven": forgiven, "error": reason[:200]}
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(for_table(model, RELEASE), values)


def for_table(model: type[Passage], statement: str) -> str:
    return statement.format(table=connections["default"].ops.quote_name(model._meta.db_table))
