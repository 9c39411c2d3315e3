"""Give passages their vectors: claim by lease, ask the model with nothing held, store if the text is still the same.

The rows themselves are the queue (`embedded_rev < rev`), so a lost message loses nothing, and a killed worker's rows
come back when their lease has run out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connections, transaction
from django.db.models import F, QuerySet
from pgvector import HalfVector

from retrieval.embedders import Embedder, Vectors, get_embedder
from retrieval.errors import EmbedderDown
from retrieval.models import Passage

BATCH = 64
LEASE = timedelta(minutes=10)
PARKED_AFTER = 8
"""Tries. A parked passage is shown in the admin and tried again when its text changes or on `reindex`."""
FIRST_WAIT = timedelta(seconds=5)

CLAIM = """
UPDATE {table} SET embed_after = now() + %(lease)s, embed_tries = embed_tries + 1
WHERE id IN (
  SELECT id FROM {table}
  WHERE embedded_rev < rev AND embed_tries < %(tries)s AND (embed_after IS NULL OR embed_after < now())
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
"""

RELEASE = """
UPDATE {table} SET embed_after = now() + %(wait)s, embed_tries = greatest(embed_tries - %(forgiven)s, 0),
  embed_error = %(error)s
WHERE id = ANY(%(ids)s::uuid[]) AND embedded_rev < rev
"""


@dataclass(frozen=True)
class Claimed:
    id: UUID
    rev: int
    context: str
    text: str
    tries: int

    @property
    def indexed_text(self) -> str:
        return f"{self.context}\n{self.text}" if self.context else self.text


def pending(model: type[Passage]) -> "QuerySet[Any]":
    """Rows that want a vector and will be tried."""
    return model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__lt=PARKED_AFTER)


def parked(model: type[Passage]) -> "QuerySet[Any]":
    """Rows that were given up; `embed_error` says why."""
    return model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__gte=PARKED_AFTER)


def embed_pending(
    model: type[Passage],
    *,
    limit: int | None = None,
    embedder: Embedder | None = None,
    on_batch: Callable[[int], None] = lambda _done: None,
) -> int:
    """Embed (at most `limit`) passages that have no vector or an outdated one; return how many were stored.

    Raise `EmbedderDown` when the model answers nothing at all; the claimed rows are then free again, their tries not
    counted. Never call it inside a transaction.
    """
    maker = embedder or get_embedder(model.search_config.domain)
    stored = taken = 0
    while limit is None or taken < limit:
        claimed = _claim(model, BATCH if limit is None else min(BATCH, limit - taken))
        if not claimed:
            break
        taken += len(claimed)
        stored += _embed(model, claimed, maker)
        on_batch(stored)
    return stored


def _embed(model: type[Passage], claimed: Sequence[Claimed], embedder: Embedder) -> int:
    try:
        vectors = embedder.embed_document([row.indexed_text for row in claimed])
    except EmbedderDown as problem:
        if len(claimed) == 1:
            _give_back(model, claimed, str(problem))
            raise
        return _one_by_one(model, claimed, embedder, problem)
    return _store(model, claimed, vectors, embedder.name)


def _one_by_one(
    model: type[Passage], claimed: Sequence[Claimed], embedder: Embedder, problem: EmbedderDown
) -> int:
    """Find the text that the model refuses; if it refuses the first two it meets, the model is down, not the text."""
    stored, refused = 0, []
    for row in claimed:
        try:
            stored += _store(
                model, [row], embedder.embed_document([row.indexed_text]), embedder.name
            )
        except EmbedderDown as own_problem:
            refused.append((row, str(own_problem)))
            if stored == 0 and len(refused) == 2:
                _give_back(model, claimed, str(problem), forgiven=1)
                raise
    for row, reason in refused:
        _give_back(model, [row], reason)
    return stored


def _claim(model: type[Passage], limit: int) -> list[Claimed]:
    with transaction.atomic(), connections["default"].cursor() as cursor:
        values: dict[str, Any] = {"lease": LEASE, "tries": PARKED_AFTER, "limit": limit}
        cursor.execute(_for(model, CLAIM), values)
        return [Claimed(*row) for row in cursor.fetchall()]


def _store(model: type[Passage], claimed: Sequence[Claimed], vectors: Vectors, name: str) -> int:
    made: dict[str, Any] = {
        "model": name,
        "ids": [row.id for row in claimed],
        "revs": [row.rev for row in claimed],
        "vectors": [HalfVector(vector).to_text() for vector in vectors],
    }
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(_for(model, STORE), made)
        return int(cursor.rowcount)


def _give_back(
    model: type[Passage], claimed: Sequence[Claimed], reason: str, *, forgiven: int = 0
) -> None:
    tries = max(row.tries for row in claimed) - forgiven
    values: dict[str, Any] = {
        "ids": [row.id for row in claimed],
        "wait": FIRST_WAIT * 2 ** min(tries, 10),
        "forgiven": forgiven,
        "error": reason[:200],
    }
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(_for(model, RELEASE), values)


def _for(model: type[Passage], statement: str) -> str:
    return statement.format(table=connections["default"].ops.quote_name(model._meta.db_table))
