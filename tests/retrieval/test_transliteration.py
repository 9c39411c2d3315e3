"""A transliterated name sounds like the English one; an ordinary word does not."""

import pytest

from retrieval.text import pronunciations, sound_similarity


@pytest.mark.parametrize(
    ("english", "spellings"),
    [
        ("Fireball", ["파이어볼", "파이어 볼", "файрбол", "фаерболл"]),
        ("Magic Missile", ["매직 미사일", "매직미사일", "мэджик миссайл"]),
        ("Counterspell", ["카운터스펠", "каунтерспелл", "контрспелл"]),
        ("Dragon Slayer", ["드래곤 슬레이어", "драгон слеер"]),
        ("Misty Step", ["미스티 스텝", "мисти степ"]),
        ("Silence", ["сайленс", "силенс", "사일런스"]),
        ("Divine Smite", ["дивайн смайт", "디바인스마이트"]),
        ("Cure Wounds", ["큐어운즈", "кьюр вундс"]),
        ("Wild Shape", ["와일드쉐이프", "вилдшейп", "вайлд шейп"]),
        ("Sleep", ["слип", "슬립"]),
        ("Healing Word", ["힐링워드", "хилинг ворд"]),
        ("Lay on Hands", ["레이온핸즈", "лэй он хэндс"]),
        ("Action Surge", ["액션서지", "экшн сурдж"]),
        ("Hold Person", ["홀드퍼슨", "холд персон"]),
        ("Fly", ["플라이", "флай"]),
        ("Disengage", ["디스인게이지", "дисэнгейдж"]),
        ("Rage", ["레이지", "рейдж"]),
        ("Evasion", ["эвейжн", "이베이전"]),
    ],
)
def test_a_transliteration_sounds_like_the_name(english: str, spellings: list[str]) -> None:
    for spelling in spellings:
        assert sound_similarity(english, spelling) >= 0.84, spelling


@pytest.mark.parametrize(
    "word",
    [
        "공격하면",
        "주문을",
        "보호하는",
        "сколько",
        "работает",
        "уровень",
        "шрамы",
        "третьего",
        "팔면",
    ],
)
def test_an_ordinary_word_sounds_like_no_name(word: str) -> None:
    names = ("Fireball", "Magic Missile", "Counterspell", "Dragon Slayer", "Misty Step")
    for name in (*names, "Swarm", "Surnames", "Treant", "Prone"):
        assert sound_similarity(name, word) < 0.8, name


@pytest.mark.parametrize(
    ("spelling", "name", "other"),
    [
        ("сайленс", "Silence", "Strength"),
        ("смайт", "Smite", "Somatic"),
        ("큐어운즈", "Cure Wounds", "Conjuration"),
        ("와일드쉐이프", "Wild Shape", "Warship"),
        ("레이지", "Rage", "Mage"),
    ],
)
def test_vowels_tell_names_of_the_same_consonants_apart(
    spelling: str, name: str, other: str
) -> None:
    assert sound_similarity(spelling, name) > sound_similarity(spelling, other) + 0.2


def test_an_english_name_has_several_pronunciations() -> None:
    assert {"SMaiT", "SMiTe"} <= pronunciations("Smite")
    assert pronunciations("플라이") & pronunciations("Fly")
    assert not any(pronunciations("?"))
