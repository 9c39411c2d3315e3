"""Another embedding model on a live system: the old vectors serve until the new ones are complete.

`stage` computes the new vectors beside the old, in as many runs as it takes; `swap` puts them in
place in one transaction. Processes that still ask with the old model then find no vectors of
theirs, search by words and say so (`degraded`), until they are restarted with the new setting.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from retrieval.embedders import Embedder
from retrieval.indexing import passage_indexes
from retrieval.models import Passage, StagedVector

BATCH = 64

SWAP = """
UPDATE {table} AS passage
SET embedding = staged.vector, embedding_model = staged.model, embedded_rev = staged.rev,
  embed_after = NULL, embed_tries = 0, embed_error = ''
FROM retrieval_stagedvector AS staged
WHERE staged.domain = %(domain)s AND staged.model = %(model)s
  AND staged.passage_id = passage.id AND staged.rev = passage.rev
"""


def foreign_passages(model: type[Passage], embedder: Embedder) -> "QuerySet[Any]":
    """Rows whose vector another model made: it takes part in no search."""
    return model._default_manager.exclude(embedding_model__in=["", embedder.name])


def passages_to_stage(model: type[Passage], embedder: Embedder) -> "QuerySet[Any]":
    """Rows that have no vector of `embedder` for their present text, neither in use nor staged."""
    staged_vectors = StagedVector.objects.filter(
        domain=model.search_config.domain,
        model=embedder.name,
        passage_id=OuterRef("pk"),
        rev=OuterRef("rev"),
    )
    in_use = model._default_manager.filter(embedding_model=embedder.name, embedded_rev=F("rev"))
    return model._default_manager.exclude(Exists(in_use.filter(pk=OuterRef("pk")))).exclude(
        Exists(staged_vectors)
    )


def stage_vectors(
    model: type[Passage], embedder: Embedder, on_batch: Callable[[int], None] = lambda _done: None
) -> int:
    """Compute what is missing; return how many vectors that were. What was staged before is not
    computed again."""
    count = 0
    while rows := list(
        passages_to_stage(model, embedder).only("id", "rev", "text", "context")[:BATCH]
    ):
        vectors = embedder.embed_document([row.indexed_text for row in rows])
        save_staged(model, embedder, rows, vectors)
        count += len(rows)
        on_batch(count)
    return count


def swap_vectors(model: type[Passage], embedder: Embedder) -> int:
    """Put the staged vectors in place and index them; return how many. Text that changed since is
    embedded soon."""
    values = {"domain": model.search_config.domain, "model": embedder.name}
    connection = connections["default"]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SWAP.format(table=connection.ops.quote_name(model._meta.db_table)), values)
        swap_count = int(cursor.rowcount)
        mark_foreign_stale(model, embedder)
        StagedVector.objects.filter(domain=values["domain"]).delete()
    if (
        model._default_manager.filter(embedding_model=embedder.name).count()
        >= passage_indexes.ROWS_WORTH_A_VECTOR_INDEX
    ):
        passage_indexes.create_vector_index(model, embedder=embedder.name, dims=embedder.dims)
    passage_indexes.drop_vector_indexes(model, keep=embedder.name)
    return swap_count


def mark_foreign_stale(model: type[Passage], embedder: Embedder) -> int:
    """Mark rows of another model stale, so that the sweep embeds them with this one; return how
    many."""
    return foreign_passages(model, embedder).update(embedded_rev=0, embed_tries=0, embed_after=None)


def save_staged(
    model: type[Passage], embedder: Embedder, rows: Sequence[Any], vectors: Any
) -> None:
    rows_to_save = [
        StagedVector(
            domain=model.search_config.domain,
            model=embedder.name,
            passage_id=row.pk,
            rev=row.rev,
            vector=vector,
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]
    StagedVector.objects.bulk_create(
        rows_to_save,
        update_conflicts=True,
        update_fields=["rev", "vector"],
        unique_fields=["domain", "model", "passage_id"],
    )
