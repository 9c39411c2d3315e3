"""Russian given names: short forms and patronymics. Names in the letters of another script."""

import pytest

from retrieval.text import KnownName, NameIndex, name_keys, other_spellings, query_keys

INDEX = NameIndex(
    [
        KnownName("kuznetsov", "Александр Петрович Кузнецов"),
        KnownName("orlova", "Маша Орлова"),
        KnownName("voss", "Mira Voss"),
    ]
)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Саша", "kuznetsov"),
        ("Саше Кузнецову", "kuznetsov"),
        ("Александр Петрович", "kuznetsov"),
        ("Александра Кузнецова", "kuznetsov"),
        ("Кузнецов", "kuznetsov"),
        ("Мария Орлова", "orlova"),
        ("Марию", "orlova"),
    ],
)
def test_a_person_is_found_by_a_form_of_the_name(name: str, key: str) -> None:
    assert [match.key for match in INDEX.find(name)] == [key]
    # The database narrows a large world down by keys first.
    full = {entry.key: entry.name for entry in INDEX.entries}[key]
    assert set(query_keys(name)) & set(name_keys(full))


def test_a_short_form_is_less_certain_than_the_name_itself() -> None:
    index = NameIndex([KnownName(1, "Саша"), KnownName(2, "Александр")])
    assert [match.key for match in index.find("Саша")] == [1, 2]
    assert index.resolve("Саша") == 1


def test_a_common_noun_is_no_short_form() -> None:
    index = NameIndex([KnownName(1, "Вячеслав Орлов")])
    assert index.mentions("Ему досталась слава героя.") == []
    assert [mention.text for mention in index.mentions("Потом пришёл Слава Орлов.")] == [
        "Слава Орлов"
    ]


def test_links_are_resolved_without_short_forms() -> None:
    index = NameIndex([KnownName(1, "Александр")], parts=False)
    assert index.find_spelled("Саша") == []


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("Mira Voss", ["Мира Восс", "미라 보스"]),
        ("Мира Восс", ["Mira Voss", "미라 보스"]),
        ("Grimwald", ["Гримвалд", "그림왈드"]),
        ("Щукин", ["Shchukin", "슈킨"]),
        ("이순신", ["Isunsin", "Исунсин"]),
        ("K-9", ["К-9", "크-9"]),
    ],
)
def test_a_name_is_spelled_in_the_other_scripts(name: str, others: list[str]) -> None:
    assert other_spellings(name) == others


def test_a_script_that_a_name_has_already_is_not_suggested() -> None:
    assert other_spellings("Mira Voss", ["Мира", "Восс"]) == ["미라 보스"]
