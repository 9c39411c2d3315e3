"""Names are found as people write them, and nothing is guessed."""

from itertools import pairwise
from time import process_time

import pytest

from retrieval.errors import Ambiguous, NotFound
from retrieval.text import (
    KnownName,
    NameIndex,
    fold_name,
    name_keys,
    query_keys,
    quoted_names,
    text_phrase_keys,
)

MIRA = KnownName("mira", "Mira Voss", ("Мира Восс", "미라 보스"))
GUILD = KnownName("guild", "Ferrymen's Guild", ("Гильдия паромщиков", "뱃사공 길드"))
TOWN = KnownName("town", "Ferrymark", ("Ферримарк", "페리마크"))
JOSS = KnownName("joss", "Joss Voss")
OLGA = KnownName("olga", "Королева Ольга")
CAST = NameIndex([MIRA, GUILD, TOWN, JOSS, OLGA])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mira voss", "mira"),
        ("MÍRA  VÖSS", "mira"),
        ("Mira", "mira"),
        ("mira_voss", "mira"),
        ("Мире Восс", "mira"),
        ("Миру", "mira"),
        ("미라보스", "mira"),
        ("미라 보스에게", "mira"),
        ("the Ferrymen’s Guild", "guild"),
        ("ferrymens guild", "guild"),
        ("Гильдией паромщиков", "guild"),
        ("뱃사공길드를", "guild"),
        ("Ferymark", "town"),
        ("Ferrymakr", "town"),
        ("Ферримарке", "town"),
        ("페리마크에서", "town"),
        ("королевой Ольгой", "olga"),
    ],
)
def test_a_name_is_found_however_it_is_written(written, meant):
    assert CAST.resolve(written) == meant


def test_a_name_that_fits_two_people_is_not_guessed():
    with pytest.raises(Ambiguous) as problem:
        CAST.resolve("Voss")
    assert set(problem.value.candidates) == {"Mira Voss", "Joss Voss"}


def test_an_unknown_name_comes_back_with_names_that_look_like_it():
    with pytest.raises(NotFound) as problem:
        CAST.resolve("Ferry Guildhall")
    assert "Ferrymen's Guild" in problem.value.candidates


def test_a_short_name_bears_no_slip():
    with pytest.raises(NotFound):
        NameIndex([KnownName(1, "Mira")]).resolve("Mara")


def test_a_korean_particle_must_fit_the_syllable_before_it():
    with pytest.raises(NotFound):
        NameIndex([KnownName(1, "미라")]).resolve("미라을")


@pytest.mark.parametrize(
    ("sentence", "keys"),
    [
        ("Mira is allied with the Ferrymen's Guild.", ["mira", "guild"]),
        ("Мира враждует с Гильдией.", ["mira", "guild"]),
        ("미라는 뱃사공 길드의 적이다", ["mira", "guild"]),
        ("Does mira voss live in Ferymark?", ["mira", "town"]),
        ("Mira's guild is rich", ["mira"]),
    ],
)
def test_the_names_of_a_sentence_are_found_in_order(sentence, keys):
    assert [mention.matches[0].key for mention in CAST.mentions(sentence)] == keys


def test_a_common_word_is_not_taken_for_a_name():
    assert NameIndex([KnownName(1, "Мира")]).mentions("Весь Ферримарк хочет мира") == []
    assert NameIndex([KnownName(1, "Hope")]).mentions("They hope that Ferrymark stands") == []


def test_a_name_of_one_word_with_an_article_needs_it_where_a_sentence_begins():
    night = KnownName("night", "Night of Nine Ferries", ("the Nine",))
    index = NameIndex([night, TOWN], parts=False)

    def names(text: str) -> list[str]:
        return [mention.text for mention in index.mentions(text) if mention.text != "Ferrymark"]

    assert names("Nine white houses stand above Ferrymark. Nine of them burnt.") == []
    assert names("The Nine are not joked about.") == ["Nine"]
    assert names("Nobody in Ferrymark jokes about the Nine.") == ["Nine"]
    assert names("who were the nine?") == ["nine"]
    assert index.find("Nine")[0].key == "night"


def test_a_full_name_with_a_slip_goes_before_an_alias_inside_it():
    index = NameIndex([KnownName("mira", "Mira Voss", ("Mira",)), KnownName("town", "Ferrymark")])
    assert [m.text for m in index.mentions("I saw Mira Vos in Ferrymark I think")] == [
        "Mira Vos",
        "Ferrymark",
    ]


def test_a_korean_particle_ends_a_name():
    index = NameIndex(
        [KnownName("isaura", "이사우라 브랙웬", ("이사우라",)), KnownName("house", "브랙웬 가문")]
    )
    assert [m.matches[0].key for m in index.mentions("이사우라는 브랙웬 가문의 우두머리다")] == [
        "isaura",
        "house",
    ]


def test_an_ambiguous_mention_says_so():
    (mention,) = CAST.mentions("I met Voss")
    assert mention.ambiguous
    assert {match.key for match in mention.matches} == {"mira", "joss"}


def test_a_longer_name_hides_the_shorter_one_inside_it():
    index = NameIndex([KnownName("bay", "Salt Bay"), KnownName("salt", "Salt")])
    assert [m.matches[0].key for m in index.mentions("We sailed to Salt Bay")] == ["bay"]


QUOTED_TITLES = {
    "Трактир «Три карася»": "три карася",
    "«Трактир „Три карася“»": "Три карася",
    "Inn “Three Carps”": "three carps",
    'The "Three Carps" Inn': "Three Carps",
    "The Inn 'Three Carps'": "Three Carps",
    "여관 「세 마리 붕어」": "세 마리 붕어에서",
    "여관 '세 마리 붕어'": "세 마리 붕어",
}


@pytest.mark.parametrize("title", QUOTED_TITLES)
def test_the_part_in_quotation_marks_is_a_name_of_its_own(title):
    name = QUOTED_TITLES[title]
    index = NameIndex([KnownName("inn", title), KnownName("other", "Salt Bay")])
    assert index.resolve_spelled(name) == "inn"
    keys = set(text_phrase_keys(f"we met at {name} again").whole)
    assert keys & set(name_keys(title)), "a database finds it by the whole name"
    (mention,) = index.mentions(f"we met at {name} again", typos=False)
    assert [match.key for match in mention.matches] == ["inn"]


def test_a_part_in_quotation_marks_is_written_to_only_if_it_is_unique():
    inn, shop = KnownName("inn", "Трактир «Три карася»"), KnownName("shop", "Лавка «Три карася»")
    with pytest.raises(Ambiguous):
        NameIndex([inn, shop]).resolve_spelled("Три карася")
    # Whoever is called so goes before what is called after them.
    own = NameIndex([inn, shop, KnownName("family", "Три карася")])
    assert own.resolve_spelled("Три карася") == "family"
    assert [m.key for m in own.mentions("пришли Три карася")[0].matches] == ["family"]


def test_apostrophes_and_small_words_are_no_names_of_their_own():
    assert quoted_names("The Smiths' and Jones' House") == ()
    assert quoted_names('The "old" mill') == ()
    assert quoted_names("«Три карася»") == ()
    red = NameIndex([KnownName("jonas", 'Jonas "Red" Hale')])
    assert red.mentions("a red boat") == []
    assert red.mentions("then Red laughed")[0].matches[0].key == "jonas"


@pytest.mark.parametrize(
    "written", ["Миру Восс", "Mria Voss", "미라는", "ferymark", "페리마크에서", "뱃사공길드"]
)
def test_database_keys_find_every_name_that_the_index_finds(written):
    entry = next(entry for entry in CAST.entries if entry.key == CAST.resolve(written))
    assert set(query_keys(written)) & set(name_keys(entry.name, *entry.aliases))


def test_score_keeps_words_and_drops_the_rest():
    assert fold_name("The  Éomer’s—Hall_of Øst") == "eomers hall of ost"
    assert fold_name("Ёлка й") == "елка й"


def test_the_names_of_a_long_text_are_found_in_little_time():
    """Each capital, each number and each Korean word may begin a misspelt name, so all names are
    compared with every few words of the text."""
    syllables = [chr(code) for code in range(ord("가"), ord("가") + 2_000)]
    names = [
        KnownName(n, f"Gate {n} of Ambervale", (f"Врата {n} долины", f"{first}{second} {n} 문"))
        for n, (first, second) in enumerate(pairwise(syllables))
    ]
    index = NameIndex(names)
    texts = [
        *(f"{word} " * 500 for word in ("1", "I", "Gate", "Огонь", "화염구", "саша")),
        " ".join(f"Word{n} {n}" for n in range(250)),
        " ".join(f"{syllables[n]}{syllables[-n]}{syllables[n * 3]}" for n in range(500)),
    ]
    for text in texts:
        started = process_time()
        index.mentions(text)
        assert process_time() - started < 1, text[:20]
    [misspelt] = index.mentions(f"{'1 ' * 400} Gate 1234 of Amberfale {'2 ' * 400}")
    assert [match.key for match in misspelt.matches] == [1234]


def test_a_korean_surname_that_is_a_determiner_names_nobody_alone() -> None:
    people = NameIndex([KnownName(1, "이만복", aliases=("이 행수",)), KnownName(2, "전 대장")])
    assert people.mentions("이 숲에서는 나침반이 맞지 않는다. 전 주인이 왔다.") == []
    assert [each.matches[0].key for each in people.mentions("이 행수와 전 대장이 왔다.")] == [1, 2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Лесные братья", "Он враждует с Лесными братьями."),
        ("Лесные братья", "Мы вышли к лагерю Лесных братьев."),
        ("Серые друзья", "Мы пришли от Серых друзей."),
        ("Сыновья Волка", "Мы помогли Сыновьям Волка."),
        ("Чёрные князья", "Речь шла о Чёрных князьях."),
        ("Медные острова", "Мы плыли к Медным островам."),
        ("Софья", "Мы говорили с Софьей."),
    ],
)
def test_a_name_in_a_plural_is_found_whole_in_any_case(name: str, text: str) -> None:
    (mention,) = NameIndex([KnownName(1, name)]).mentions(text, typos=False)
    assert len(mention.text.split()) == len(name.split())
    assert mention.matches[0].how == "ending"
