"""What the small model reads in a text beside the rules."""

from dataclasses import replace

import pytest

from bench.proposals import relations
from knowledge.extraction.findings import Finding
from knowledge.extraction.name_forms import dictionary_form
from knowledge.extraction.russian_names import nominative_words
from knowledge.extraction.text_reader import TextReader
from knowledge.graph.models import GraphNode

KNOWN = [
    GraphNode(name="Harrow Ford", kind="Location"),
    GraphNode(name="Ash Riders", kind="Faction"),
    GraphNode(name="Медные Ключи", kind="Location"),
    GraphNode(name="서리고개", kind="Location"),
]


def findings(text: str, *, with_model: bool = True) -> list[Finding]:
    reader = TextReader(KNOWN, relations())
    return replace(reader, with_model=with_model).read(text)


def names(found: list[Finding]) -> set[str]:
    return {each.node.name for each in found if each.kind == "entity"}


def facts(found: list[Finding]) -> set[tuple[str, str, str]]:
    return {(f.node.name, f.label or f.relation, f.other.name) for f in found if f.other}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ursel Keene has kept the toll at Harrow Ford since the flood.", "Ursel Keene"),
        ("В Медных Ключах заправляет Ефимия Рог.", "Ефимия Рог"),
        ("서리고개의 살림은 모르간이 꾸려 간다.", "모르간"),
    ],
)
def test_a_name_without_a_word_for_what_it_is_is_found(text: str, name: str) -> None:
    assert name in names(findings(text))
    assert name not in names(findings(text, with_model=False))


def test_a_relation_in_words_of_no_list_is_found_with_its_sentence() -> None:
    text = "It rained. Dunstan Moke rides with the Ash Riders now. Nobody slept."
    found = findings(text)
    assert ("Dunstan Moke", "PART_OF", "Ash Riders") in facts(found)
    assert facts(findings(text, with_model=False)) == set()
    assert all(text[f.sentence.start : f.sentence.end] == f.sentence.text for f in found)
    fact = next(each for each in found if each.other)
    assert fact.sentence.text == "Dunstan Moke rides with the Ash Riders now."


def test_a_month_is_no_name() -> None:
    text = "Ursel Keene left Harrow Ford in Brim."
    reader = TextReader(KNOWN, relations(), not_names={"brim"})
    assert names(reader.read(text)) == {"Ursel Keene"}


def test_player_characters_are_no_new_names_in_any_inflection() -> None:
    text = "Ursel Keene left Harrow Ford with Rook Adler. Рука Адлера видели в Медных Ключах."
    others = [GraphNode(name="Rook Adler", aliases=["Рук Адлер"], kind="Character")]
    assert names(TextReader(KNOWN, relations(), not_new=others).read(text)) == {"Ursel Keene"}


RUSK = GraphNode(name="Captain Rusk", kind="Character")


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Captain of the Ash Riders. She counts every grain.", "Odda Brask"),
        ("Капитан Пепельных Всадников.", "Одда Браск"),
        ("잿빛 기수단의 대장.", "오다 브라스크"),
    ],
)
def test_a_sentence_without_a_subject_is_about_its_entry(text: str, about: str) -> None:
    riders = GraphNode(
        name="Ash Riders", kind="Faction", aliases=["Пепельные Всадники", "잿빛 기수단"]
    )
    odda = GraphNode(name=about, kind="Character")
    rusk = GraphNode(name="Captain Rusk", kind="Character", aliases=["Капитан Раск", "러스크 대장"])
    reader = TextReader([riders, odda, rusk], relations(), odda)
    assert facts(reader.read(text)) == {(about, "leads", "Ash Riders")}


def test_a_title_alone_names_nobody_and_a_guest_is_not_the_entry() -> None:
    odda = GraphNode(name="Odda Brask", kind="Character")
    reader = TextReader([*KNOWN, odda, RUSK], relations(), odda)
    assert facts(reader.read("The Captain of the Ash Riders came to dinner.")) == set()


@pytest.mark.parametrize(
    "text",
    [
        "The seat of the Ash Riders, above Harrow Ford.",
        "The Ash Riders camp opposite Harrow Ford.",
    ],
)
def test_what_is_above_or_opposite_is_not_in_it(text: str) -> None:
    keep = GraphNode(name="Tarn Keep", kind="Location")
    found = facts(TextReader([*KNOWN, keep], relations(), keep).read(text))
    assert ("Ash Riders", "LOCATED_IN", "Harrow Ford") not in found


def test_the_seat_of_a_group_is_the_entry() -> None:
    keep = GraphNode(name="Tarn Keep", kind="Location")
    reader = TextReader([*KNOWN, keep], relations(), keep)
    found = facts(reader.read("The seat of the Ash Riders, above Harrow Ford."))
    assert found == {("Ash Riders", "LOCATED_IN", "Tarn Keep")}


def test_hearsay_is_no_relation() -> None:
    assert facts(findings("They say that Dunstan Moke rides with the Ash Riders now.")) == set()


def test_ordinary_words_are_no_new_names() -> None:
    assert names(findings("Библиотека пуста. Дождь идёт.")) == set()
    assert names(findings("국경 마을에 검이 하나 있다.")) == set()


@pytest.mark.parametrize(
    ("words", "nominative"),
    [
        ("Ефимией Рог", "Ефимия Рог"),
        ("Улите", "Улита"),
        ("Теодором Ланцем", "Теодор Ланц"),
        ("Горелой Слободы", "Горелая Слобода"),
        ("Ладой Сомовой", "Лада Сомова"),
        ("Осиновой Рощей", "Осиновая Роща"),
        ("Сухой Лог", "Сухой Лог"),
        ("Лука Феррин", "Лука Феррин"),
    ],
)
def test_russian_names_are_put_into_the_nominative(words: str, nominative: str) -> None:
    assert " ".join(nominative_words(words.split())) == nominative


@pytest.mark.parametrize(
    ("text", "after", "language", "name"),
    [
        ("the miller Oda Renn's", " ", "en", "Oda Renn"),
        ("제자인 토비가", " ", "ko", "토비"),
        ("블랑슈다", ".", "ko", "블랑슈"),
        ("붉은 왜가리라고도", " ", "ko", "붉은 왜가리"),
        ("старосту Никанора", " ", "ru", "Никанор"),
        ("«Хромой гусь»", " ", "ru", "Хромой гусь"),
    ],
)
def test_names_lose_titles_particles_and_cases(
    text: str, after: str, language: str, name: str
) -> None:
    assert dictionary_form(text, language, after=after) == name


def test_a_long_text_is_read_to_its_end() -> None:
    days = [f"On day {number} it rained, and the road was bad." for number in range(300)]
    text = "\n".join([*days, "Ursel Keene has kept the toll at Harrow Ford since the flood."])
    assert "Ursel Keene" in names(findings(text))
