"""The vectors of the scale benches are like those of texts."""

import numpy as np
import pytest

from bench.real_vectors import stored_vectors
from bench.scaled_world import QUESTION_COSINE, ScaledWorld
from knowledge.models import LorePassage
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from retrieval.embedders import Vectors, get_embedder, unit_rows
from retrieval.indexing import embed_pending
from worlds.models import World


def texts(count: int = 400) -> Vectors:
    """Vectors near a surface of few dimensions, as those of texts are."""
    random = np.random.default_rng(2)
    surface = random.normal(size=(count, 8)) @ random.normal(size=(8, 64))
    noise = random.normal(size=(count, 64))
    return unit_rows((surface + 0.5 * noise).astype(np.float32))


def nearest_cosine(some: Vectors, others: Vectors) -> float:
    return float(np.median((some @ others.T).max(axis=1)))


def test_generated_vectors_are_as_near_to_each_other_as_real_ones() -> None:
    real = texts()
    generated = ScaledWorld(real).vectors(np.random.default_rng(3), 400)
    assert np.allclose(np.linalg.norm(generated, axis=1), 1, atol=1e-5)
    assert nearest_cosine(generated[:200], generated[200:]) == pytest.approx(
        nearest_cosine(real[:200], real[200:]), abs=0.1
    )


def test_generated_vectors_differ_however_many_there_are() -> None:
    generated = ScaledWorld(texts()).vectors(np.random.default_rng(3), 1_500)
    assert len(np.unique(generated.round(4), axis=0)) == 1_500


def test_the_answer_is_among_the_nearest_passages_of_most_questions() -> None:
    world, random = ScaledWorld(texts()), np.random.default_rng(3)
    passages = world.vectors(random, 300)
    cosines = np.stack([world.question_vector(random, each) for each in passages]) @ passages.T
    assert np.diag(cosines).mean() == pytest.approx(QUESTION_COSINE, abs=0.1)
    nearer = (cosines > np.diag(cosines)[:, None]).sum(axis=1)
    assert np.mean(nearer < 10) > 0.7


def test_stored_vectors_are_read_as_one_matrix(world: World) -> None:
    upsert_lore(world, LoreIn(title="Ferrymark", body="A town by a river.", visibility="public"))
    embed_pending(LorePassage)
    vectors = stored_vectors(LorePassage)
    assert vectors.shape == (LorePassage.objects.count(), get_embedder("lore").dims)
    assert vectors.dtype == np.float32
