"""Change the embedding model of a live system, which searches the old vectors meanwhile.

`stage_vectors` computes the new vectors beside the old ones, in any number of runs; `swap_vectors`
replaces them in one transaction, with the name of the model in use. A search reads both in one
snapshot: a process that embedded its question with the old model embeds it again with the new one.

Between the models that come with the product the worker does this by itself when the settings name
another one (`is_switch_due`): after an upgrade nothing has to be run. Any other change of the model
takes the command `switch_model`, because a process cannot run both.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connections, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from retrieval.embedders import Embedder, get_configured_embedder, get_embedder
from retrieval.embedders.vector_cache import SHIPPED
from retrieval.indexing import passage_indexes
from retrieval.indexing.embed import batch_size
from retrieval.indexing.stop_request import is_stop_requested
from retrieval.models import Passage, ServingModel, StagedVector

SAMPLE = 1_000
"""Rows that tell which model an installation uses."""

SWAP = """
UPDATE {table} AS passage
SET embedding = staged.vector, embedding_model = staged.model, embedded_rev = staged.rev,
  embed_after = NULL, embed_tries = 0, embed_error = ''
FROM retrieval_stagedvector AS staged
WHERE staged.domain = %(domain)s AND staged.model = %(model)s
  AND staged.passage_id = passage.id AND staged.rev = passage.rev
"""


def record_serving_model(model: type[Passage]) -> None:
    """Record the model of the vectors that `model` has, if it has some and none is recorded."""
    domain = model.search_config.domain
    if ServingModel.objects.filter(domain=domain).exists():
        return
    rows = model._default_manager.exclude(embedding_model="")
    names = Counter(rows.values_list("embedding_model", flat=True)[:SAMPLE])
    if names:
        name = names.most_common(1)[0][0]
        ServingModel.objects.get_or_create(domain=domain, defaults={"model": name})


def is_switch_due(model: type[Passage]) -> bool:
    """Whether this process searches `model` by another embedder than the settings name."""
    domain = model.search_config.domain
    configured = get_configured_embedder(domain).name
    return configured in SHIPPED and get_embedder(domain).name != configured


def foreign_passages(model: type[Passage], embedder: Embedder) -> "QuerySet[Any]":
    """Return the rows whose vector is of another model: no search uses it."""
    return model._default_manager.exclude(embedding_model__in=["", embedder.name])


def passages_to_stage(model: type[Passage], embedder: Embedder) -> "QuerySet[Any]":
    """Return the rows without a vector of `embedder` for their present text, in use or staged."""
    vectors = StagedVector.objects.filter(domain=model.search_config.domain, model=embedder.name)
    vectors = vectors.filter(passage_id=OuterRef("pk"), rev=OuterRef("rev"))
    in_use = model._default_manager.filter(embedding_model=embedder.name, embedded_rev=F("rev"))
    rows = model._default_manager.exclude(Exists(in_use.filter(pk=OuterRef("pk"))))
    return rows.exclude(Exists(vectors))


def stage_vectors(
    model: type[Passage],
    embedder: Embedder,
    on_batch: Callable[[int], None] = lambda _done: None,
    *,
    limit: int | None = None,
) -> int:
    """Compute the missing vectors, about `limit` at most, and return their number; staged ones are
    not computed again."""
    count = 0
    key = {"domain": model.search_config.domain, "model": embedder.name}
    unique_fields, update_fields = ["domain", "model", "passage_id"], ["rev", "vector"]
    pending = passages_to_stage(model, embedder).only("id", "rev", "text", "context")
    while not is_stop_requested() and (rows := list(pending[: batch_size(embedder)])):
        vectors = embedder.embed_document([row.indexed_text for row in rows])
        new_rows = [
            StagedVector(**key, passage_id=row.pk, rev=row.rev, vector=vector)
            for row, vector in zip(rows, vectors, strict=True)
        ]
        # A passage that changed since it was staged has a row already.
        StagedVector.objects.bulk_create(
            new_rows,
            update_conflicts=True,
            update_fields=update_fields,
            unique_fields=unique_fields,
        )
        count += len(rows)
        on_batch(count)
        if limit is not None and count >= limit:
            break
    return count


def swap_vectors(model: type[Passage], embedder: Embedder) -> int:
    """Replace the vectors by the staged ones, index them and return their number. Text that changed
    since staging is embedded by the sweep."""
    values = {"domain": model.search_config.domain, "model": embedder.name}
    connection = connections["default"]
    record_serving_model(model)  # so that there is a row to lock
    with transaction.atomic(), connection.cursor() as cursor:
        # Who stores vectors locks this row too: those of the former model are stored before the
        # statement that replaces them, or not at all.
        ServingModel.objects.select_for_update().filter(domain=values["domain"]).first()
        cursor.execute(SWAP.format(table=connection.ops.quote_name(model._meta.db_table)), values)
        swap_count = int(cursor.rowcount)
        mark_foreign_stale(model, embedder)
        ServingModel.objects.update_or_create(
            domain=values["domain"], defaults={"model": embedder.name}
        )
        StagedVector.objects.filter(domain=values["domain"]).delete()
    # CREATE INDEX CONCURRENTLY cannot run inside the transaction.
    rows = model._default_manager.filter(embedding_model=embedder.name)
    if rows.count() >= passage_indexes.ROWS_WORTH_A_VECTOR_INDEX:
        passage_indexes.create_vector_index(model, embedder=embedder.name, dims=embedder.dims)
    passage_indexes.drop_vector_indexes(model, keep=embedder.name)
    return swap_count


def mark_late_stale(model: type[Passage], *, since: datetime | None = None) -> int:
    """Mark rows stale that were written `since`, or ever, with vectors of another model than the
    one in use (earlier versions stored some after a switch); return their number. Does nothing in a
    process that cannot run the model in use: it could not embed them."""
    embedder = get_embedder(model.search_config.domain)
    if not ServingModel.objects.filter(pk=model.search_config.domain, model=embedder.name).exists():
        return 0
    rows = foreign_passages(model, embedder)
    rows = rows.filter(updated_at__gt=since) if since else rows
    return rows.update(embedded_rev=0, embed_tries=0, embed_after=None)


def mark_foreign_stale(model: type[Passage], embedder: Embedder) -> int:
    """Mark the rows of another model stale, for the sweep to embed; return their number."""
    return foreign_passages(model, embedder).update(embedded_rev=0, embed_tries=0, embed_after=None)
