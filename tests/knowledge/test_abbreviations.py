"""Short forms that players write are written out before a question about the rules is read."""

import csv
import re

import pytest

from knowledge.entry_store import save_entry
from knowledge.models import Document, Rule
from knowledge.questions.abbreviations import TABLE, abbreviations, write_out
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from tests.knowledge.conftest import first_titles
from worlds.callers import Caller
from worlds.models import World


def written_out(text: str) -> str:
    return write_out(text, lambda _short, _long: True)


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("dmg of a longsword", "damage of a longsword"),
        ("Sorc cantrips?", "sorcerer cantrips?"),
        ("do THP stack", "do temporary hit points stack"),
        ("what do I get back on a SR", "what do I get back on a short rest"),
        ("adv on atk rolls", "advantage on attack rolls"),
        ("lvl5 wiz", "level 5 wizard"),
        ("lock lvl 3", "warlock level 3"),
        ("pal smite", "paladin smite"),
        ("attacks of opportunity", "opportunity attacks"),
        ("варвар 5лвл", "варвар 5 уровень"),
        ("слоты визарда 5ур", "слоты волшебник 5 уровень"),
        ("маг 10 уровня", "волшебник 10 уровня"),
        ("спасброски рога", "спасброски плут"),
        ("пал 3 лвл", "паладин 3 уровень"),
        ("хил палыча", "лечение паладин"),
        ("времхп", "временные хиты"),
        ("파볼 뎀", "화염구 피해"),
        ("파볼은 몇 뎀이야", "화염구 몇 뎀이야"),
        ("바바 9레벨", "야만전사 9레벨"),
        ("단휴에 뭐 회복", "짧은 휴식 뭐 회복"),
    ],
)
def test_a_short_form_is_written_out(text: str, long: str) -> None:
    assert written_out(text) == long


@pytest.mark.parametrize(
    "text",
    [
        "my pal cast a spell",
        "how do I pick a lock",
        "can a lock be opened with a level 2 spell",
        "the rog's gallery of a modern thief",
        "дракон пал замертво",
        "рога минотавра",
        "маг наложил чары",
        "он спас меня",
        "мода на плащи",
        "딜러가 뭐야",
        "dmg " * 41,
        "",
    ],
)
def test_an_ordinary_word_is_no_short_form(text: str) -> None:
    assert written_out(text.replace("rog's", "rogue's")) == text.replace("rog's", "rogue's")


def test_the_table_has_each_short_form_once() -> None:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    shorts = [short for row in rows for short in row["short"].split("|")]
    assert len(shorts) == len(set(shorts))
    assert all(row["long"].strip() and re.compile(row["beside"] or "") for row in rows)
    assert len(abbreviations()) > len(shorts)


def test_only_what_the_rules_have_is_written_out() -> None:
    assert write_out("dmg", lambda _short, _long: False) == "dmg"


@pytest.mark.usefixtures("rules")
def test_a_rule_of_the_world_may_be_called_like_a_short_form(world: World) -> None:
    book = Document.objects.get()
    save_entry(Rule(key="house/lr", document=book, world=world, title="LR", body="Light radius."))
    hits = find_rules(RulesQuestion(term="LR"), Caller.gm(world)).hits
    assert hits[0].id == "house/lr"


def test_players_find_the_rules_by_short_forms(all_names: World) -> None:
    expected = {
        "aoo": "Opportunity Attacks",
        "thp": "Temporary Hit Points",
        "LR": "Long Rest",
        "fb dmg": "Fireball",
        "wiz lvl 5": "Wizard, level 5",
        "lvl5 barb": "Barbarian, level 5",
        "what breaks conc": "Concentration",
        "визард 5 лвл": "Wizard, level 5",
        "аоо": "Opportunity Attacks",
        "соркер 3лвл": "Sorcerer, level 3",
        "파볼": "Fireball",
        "바바 9렙": "Barbarian, level 9",
        "크리": "Critical Hits",
    }
    assert first_titles(all_names, expected) == expected
