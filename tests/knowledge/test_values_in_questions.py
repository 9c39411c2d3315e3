"""Questions about one value: the rule that has it comes first, and its text begins with it."""

import json

import pytest

from bench.query_classes import FOLDER as QUESTIONS
from knowledge.entry_store import save_all
from knowledge.models import Document, Rule
from knowledge.questions.values import VALUES, asked_values, with_values_first
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from worlds.callers import Caller
from worlds.models import World

GOBLIN = """*Small humanoid (goblinoid), neutral evil*
**Armor Class** 15 (leather armor, shield)
**Hit Points** 7 (2d6)

| STR | DEX | CON |
|---|---|---|
| 8 (-1) | 14 (+2) | 10 (+0) |"""


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("goblin AC", "goblin"),
        ("how many hit points does a goblin have?", "goblin"),
        ("сколько хитов у гоблина", "гоблина"),
        ("дальность огненного шара?", "огненного шара"),
        ("고블린 방어도 알려줘", "고블린"),
        ("트롤 도전 지수", "트롤"),
    ],
)
def test_a_question_about_a_value_leaves_a_name(question: str, name: str) -> None:
    assert asked_values(question).names[0] == name


@pytest.mark.parametrize("question", ["goblin", "как работает гоблин", "고블린", "AC", "", "?"])
def test_a_name_alone_or_a_value_alone_asks_for_no_value(question: str) -> None:
    assert not asked_values(question)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("goblin AC", "**Armor Class** 15 (leather armor, shield)"),
        ("goblin dexterity", "**DEX** 14 (+2)"),
        ("goblin hp", "**Hit Points** 7 (2d6)"),
    ],
)
def test_a_value_stands_before_the_text(question: str, line: str) -> None:
    assert with_values_first(GOBLIN, asked_values(question)) == f"{line}\n\n{GOBLIN}"


def test_a_text_without_the_value_stays_as_it_is() -> None:
    assert with_values_first("Goblins hide.", asked_values("goblin AC")) == "Goblins hide."
    assert with_values_first("| a |", asked_values("goblin AC")) == "| a |"


def test_dice_are_found_in_sentences() -> None:
    text = "A bright streak flashes. A target takes 8d6 fire damage on a failed save. It burns."
    shown = with_values_first(text, asked_values("fireball damage"))
    assert shown.startswith("A target takes 8d6 fire damage on a failed save.")


@pytest.fixture
def hammers(world: World) -> None:
    """A thing and a spell of one name."""
    house = Document.objects.create(slug="house", title="House", system=world.system)
    thing = "A head on a handle.\n\n**Cost** 2 gp  \n**Weight** 2 lb.  \n**Damage** 1d4 bludgeoning"
    spell = "*2nd-level evocation*\n\n**Range** 60 feet  \n**Duration** 1 minute"
    bodies = {"equipment": thing, "spell": spell}
    rows = [
        Rule(
            key=f"house/{kind}",
            document=house,
            kind=kind,
            title="Hammer",
            body=body,
            aliases=["молот", "망치"],
        )
        for kind, body in bodies.items()
    ]
    save_all(rows)


@pytest.mark.django_db
@pytest.mark.usefixtures("hammers")
@pytest.mark.parametrize(
    ("question", "kind", "answer"),
    [
        ("hammer weight", "equipment", "**Weight** 2 lb."),
        ("сколько стоит молот", "equipment", "**Cost** 2 gp"),
        ("how long does hammer last", "spell", "**Duration** 1 minute"),
        ("망치 지속시간", "spell", "**Duration** 1 minute"),
    ],
)
def test_the_rule_that_has_such_a_value_is_first(
    world: World, question: str, kind: str, answer: str
) -> None:
    hits = find_rules(RulesQuestion(term=question), Caller.gm(world)).hits
    assert hits[0].id == f"house/{kind}"
    assert hits[0].text.startswith(answer)


@pytest.fixture
def rogue(world: World) -> None:
    book = Document.objects.create(slug="house", title="House", system=world.system)
    body = "**Hit Die** d8  \n**Saving Throws** DEX, INT  \n**Proficiencies** Light Armor"
    save_all(
        [
            Rule(
                key="house/rogue",
                document=book,
                kind="class",
                title="Rogue",
                body=body,
                aliases=["плут", "도적"],
            ),
            Rule(
                key="house/saving-throws",
                document=book,
                kind="section",
                title="Saving Throws",
                body="A saving throw is a roll.",
            ),
        ]
    )


@pytest.mark.django_db
@pytest.mark.usefixtures("rogue")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("rogue saving throws", "**Saving Throws** DEX, INT"),
        ("владения плута", "**Proficiencies** Light Armor"),
        ("도적 내성 굴림", "**Saving Throws** DEX, INT"),
        ("what hit die does a rogue have", "**Hit Die** d8"),
        ("rogue proficiencies", "**Proficiencies** Light Armor"),
    ],
)
def test_a_value_of_a_class_is_found_in_the_class(world: World, question: str, answer: str) -> None:
    hit = find_rules(RulesQuestion(term=question), Caller.gm(world)).hits[0]
    assert hit.id == "house/rogue"
    assert hit.text.startswith(answer)


def test_hints_exclude_no_question() -> None:
    """A value is looked for by its pattern only in texts that hold one of its hints."""
    lines = (QUESTIONS / "stats.queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line)["text"].lower() for line in lines]
    asked += [
        "hit point of ogre",
        "fly speed",
        "cost of rope",
        "flying",
        "обычный вес",
        "값",
        "цена",
    ]
    for text in asked:
        by_pattern = [each for each in VALUES if each.words.search(text)]
        assert by_pattern == [each for each in VALUES if each.is_asked_in(text)], text
