"""Whether what was found answers the question: the signs, and what is made of them."""

import numpy as np
import pytest

from memories.buckets.abstention import signs, support_of, thresholds
from memories.buckets.answer_signs import FALLING, RISING, answer_model, signs_of_answer
from memories.buckets.question_fit import Candidate
from memories.similarity.question_type import (
    asked_kinds,
    content_words,
    has_kind,
    is_same_word,
    stem,
)
from memories.text_caches import clear_text_caches

FARE = "The fare over the river is one penny."
BELL = "The bell of Ferrymark rings at noon."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("granaries", "granary"),
        ("Tansy's", "Tansy"),
        ("турникеты", "турникетов"),
        ("Ратмира", "Ратмир"),
        ("다리에서", "다리는"),
        ("아르덴이", "아르덴은"),
        ("Ёжик", "ежика"),
    ],
)
def test_forms_of_a_word_are_one_word(one: str, other: str) -> None:
    assert is_same_word(stem(one), stem(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("bell", "belt"), ("маяк", "маяться"), ("다리", "다음"), ("", "fare"), ("요", "")],
)
def test_other_words_are_not(one: str, other: str) -> None:
    assert not is_same_word(stem(one), stem(other))


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How old is Brannoc?", ["number"]),
        ("когда истекает токен", ["time"]),
        ("누가 다리를 지었어?", ["name"]),
        ("Where is it, and why?", ["place", "reason"]),
        ("Tell me about the bell", []),
    ],
)
def test_a_question_tells_the_kind_of_its_answer(question: str, kinds: list[str]) -> None:
    assert asked_kinds(question) == kinds


@pytest.mark.parametrize(
    ("text", "kind", "question", "does"),
    [
        ("The fare is 3 pennies.", "number", "How much is the fare?", True),
        ("Ferry 3 leaves from the pier.", "number", "How much is ferry 3?", False),
        ("The ferry was built by Tobin.", "name", "Who built the ferry?", True),
        ("The ferry was built for Tobin.", "name", "Who is it that Tobin knows?", False),
        ("Отпуск у Егора в июле.", "time", "Когда отпуск у Егора?", True),
        ("Егор любит чай.", "time", "Когда отпуск у Егора?", False),
        ("태민이 그렸다.", "name", "누가 그렸어?", True),
    ],
)
def test_a_memory_offers_what_is_asked_for_or_not(
    text: str, kind: str, question: str, does: bool
) -> None:
    assert has_kind(text, kind, to=question) is does


def test_words_that_only_ask_are_not_what_a_question_is_about() -> None:
    assert content_words("What is the fare over the river?") == ["fare", "river"]
    assert content_words("Сколько стоит переправа?") == ["стоит", "переправа"]


def test_a_question_of_words_without_a_stem_does_no_harm() -> None:
    """Of 돼 and 다 nothing may be left without their endings."""
    assert signs("다 돼?", [Candidate("다 됐다.", 0.4)]).cosine == pytest.approx(0.4)
    assert signs("?", [Candidate(FARE, None), Candidate("", None)]).fit == 0.0
    assert signs("Anything?", []).cosine == 0.0


def test_the_trait_counts_where_the_subject_is_known() -> None:
    """Both questions name the bell; only one asks for what is remembered of it."""
    found = [Candidate(BELL, 0.6), Candidate(FARE, 0.1)]
    when, weight = (
        signs("When does the bell of Ferrymark ring?", found),
        signs("How heavy is the bell of Ferrymark?", found),
    )
    assert when.fit == 1.0 > weight.fit
    assert when.strangers > weight.strangers
    assert when.missing == 0.0 < weight.missing
    assert (when.lacking, weight.lacking) == (0.0, 1.0)


def test_a_word_that_does_not_stand_there_fits_by_its_vector() -> None:
    near = {"dog": [1.0, 0.0], "beagle": [0.9, 0.436]}
    made = lambda words: np.array([near.get(word, [0.0, 1.0]) for word in words])  # noqa: E731
    found = [Candidate("Mira keeps a beagle.", 0.5)]
    assert signs("Whose dog barks?", found, made).strangers == pytest.approx(
        (0.9 + 1.0) / 2, abs=0.01
    )
    assert signs("Whose dog barks?", found).strangers == 0.0


def test_vectors_take_part_only_where_they_were_fitted() -> None:
    fitted = next(name for name in thresholds() if name != "any")
    refuse = lambda words: pytest.fail("no vectors of words were wanted")  # noqa: E731
    question = "What is the toll over the river?"
    bare = support_of(question, [Candidate(FARE, None)], embedder=fitted, words=refuse)
    assert support_of(question, [Candidate(FARE, 0.9)], embedder="another", words=refuse) == bare
    assert bare[1] == thresholds()["any"]


def test_words_are_forgotten() -> None:
    stem("ferrymen")
    clear_text_caches()
    assert stem.cache_info().currsize == 0


@pytest.mark.parametrize("name", sorted(thresholds()))
def test_a_long_question_is_not_answered_by_a_text_about_something_else(name: str) -> None:
    """The words that it lacks used to add up: .29 for ten words, .98 for thirty."""
    first = "apprentice bellows copper drawbridge engraving falcon granary harbour inkwell jester"
    second = "kestrel lantern marigold needle orchard parchment quarry rosemary saffron tannery"
    third = "umbrella velvet walnut yeoman almanac barley cobbler dagger ember furnace"
    words = f"{first} {second} {third}".split()
    text = Candidate("Oda rows to the mill at noon.", 0.05)
    made = lambda words: np.zeros((len(words), 2))  # noqa: E731
    for count in (10, 20, 30):
        question = f"Which {' '.join(words[:count])}?"
        support, threshold = support_of(question, [text], embedder=name, words=made)
        assert support < threshold.least, count


SIGNS = answer_model().signs


@pytest.mark.parametrize("number", range(20))
def test_a_memory_with_more_of_the_question_never_has_less_support(number: int) -> None:
    chance = np.random.default_rng(number)
    low = dict(zip(SIGNS, chance.random(len(SIGNS)).tolist(), strict=True))
    high = {
        name: value + (name in RISING) * chance.random() - (name in FALLING) * chance.random()
        for name, value in low.items()
    }
    assert answer_model().by_trees(low) <= answer_model().by_trees(high)


def test_the_trees_tell_an_answer_from_another_trait_of_the_subject() -> None:
    found = [Candidate(BELL, 0.6), Candidate(FARE, 0.1)]
    embedder = answer_model().embedders[0]
    refuse = lambda words: pytest.fail("no vectors of words were wanted")  # noqa: E731
    when, least = support_of(
        "When does the bell of Ferrymark ring?", found, embedder=embedder, words=refuse
    )
    weight, _ = support_of(
        "How heavy is the bell of Ferrymark?", found, embedder=embedder, words=refuse
    )
    assert weight < least.least < 0.8 < when


def test_signs_of_nothing_are_no_support() -> None:
    assert signs_of_answer("Who rings?", []) == {}
    assert answer_model().support("Who rings?", []) == 0.0
    assert set(signs_of_answer("?", [Candidate("", 0.0)])) == set(SIGNS)
