"""Questions that name a value instead of a thing find the things with exactly that value."""

import pytest

from knowledge.entry_store import save_all
from knowledge.models import Document, Rule
from knowledge.questions.things_by_value import wanted_things
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from worlds.callers import Caller
from worlds.models import World

WEAPON = "**Category** Weapon, Martial Melee  \n**Cost** {} gp  \n**Damage** {} slashing"
ARMOR = "**Category** Armor, Heavy  \n**Cost** {} gp  \n**Armor Class** {}"
SPELL = "*3rd-level evocation*\n\nA target takes {} damage on a failed save."
MONSTER = (
    "*Huge {}, evil*  \n**Armor Class** {} (natural)  \n**Hit Points** {} (1d8)  \n"
    "**Challenge** {} (50 XP)\n\nIt eats dragons, and fire hurts it."
)
RULES = {
    "Greatsword": ("equipment", WEAPON.format(50, "2d6")),
    "Greataxe": ("equipment", WEAPON.format(30, "1d12")),
    "Battleaxe": ("equipment", WEAPON.format(10, "1d8")),
    "Plate Armor": ("equipment", ARMOR.format("1500", 18)),
    "Chain Mail": ("equipment", ARMOR.format(75, 16)),
    "Fireball": ("spell", SPELL.format("8d6 fire")),
    "Lightning Bolt": ("spell", SPELL.format("8d6 lightning")),
    "Shatter": ("spell", SPELL.format("3d8 thunder")),
    "Adult Red Dragon": ("monster", MONSTER.format("dragon", 19, 256, 17)),
    "Young Red Dragon": ("monster", MONSTER.format("dragon", 18, 178, 10)),
    "Goblin": ("monster", MONSTER.format("humanoid", 15, 7, "1/4")),
    "Ghoul": ("monster", MONSTER.format("undead", 12, 22, 1)),
    "Fire Giant": ("monster", MONSTER.format("giant", 18, 162, 9)),
    "Fighter, level 15": ("class", "Level 15 of the fighter."),
    "Weapon, +1": ("magic_item", "A weapon with a bonus."),
    "Weapons": ("section", "Weapons do damage. A weapon is a weapon."),
}


TABLE = (
    "*large {}*\n\n|  |  |\n| --- | --- |\n| **Armor Class** | {} |\n| **Hit Points** | {} |\n"
    "| **Level** | {} |\n| **Role** | {} |\n| **PD** | {} |\n\nIt eats dragons and wreckers."
)
IMPORTED = {
    "Minotaur": ("monster", TABLE.format("humanoid", 19, 94, 4, "troop", 17)),
    "Stone Thrower": ("monster", TABLE.format("giant", 20, 160, 4, "wrecker", 14)),
    "Red Dragon": ("monster", TABLE.format("dragon", 25, 400, 10, "wrecker", 24)),
    "Copper Dragon": ("monster", TABLE.format("dragon", 24, 300, 9, "wrecker", 22)),
    "Tide Troll": ("monster", "12 HP, 1 Armor, 15 STR, claws (d8)\n- Grows moss, 4 HP a day."),
    "Reed Goblin": ("monster", "4 HP, 8 STR, 14 DEX, spear (d6)"),
    "Sea Wolf": ("monster", "|  |  |\n| --- | --- |\n| **Rank** | 2 |\n\nIt hunts."),
    "Leviathan": ("monster", "|  |  |\n| --- | --- |\n| **Rank** | 4 |\n\nIt hunts ships."),
    "Coat of Scales": ("equipment", "| **Category** | Armor |\n| **Cost** | 40 gp |"),
}
"""Statistics as importers write them."""


@pytest.fixture
def things(world: World) -> Caller:
    return with_rules(world, RULES)


@pytest.fixture
def imported(world: World) -> Caller:
    return with_rules(world, IMPORTED)


def with_rules(world: World, rules: dict[str, tuple[str, str]]) -> Caller:
    book = Document.objects.create(slug="book", title="Book", system=world.system)
    save_all(
        [
            Rule(key=f"book/{n}", document=book, kind=kind, title=title, body=body)
            for n, (title, (kind, body)) in enumerate(rules.items())
        ]
    )
    return Caller.gm(world)


def titles(question: str, caller: Caller, number: int) -> set[str]:
    hits = find_rules(RulesQuestion(term=question), caller).hits
    return {hit.title for hit in hits[:number]}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2d6 weapon", {"Greatsword"}),
        ("оружие 2к6", {"Greatsword"}),
        ("2к6 оружие", {"Greatsword"}),
        ("оружие 2d6", {"Greatsword"}),
        ("2d6 무기", {"Greatsword"}),
        ("оружие 1к12", {"Greataxe"}),
        ("1d12 무기는?", {"Greataxe"}),
        ("weapon for 30 gp", {"Greataxe"}),
        ("оружие за 30 зм", {"Greataxe"}),
        ("30골드 무기", {"Greataxe"}),
        ("8d6 fire spell", {"Fireball"}),
        ("заклинание 8к6 огня", {"Fireball"}),
        ("8d6 화염 주문", {"Fireball"}),
        ("заклинание на 3к8", {"Shatter"}),
        ("8d6 spell", {"Fireball", "Lightning Bolt"}),
        ("1500gp armor", {"Plate Armor"}),
        ("1,500 gp armor", {"Plate Armor"}),
        ("1500gp 갑옷", {"Plate Armor"}),
        ("доспех за 1500 золотых", {"Plate Armor"}),
        ("AC 15", {"Goblin"}),
        ("КД 15", {"Goblin"}),
        ("방어도 15", {"Goblin"}),
        ("AC 15 monster", {"Goblin"}),
        ("18 AC", {"Plate Armor", "Young Red Dragon", "Fire Giant"}),
        ("armor with AC 18", {"Plate Armor"}),
        ("monsters with AC 18", {"Young Red Dragon", "Fire Giant"}),
        ("CR 17 dragon", {"Adult Red Dragon"}),
        ("дракон опасность 17", {"Adult Red Dragon"}),
        ("도전지수 17 드래곤", {"Adult Red Dragon"}),
        ("undead cr 1", {"Ghoul"}),
        ("нежить с опасностью 1", {"Ghoul"}),
        ("CR 1/4", {"Goblin"}),
        ("monster with 178 hp", {"Young Red Dragon"}),
        ("монстр со 178 хитами", {"Young Red Dragon"}),
        ("몬스터 체력 178", {"Young Red Dragon"}),
    ],
)
def test_things_of_a_value_come_first(things: Caller, question: str, expected: set[str]) -> None:
    assert titles(question, things, len(expected)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("AC 19 monsters", {"Minotaur"}),
        ("AC 25 dragon", {"Red Dragon"}),
        ("HP 94", {"Minotaur"}),
        ("КД 19", {"Minotaur"}),
        ("방어도 19", {"Minotaur"}),
        ("12 hp monster", {"Tide Troll"}),
        ("str 8 monsters", {"Reed Goblin"}),
        ("monsters with PD 24", {"Red Dragon"}),
        ("rank 4 monsters", {"Leviathan"}),
        ("foes of rank 2", {"Sea Wolf"}),
        ("level 4 wrecker monsters", {"Stone Thrower"}),
        ("armor for 40 gp", {"Coat of Scales"}),
    ],
)
def test_values_in_tables_and_lines_of_statistics_are_found(
    imported: Caller, question: str, expected: set[str]
) -> None:
    hits = find_rules(RulesQuestion(term=question), imported).hits
    assert {hit.title for hit in hits if hit.match == "alias"} == expected


@pytest.mark.parametrize(
    "question",
    [
        "AC",
        "dragon",
        "level 15 fighter",
        "DC 15 check",
        "fireball damage",
        "roll 2d6",
        "goblin AC",
        "how do I reach AC 15 with a monk of level four and a shield",
        "what happens at 15 hp to a wizard who concentrates on haste",
        "AC 15 " * 40,
        "",
    ],
)
def test_another_question_asks_for_no_things(question: str) -> None:
    assert not wanted_things(question)


@pytest.mark.parametrize("question", ["AC 15 dragon", "AC 99", "CR 17 undead"])
def test_a_value_that_no_such_thing_has_is_no_evidence(things: Caller, question: str) -> None:
    hits = find_rules(RulesQuestion(term=question), things).hits
    assert max((hit.relevance for hit in hits), default=0.0) < 0.7


def test_the_text_begins_with_the_value(things: Caller) -> None:
    hit = find_rules(RulesQuestion(term="CR 17 dragon"), things).hits[0]
    assert hit.text.startswith("**Challenge** 17")
