"""Another embedding model while people search."""

from collections.abc import Iterator

import numpy as np
import pytest

from bench.passages import BenchPassage
from retrieval.embedders import Vectors, get_embedder
from retrieval.indexing.embed import embed_pending, pending_passages
from retrieval.indexing.model_switch import (
    foreign_passages,
    passages_to_stage,
    stage_vectors,
    swap_vectors,
)

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
