"""Misspelled words are recognized, in three scripts; known ones, however inflected, stay."""

import pytest

from retrieval.text import WordIndex

INDEX = WordIndex(
    [
        "grappled",
        "fireball",
        "shield",
        "щит",
        "огненный",
        "стрела",
        "화염구",
        "은신",
        "용",
        "파이어",
    ],
    ["grapple", "attack"],
)


@pytest.mark.parametrize(
    "word", ["fireball", "grapples", "shields", "стрелой", "огненного", "화염구를"]
)
def test_a_word_in_any_inflection_is_no_slip(word: str) -> None:
    assert INDEX.knows(word) or INDEX.nearest(word) == []


@pytest.mark.parametrize(
    ("slip", "word"),
    [
        ("firebal", "fireball"),
        ("fierball", "fireball"),
        ("fireballl", "fireball"),
        ("fureball", "fireball"),
        ("sheild", "shield"),
        ("стркелой", "стрела"),
        ("щитю", "щит"),
        ("огнынный", "огненный"),
        ("화욤구", "화염구"),
        ("화염궁를", "화염구"),
        ("은싡", "은신"),
    ],
)
def test_a_word_with_one_slip_is_recognized(slip: str, word: str) -> None:
    assert not INDEX.knows(slip)
    assert INDEX.nearest(slip)[0].word == word


def test_a_neighbour_on_the_keyboard_is_likelier_than_another_letter() -> None:
    weights = {each.word: each.weight for each in WordIndex(["bane", "wane"]).nearest("vane")}
    assert weights["bane"] > weights["wane"]


def test_a_word_of_names_is_likelier_than_one_of_texts() -> None:
    assert WordIndex(["grab"], ["grub"]).nearest("grob")[0].word == "grab"


def test_a_korean_verb_with_its_ending_is_no_slip_of_its_beginning() -> None:
    words = WordIndex(["붙잡힌", "붙잡혀"])
    assert words.nearest("붙잡힌다") == []


@pytest.mark.parametrize("word", ["ab", "쇠", "x"])
def test_a_very_short_word_has_no_likely_meaning(word: str) -> None:
    assert INDEX.nearest(word) == []


def test_a_very_short_word_can_be_looked_up_on_purpose() -> None:
    assert "용" in [each.word for each in INDEX.nearest("요", short=True)]
