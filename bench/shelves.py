"""A set of documents as passages, through the product's own pipeline."""

from collections.abc import Callable
from uuid import UUID

from bench.datasets import Dataset, Document
from bench.passages import BenchPassage
from retrieval import selectivity, statistics
from retrieval.embedders import get_embedder
from retrieval.ingest.embed import embed_pending
from retrieval.ingest.index import index_vectors

BATCH = 500


def tenant(dataset: Dataset, scope: str) -> str:
    return f"{dataset.name}/{scope}"[-80:]


def shelve(dataset: Dataset, say: Callable[[str], None]) -> dict[UUID, str]:
    """Bring the table in step with `dataset` and embed what is new; return the document id of each passage."""
    _write(dataset)
    wanted = BenchPassage.objects.filter(tenant__startswith=f"{dataset.name}/").count()
    embedder = get_embedder("bench")
    BenchPassage.objects.exclude(embedding_model__in=["", embedder.name]).update(embedded_rev=0)
    embed_pending(
        BenchPassage, embedder=embedder, on_batch=lambda done: say(f"{dataset.name}: embedded {done}/{wanted}")
    )
    statistics.refresh(BenchPassage, [tenant(dataset, scope) for scope in dataset.scopes])
    index_vectors(BenchPassage)
    selectivity.forget()
    rows = BenchPassage.objects.filter(tenant__startswith=f"{dataset.name}/")
    return dict(rows.values_list("pk", "key"))


def _write(dataset: Dataset) -> None:
    rows = BenchPassage.objects.filter(tenant__startswith=f"{dataset.name}/").defer("embedding", "search_vector")
    stored = {(row.tenant, row.key): row for row in rows}
    fresh, changed = [], []
    for document in dataset.documents:
        row = stored.pop((tenant(dataset, document.scope), document.id), None)
        if row is None:
            fresh.append(_passage(dataset, document))
        elif (row.text, row.context, row.language) != (document.text, document.context, document.language):
            row.text, row.context, row.language = document.text, document.context, document.language
            changed.append(row)
    BenchPassage.objects.filter(pk__in=[row.pk for row in stored.values()]).delete()
    BenchPassage.objects.bulk_create(fresh, batch_size=BATCH)
    BenchPassage.objects.bulk_update(changed, ["text", "context", "language"], batch_size=BATCH)


def _passage(dataset: Dataset, document: Document) -> BenchPassage:
    return BenchPassage(
        key=document.id,
        tenant=tenant(dataset, document.scope),
        text=document.text,
        context=document.context,
        language=document.language,
    )
