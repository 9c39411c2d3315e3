"""A set of documents as passages, through the product's own pipeline."""

from collections.abc import Callable
from uuid import UUID

from django.db.models import QuerySet

from bench.datasets import Dataset, Document
from bench.passages import BenchPassage, BenchPassageBase, BenchTurn
from retrieval.embedders import get_embedder
from retrieval.indexing import count_words, embed_pending, index_vectors, mark_foreign_stale
from retrieval.search import Preset, clear_row_estimates, get_preset

BATCH = 500
CONTENT = ("text", "context", "surroundings", "language")


def model_for(dataset: Dataset) -> type[BenchPassageBase]:
    return BenchTurn if dataset.is_dialogue else BenchPassage


def preset_for(dataset: Dataset) -> Preset:
    """Talk is measured with the preset of agent memory, everything else with that of lore."""
    return get_preset("memory" if dataset.is_dialogue else "lore")


def tenant(dataset: Dataset, scope: str) -> str:
    return f"{dataset.name}/{scope}"[-80:]


def shelve(dataset: Dataset, say: Callable[[str], None]) -> dict[UUID, str]:
    """Bring the table in step with `dataset` and embed what is new; return the document id of each
    passage."""
    model, embedder = model_for(dataset), get_embedder("bench")
    _write(model, dataset)
    mark_foreign_stale(model, embedder)
    embed_pending(
        model, embedder=embedder, on_batch=lambda done: say(f"{dataset.name}: embedded {done}")
    )
    count_words(model, [tenant(dataset, scope) for scope in dataset.scopes])
    index_vectors(model)
    clear_row_estimates()
    return dict(_rows(model, dataset).values_list("pk", "key"))


def _rows(model: type[BenchPassageBase], dataset: Dataset) -> "QuerySet[BenchPassageBase]":
    return model.objects.filter(tenant__startswith=f"{dataset.name}/")


def _write(model: type[BenchPassageBase], dataset: Dataset) -> None:
    stored = {
        (row.tenant, row.key): row
        for row in _rows(model, dataset).defer("embedding", "search_vector")
    }
    fresh, changed = [], []
    for document in dataset.documents:
        row = stored.pop((tenant(dataset, document.scope), document.id), None)
        if row is None:
            fresh.append(
                model(key=document.id, tenant=tenant(dataset, document.scope), **_content(document))
            )
        elif any(getattr(row, name) != value for name, value in _content(document).items()):
            for name, value in _content(document).items():
                setattr(row, name, value)
            changed.append(row)
    model.objects.filter(pk__in=[row.pk for row in stored.values()]).delete()
    model.objects.bulk_create(fresh, batch_size=BATCH)
    model.objects.bulk_update(changed, CONTENT, batch_size=BATCH)


def _content(document: Document) -> dict[str, str]:
    return {name: getattr(document, name) for name in CONTENT}
