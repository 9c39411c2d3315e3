"""A result of a search shows the place of its text that the question is about."""

import pytest

from worlds.excerpts import excerpt_around

FILLING = "The tide decides, and nobody else does. " * 20


def shown(text: str, question: str) -> str:
    return " ".join(excerpt_around(text, question).split()[:40])


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Lanterns burn blue near the drowned.", "what do blue lanterns mean"),
        ("Паромщик берёт два медяка за переправу.", "сколько стоит переправа у паромщика"),
        ("등대지기는 밤마다 종을 울린다.", "등대지기 종"),
    ],
)
def test_the_sentence_that_is_asked_for_is_shown(sentence: str, question: str) -> None:
    text = f"{FILLING}{sentence} {FILLING}"
    assert sentence in shown(text, question)
    assert excerpt_around(text, question).startswith("… ")


def test_a_rare_word_decides_and_not_a_frequent_one() -> None:
    text = f"{FILLING}The undertow pulls. {FILLING}"
    assert "undertow" in shown(text, "what decides the tide of the undertow")


def test_a_text_whose_beginning_answers_stays_as_it_is() -> None:
    text = f"The undertow pulls. {FILLING}"
    assert excerpt_around(text, "undertow") == text


def test_without_a_common_word_the_text_begins_at_its_beginning() -> None:
    assert excerpt_around(FILLING, "лунный свет") == FILLING
    assert excerpt_around("", "moon") == ""
