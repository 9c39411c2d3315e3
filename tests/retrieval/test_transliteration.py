"""A transliterated name sounds like the English one; an ordinary word does not."""

import pytest
from rapidfuzz import fuzz

from retrieval.text import sound_keys


def likeness(name: str, other: str) -> float:
    pairs = [(a, b) for a in sound_keys(name) for b in sound_keys(other)]
    return max((fuzz.ratio(a, b) for a, b in pairs), default=0.0)


@pytest.mark.parametrize(
    ("english", "spellings"),
    [
        ("Fireball", ["파이어볼", "파이어 볼", "файрбол", "фаерболл"]),
        ("Magic Missile", ["매직 미사일", "매직미사일", "мэджик миссайл"]),
        ("Counterspell", ["카운터스펠", "каунтерспелл"]),
        ("Dragon Slayer", ["드래곤 슬레이어", "драгон слеер"]),
        ("Misty Step", ["미스티 스텝", "мисти степ"]),
    ],
)
def test_a_transliteration_sounds_like_the_name(english: str, spellings: list[str]) -> None:
    for spelling in spellings:
        assert likeness(english, spelling) >= 80, spelling


@pytest.mark.parametrize(
    "word", ["공격하면", "주문을", "보호하는", "сколько", "работает", "уровень"]
)
def test_an_ordinary_word_sounds_like_no_name(word: str) -> None:
    for name in ("Fireball", "Magic Missile", "Counterspell", "Dragon Slayer", "Misty Step"):
        assert likeness(name, word) < 80, name


def test_a_name_of_two_consonants_has_no_key() -> None:
    assert sound_keys("Aid") == frozenset()
    assert sound_keys("비") == frozenset()
