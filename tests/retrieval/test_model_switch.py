"""Another embedding model while people search."""

import threading
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from django.db import connection, transaction

from bench.passages import BenchPassage
from retrieval.embedders import Vectors, get_embedder, serving_models
from retrieval.indexing.embed import claim_batch, embed_pending, pending_passages, store_batch
from retrieval.indexing.model_switch import (
    foreign_passages,
    mark_late_stale,
    passages_to_stage,
    stage_vectors,
    swap_vectors,
)
from retrieval.models import ServingModel
from tests.row_locks import wait_for_lock

pytestmark = pytest.mark.django_db(transaction=True)


class NewEmbedder:
    """As if a new model: other vectors, another width."""

    name, dims = "next", 8

    def embed_document(self, texts: list[str]) -> Vectors:
        rows = get_embedder().embed_document(texts)[:, :8] + 0.01
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    embed_query = embed_document


@pytest.fixture(autouse=True)
def _passages(transactional_db: None) -> Iterator[None]:
    BenchPassage.objects.bulk_create(
        [BenchPassage(key=str(n), text=f"Passage number {n}") for n in range(5)]
    )
    embed_pending(BenchPassage)
    yield
    BenchPassage.objects.all().delete()
    ServingModel.objects.all().delete()


def models_in_use() -> set[str]:
    return set(BenchPassage.objects.values_list("embedding_model", flat=True))


def test_the_old_vectors_serve_until_the_new_ones_are_complete() -> None:
    assert stage_vectors(BenchPassage, NewEmbedder()) == 5
    assert models_in_use() == {get_embedder().name}
    assert swap_vectors(BenchPassage, NewEmbedder()) == 5
    assert models_in_use() == {"next"}
    assert not pending_passages(BenchPassage).exists()


def test_an_interrupted_staging_goes_on_where_it_stopped() -> None:
    def stop(_done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage_vectors(BenchPassage, NewEmbedder(), on_batch=stop)
    BenchPassage.objects.create(key="late", text="Written meanwhile")
    assert stage_vectors(BenchPassage, NewEmbedder()) == 1


def test_text_that_changed_after_staging_is_embedded_with_the_new_model() -> None:
    stage_vectors(BenchPassage, NewEmbedder())
    BenchPassage.objects.filter(key="3").update(text="Something else")
    assert passages_to_stage(BenchPassage, NewEmbedder()).count() == 1
    assert swap_vectors(BenchPassage, NewEmbedder()) == 4
    embed_pending(BenchPassage, embedder=NewEmbedder())
    assert models_in_use() == {"next"}
    assert not foreign_passages(BenchPassage, NewEmbedder()).exists()


def test_a_batch_that_was_embedded_during_the_switch_leaves_no_former_vector() -> None:
    former = get_embedder("bench")
    BenchPassage.objects.create(key="late", text="Written meanwhile")
    batch = claim_batch(BenchPassage, 10)
    vectors = former.embed_document([row.indexed_text for row in batch])
    stage_vectors(BenchPassage, NewEmbedder())
    swap_vectors(BenchPassage, NewEmbedder())
    assert store_batch(BenchPassage, batch, vectors, former.name) == 0
    assert models_in_use() == {"next"}


def test_a_batch_that_waits_for_the_switch_to_commit_leaves_no_former_vector() -> None:
    former = get_embedder("bench")
    ServingModel.objects.create(domain="bench", model=former.name)
    stage_vectors(BenchPassage, NewEmbedder())
    BenchPassage.objects.update(embedded_rev=0)
    batch = claim_batch(BenchPassage, 10)
    vectors = former.embed_document([row.indexed_text for row in batch])
    stored: list[int] = []

    def store() -> None:
        with closing(connection):
            stored.append(store_batch(BenchPassage, batch, vectors, former.name))

    writer = threading.Thread(target=store)
    with transaction.atomic():
        swap_vectors(BenchPassage, NewEmbedder())
        writer.start()
        wait_for_lock()
    writer.join(timeout=30)
    assert stored == [0]
    assert models_in_use() == {"next"}


def test_a_former_vector_of_an_earlier_version_is_swept() -> None:
    current = get_embedder("bench").name
    ServingModel.objects.create(domain="bench", model=current)
    BenchPassage.objects.filter(key="3").update(embedding_model="former hosted model")
    assert mark_late_stale(BenchPassage) == 1
    assert embed_pending(BenchPassage) == 1
    assert models_in_use() == {current}


def test_a_process_with_other_settings_claims_nothing() -> None:
    ServingModel.objects.create(domain="bench", model="a hosted model")
    serving_models.read_serving_models()
    BenchPassage.objects.create(key="late", text="Written meanwhile")
    assert embed_pending(BenchPassage) == 0
    assert mark_late_stale(BenchPassage) == 0
    assert BenchPassage.objects.get(key="late").embed_tries == 0
