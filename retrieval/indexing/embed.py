"""Embed passages: claim rows by lease, call the model without a lock, store the vectors of rows
whose text is unchanged.

The rows themselves are the queue (`embedded_rev < rev`), so a lost message loses no work, and the
rows of a killed worker are claimed again when their lease expires.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models import F, QuerySet
from pgvector import HalfVector

from retrieval.embedders import Embedder, Vectors, get_embedder
from retrieval.errors import EmbedderDown
from retrieval.indexing.stop_request import is_stop_requested
from retrieval.models import PARKED_AFTER, Passage, ServingModel

logger = logging.getLogger(__name__)

BATCH = 64
"""Passages of one call, unless the embedder names another number: a local one takes seconds for a
few, and a worker that shall end waits for its call."""
LEASE = timedelta(minutes=3)
"""Longer than any call; a hosted embedder gives up after two minutes."""
FIRST_WAIT = timedelta(seconds=5)
OTHER_MODEL = (
    "the vectors in use are of another model; if the settings are the new ones, run "
    "manage.py switch_model, else restart this process with the new ones"
)

# A time later than any lease or wait is of a clock that was set back since.
# Chosen apart: a subquery that locks may be read again for each row of the table, and then skips
# what it has locked and claims more rows than the limit.
CLAIM = """
WITH chosen AS MATERIALIZED (
  SELECT id FROM {table}
  WHERE embedded_rev < rev AND embed_tries < %(tries)s
    AND (embed_after IS NULL OR embed_after < now()
      OR embed_after > now() + greatest(%(lease)s, %(first)s * 2 ^ least(embed_tries, 10)))
  ORDER BY embed_after NULLS FIRST, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE {table} AS passage SET embed_after = now() + %(lease)s, embed_tries = embed_tries + 1
FROM chosen WHERE passage.id = chosen.id
RETURNING passage.id, passage.rev, passage.context, passage.text, passage.embed_tries
"""

STORE = """
UPDATE {table} AS passage
SET embedding = made.vector::halfvec, embedding_model = %(model)s, embedded_rev = made.rev,
  embed_after = NULL, embed_tries = 0, embed_error = ''
FROM unnest(%(ids)s::uuid[], %(revs)s::int[], %(vectors)s::text[]) AS made (id, rev, vector)
WHERE passage.id = made.id AND passage.rev = made.rev
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
    if not is_in_use(model, model_embedder.name):
        domain = model.search_config.domain
        logger.warning("%s: not embedded by %s: %s", domain, model_embedder.name, OTHER_MODEL)
        return 0
    store_count = claim_count = 0
    size = batch_size(model_embedder)
    while (limit is None or claim_count < limit) and not is_stop_requested():
        batch = claim_batch(model, size if limit is None else min(size, limit - claim_count))
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
    values = {"lease": LEASE, "first": FIRST_WAIT, "tries": PARKED_AFTER, "limit": limit}
    with transaction.atomic():
        return list(model._default_manager.raw(for_table(model, CLAIM), values))


def store_batch(model: type[Passage], batch: Sequence[Passage], vectors: Vectors, name: str) -> int:
    """Store the vectors of rows with the same text as when they were claimed; none when all vectors
    were replaced by those of another model meanwhile. Return the number of stored ones."""
    texts = [HalfVector(vector).to_text() for vector in vectors]
    values: dict[str, Any] = {"ids": [row.id for row in batch], "vectors": texts}
    values |= {"revs": [row.rev for row in batch], "model": name}
    with transaction.atomic(), connections["default"].cursor() as cursor:
        # Locked first and in a statement of its own: one statement would wait for the swap of the
        # vectors at the rows, and then still see the former model in its snapshot.
        if is_in_use(model, name, lock=True):
            cursor.execute(for_table(model, STORE), values)
            return int(cursor.rowcount)
    release_batch(model, batch, OTHER_MODEL, forgiven=1)
    return 0


def is_in_use(model: type[Passage], name: str, *, lock: bool = False) -> bool:
    """Whether the vectors of `model` are those of the embedder `name`, or of no recorded one yet.
    `lock` keeps them from being replaced until the transaction ends."""
    rows = ServingModel.objects.filter(domain=model.search_config.domain)
    if lock:
        rows = rows.select_for_update(no_key=True)
    return rows.values_list("model", flat=True).first() in (None, name)


def batch_size(embedder: Embedder) -> int:
    """Return the number of passages of one call: `texts_per_call` of the embedder, if it has it."""
    return getattr(embedder, "texts_per_call", BATCH)


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
