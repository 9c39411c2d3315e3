"""Numbers and levels of a question, in digits and in the words of three languages."""

import pytest

from knowledge.entry_store import save_all
from knowledge.models import Document, Rule
from knowledge.questions.levels import levels_in, rules_of_levels
from knowledge.questions.numbers import numbers_in
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from worlds.callers import Caller
from worlds.models import World


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("the bridge took forty-two years", [42]),
        ("a toll of three thousand two hundred and five marks", [3205]),
        ("in the two hundred and sixth year", [206]),
        ("a ship of 2,400 tons", [2400]),
        ("a ship of 2 400 tons", [2400]),
        ("мост строили сорок два года", [42]),
        ("полторы тысячи мечей", [1500]),
        ("три с половиной тысячи", [3500]),
        ("в двести шестом году", [206]),
        ("삼천이백오 마르크", [3205]),
        ("1만 5천 명의 병사", [15000]),
        ("이백육년에", [206]),
    ],
)
def test_a_number_is_read_however_it_is_written(text: str, numbers: list[int]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    "text",
    ["one of us", "the second door", "столько пятен", "две двери", "만일 비가 오면", ""],
)
def test_small_words_are_no_numbers(text: str) -> None:
    assert numbers_in(text) == []


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("what does a level 6 bard know", [6]),
        ("sixth-level bard", [6]),
        ("a 6th level bard", [6]),
        ("lvl six bard", [6]),
        ("third-level slots of a level 6 bard", [6]),
        ("level 3 spell slots", []),
        ("бард 6-го уровня", [6]),
        ("бард шестого уровня", [6]),
        ("6레벨 바드", [6]),
        ("레벨 6 바드의 3레벨 슬롯", [6]),
        ("level 99", []),
        ("level zero", []),
    ],
)
def test_levels_of_characters_are_told_from_those_of_spells(text: str, levels: list[int]) -> None:
    assert levels_in(text) == levels


def test_a_question_about_a_level_means_the_row_of_a_table() -> None:
    titles = [each.term for each in rules_of_levels("slots of a level 6 bard", ["Bard"])]
    assert titles == ["Bard, level 6", "Character Advancement"]
    titles = [each.term for each in rules_of_levels("spells of a level 6 bard", ["Bard"])]
    assert "Bard spells, level 6" in titles
    assert rules_of_levels("what is a bard", ["Bard"]) == []


def test_the_row_of_the_table_is_the_first_hit(world: World, rules: dict[str, Rule]) -> None:
    document = Document.objects.get()
    written = [
        Rule(
            key=f"srd-5.1/class-levels/{name.lower()}-{level}",
            document=document,
            kind="class",
            title=f"{name}, level {level}",
            body=f"**Class** {name}  \n**Level** {level}  \n**Spell Slots** {level} slots",
        )
        for name in ("Bard", "Wizard")
        for level in (5, 6, 7)
    ]
    bard = Rule(
        key="srd-5.1/classes/bard", document=document, kind="class", title="Bard", body="Sings."
    )
    save_all([*written, bard])
    hits = find_rules(
        RulesQuestion(term="how many second-level slots does a sixth level bard have"),
        Caller.gm(world),
    ).hits
    assert hits[0].id == "srd-5.1/class-levels/bard-6"
    assert "6 slots" in hits[0].text
