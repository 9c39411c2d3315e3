"""After an upgrade the worker replaces the vectors of the former default while people search."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from bench.passages import BenchPassage
from retrieval import tasks
from retrieval.embedders import get_configured_embedder, get_embedder, serving_models, vector_cache
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.indexing.embed import embed_pending
from retrieval.indexing.model_switch import mark_late_stale, record_serving_model
from retrieval.models import ServingModel
from retrieval.search import SearchRequest, get_preset, search

pytestmark = pytest.mark.django_db(transaction=True)
PASSAGES = 150


class FormerEmbedder(HashingEmbedder):
    """As if the default of an earlier version."""

    name = "former@256"


class CurrentEmbedder(HashingEmbedder):
    """As if the default of this version. A word has another place in its vectors."""

    name = "current@256"

    def embed_document(self, texts: list[str]) -> Any:
        return super().embed_document([text[::-1] for text in texts])

    embed_query = embed_document


@pytest.fixture(autouse=True)
def _upgraded(transactional_db: None, settings: Any, monkeypatch: Any) -> Iterator[None]:
    here = f"{__name__}."
    shipped = {each.name: here + each.__name__ for each in (FormerEmbedder, CurrentEmbedder)}
    monkeypatch.setattr(vector_cache, "SHIPPED", shipped)
    monkeypatch.setattr("retrieval.indexing.model_switch.SHIPPED", shipped)
    monkeypatch.setattr(tasks, "passage_models", lambda: [BenchPassage])
    settings.EMBEDDER = here + "FormerEmbedder"
    BenchPassage.objects.bulk_create(
        [BenchPassage(key=str(n), text=f"Ledger number {n} of the house") for n in range(PASSAGES)]
    )
    embed_pending(BenchPassage)
    settings.EMBEDDER = here + "CurrentEmbedder"
    record_serving_model(BenchPassage)
    serving_models.read_serving_models()
    yield
    BenchPassage.objects.all().delete()
    ServingModel.objects.all().delete()


def ask(number: int) -> Any:
    preset = get_preset("lore")
    request = SearchRequest(query=f"Which is ledger number {number}?", scopes=[], preset=preset)
    return search(BenchPassage.objects.all(), request)


def switch_all() -> None:
    while tasks.switch_vectors():
        pass


def test_the_former_vectors_serve_after_the_upgrade() -> None:
    assert get_configured_embedder("bench").name == CurrentEmbedder.name
    assert get_embedder("bench").name == FormerEmbedder.name
    assert ask(3).degraded == ()


def test_the_worker_replaces_them_without_a_command() -> None:
    switch_all()
    assert get_embedder("bench").name == CurrentEmbedder.name
    assert set(BenchPassage.objects.values_list("embedding_model", flat=True)) == {"current@256"}
    assert ServingModel.objects.get(domain="bench").model == "current@256"
    assert ask(3).hits[0].text.startswith("Ledger number 3 ")
    assert tasks.switch_vectors() == 0


def test_a_process_that_missed_the_switch_learns_of_it_by_its_next_search() -> None:
    switch_all()
    serving_models.set_serving_models({"bench": FormerEmbedder.name})
    result = ask(3)
    assert result.degraded == ()
    assert all(hit.legs["vector"].score for hit in result.hits)
    assert get_embedder("bench").name == CurrentEmbedder.name


def test_a_writer_that_missed_the_switch_stores_no_former_vector() -> None:
    switch_all()
    late = BenchPassage.objects.create(key="late", text="Written late")
    assert embed_pending(BenchPassage, embedder=FormerEmbedder()) == 0
    late.refresh_from_db()
    assert late.embedding_model == ""
    BenchPassage.objects.update(embed_after=None, embed_tries=0)
    assert embed_pending(BenchPassage) == 1


def test_a_row_that_brings_a_former_vector_is_embedded_again() -> None:
    switch_all()
    BenchPassage.objects.filter(key="7").update(embedding_model=FormerEmbedder.name)
    mark_late_stale(BenchPassage, since=timezone.now() - tasks.SWITCH_WINDOW)
    embed_pending(BenchPassage)
    row = BenchPassage.objects.get(key="7")
    assert (row.embedding_model, row.embedded_rev) == (CurrentEmbedder.name, row.rev)


def test_no_search_fails_or_mixes_models_while_vectors_are_replaced() -> None:
    over, faults, answers = threading.Event(), Counter[str](), Counter[str]()

    def search_on() -> None:
        with closing(connection):
            number = 0
            while not over.is_set():
                number = (number + 1) % PASSAGES
                try:
                    result = ask(number)
                except Exception as problem:  # any failure counts
                    faults[repr(problem)] += 1
                    continue
                answers[get_embedder("bench").name] += 1
                scores = [hit.legs["vector"].score for hit in result.hits]
                if result.degraded or None in scores:
                    faults[f"degraded {result.degraded} {scores}"] += 1

    readers = [threading.Thread(target=search_on) for _ in range(3)]
    for reader in readers:
        reader.start()
    while answers.total() < 30:
        over.wait(0.01)
    switch_all()
    seen = answers.total()
    while answers.total() < seen + 30:
        over.wait(0.01)
    over.set()
    for reader in readers:
        reader.join()
    assert not faults
    assert answers["current@256"]
