"""Levels as players write them: those of characters, not those of spells and slots."""

import pytest

from knowledge.questions.abbreviations import write_out
from knowledge.questions.levels import levels_in, rules_of_levels
from tests.knowledge.conftest import first_titles
from worlds.models import World


@pytest.mark.parametrize(
    ("question", "levels"),
    [
        ("third-level slots of a level 5 wizard", [5]),
        ("lvl5 wizard", [5]),
        ("wizard lvl 5", [5]),
        ("lv 5 wiz", [5]),
        ("5th lvl cleric", [5]),
        ("варвар 5лвл", [5]),
        ("друида 4лвл", [4]),
        ("волшебник 5ур", [5]),
        ("жрец 7-го лвла", [7]),
        ("ячеек второго уровня у чародея третьего уровня", [3]),
        ("слотов 3 уровня у визарда 5 уровня", [5]),
        ("сколько слотов 3лвл у барда 9лвл", [9]),
        ("3 уровня ячейки волшебника 5 уровня", [5]),
        ("спеллы 2 уровня", []),
        ("5렙 위자드", [5]),
        ("3레벨 슬롯 5레벨 위자드", [5]),
    ],
)
def test_the_levels_of_characters(question: str, levels: list[int]) -> None:
    assert levels_in(write_out(question, lambda _short, _long: True)) == levels


def test_a_level_of_slots_is_no_row_of_a_class() -> None:
    said = rules_of_levels("ячеек второго уровня у чародея третьего уровня", ["Sorcerer"])
    assert "Sorcerer, level 3" in [each.term for each in said]
    assert "Sorcerer, level 2" not in [each.term for each in said]


def test_the_row_of_the_level_is_first(all_names: World) -> None:
    expected = {
        "варвар 5лвл": "Barbarian, level 5",
        "друида 4лвл": "Druid, level 4",
        "волшебник 5ур": "Wizard, level 5",
        "5렙 위자드": "Wizard, level 5",
        "lvl5 wizard": "Wizard, level 5",
        "сколько ячеек второго уровня у чародея третьего уровня": "Sorcerer, level 3",
        "сколько слотов 3 уровня у визарда 5 уровня": "Wizard, level 5",
        "сколько заговоров знает маг 10 уровня": "Wizard, level 10",
    }
    assert first_titles(all_names, expected) == expected
