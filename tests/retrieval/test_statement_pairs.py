"""Two texts read together by the model of pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.embedders.adapted_e5 import AdaptedWeightFile, Adapter, encoder_path
from retrieval.embedders.e5 import WeightFile, e5_files
from retrieval.statement_pairs import has_pair_model, prepare_pair_model, read_pair
from retrieval.statement_pairs.pair_reader import ADAPTER_FILE

QUESTIONS = [
    (
        "Who is the harbour pilot?",
        "Old Wenna steers every ship into the harbour.",
        "Old Wenna is afraid of cats.",
    ),
    (
        "Кто проводит корабли в гавань?",
        "Каждое судно в порт заводит старая Венна.",
        "Старая Венна боится кошек.",
    ),
    (
        "항구로 배를 이끄는 사람은 누구야?",
        "들어오는 배는 모두 웬나 할머니가 이끈다.",
        "웬나 할머니는 고양이를 무서워한다.",
    ),
]
UPDATES = [
    ("Bram runs the mill.", "Bram sold the mill to his cousin.", "Bram bakes bread on Fridays."),
    ("Мельницей владеет Брам.", "Брам продал мельницу двоюродному брату.", "Брам печёт хлеб."),
    ("방앗간 주인은 브람이다.", "브람은 방앗간을 사촌에게 팔았다.", "브람은 빵을 굽는다."),
]
STATEMENTS = [
    (
        "Edda sold her mare to the miller.",
        "The miller bought the mare from Edda.",
        "Edda never parted with her mare.",
    ),
    (
        "Эдда продала кобылу мельнику.",
        "Мельник купил у Эдды кобылу.",
        "Эдда так и не рассталась с кобылой.",
    ),
    (
        "에다는 방앗간 주인에게 암말을 팔았다.",
        "방앗간 주인이 에다에게서 암말을 샀다.",
        "에다는 암말을 끝내 팔지 않았다.",
    ),
]


@pytest.mark.parametrize(("question", "answer", "other"), QUESTIONS)
def test_a_memory_that_answers_is_told_from_another_trait(
    question: str, answer: str, other: str
) -> None:
    assert read_pair(question, answer).answers > read_pair(question, other).answers


@pytest.mark.parametrize(("before", "after", "beside"), UPDATES)
def test_what_ends_a_statement_is_told_from_what_stands_beside_it(
    before: str, after: str, beside: str
) -> None:
    assert read_pair(before, after).outdated > 0.5 > read_pair(before, beside).outdated


@pytest.mark.parametrize(("statement", "same", "opposite"), STATEMENTS)
def test_the_same_in_other_words_is_told_from_the_opposite(
    statement: str, same: str, opposite: str
) -> None:
    reworded, denied = read_pair(statement, same), read_pair(statement, opposite)
    assert reworded.same > denied.same
    assert reworded.follows > denied.follows
    assert denied.excluded > reworded.excluded


def test_scores_are_probabilities_of_any_texts() -> None:
    for one, other in (("", ""), ("\ud800", "?"), ("a " * 5000, "b"), ("칼" * 900, "🙂")):
        scores = vars(read_pair(one, other))
        assert all(0 <= value <= 1 for value in scores.values()), scores


def test_an_adapter_changes_the_upper_layers_alone(tmp_path: Path) -> None:
    path = tmp_path / "adapter.npz"
    down, up = np.ones((384, 2), np.float16), np.full((2, 384), 0.5, np.float16)
    bias = np.ones(384, np.float16)
    np.savez(path, **{"l9.q.w.down": down, "l9.q.w.up": up, "l9.q.b": bias})
    weights, adapted = WeightFile(e5_files()[0]), AdaptedWeightFile(e5_files()[0], Adapter(path))
    assert np.allclose(adapted.matrix("l9.q.w", 384), weights.matrix("l9.q.w", 384) + 1)
    assert np.allclose(adapted.floats("l9.q.b"), weights.floats("l9.q.b") + 1)
    assert np.array_equal(adapted.matrix("l0.q.w", 384), weights.matrix("l0.q.w", 384))
    numbers = np.array([7, 70_000])
    assert np.array_equal(adapted.rows("emb.word", numbers), weights.rows("emb.word", numbers))


def test_another_adapter_is_another_converted_model(tmp_path: Path) -> None:
    other = tmp_path / "adapter.npz"
    np.savez(other, head=np.zeros((768, 6)))
    assert encoder_path("pairs", other) != encoder_path("pairs", ADAPTER_FILE)


def test_without_the_weights_there_is_no_model(settings: Any, tmp_path: Path) -> None:
    assert has_pair_model()
    settings.MODEL_PACKAGES = str(tmp_path)
    assert not has_pair_model()
    prepare_pair_model()  # nothing to do
