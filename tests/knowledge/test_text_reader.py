"""What the rules do not read in a text: pronouns, plurals and pieces of names are no facts."""

import pytest

from bench.proposals import relations
from knowledge.extraction.text_reader import TextReader
from knowledge.graph.models import GraphNode

NODES = [
    GraphNode(name="Orrin Tace", kind="Character", aliases=["Master Tace"]),
    GraphNode(name="Yeva Rill", kind="Character"),
    GraphNode(name="Lanternbearers", kind="Faction"),
    GraphNode(name="Reedmaze", kind="Location"),
    GraphNode(name="Gilded Oath", kind="Faction", aliases=["Золочёная клятва"]),
    GraphNode(name="등불청", kind="Faction"),
]
MAP = GraphNode(name="Eel-Skin Map", kind="Item")


def read(text: str, about: GraphNode | None = None) -> list[tuple[str, str, str]]:
    found = TextReader([*NODES, MAP], relations(), about=about).read(text)
    return [(each.kind, each.node.name, each.other.name if each.other else "") for each in found]


def test_it_is_what_the_text_is_about() -> None:
    text = "The map shows the Reedmaze. Yeva Rill gave it to the Lanternbearers."
    given = [line for line in read(text, MAP) if line[0] == "fact"]
    assert all("Reedmaze" not in line for line in given)


@pytest.mark.parametrize(
    "text",
    [
        "Masters who died on the water have no oar there.",
        "Отряд Золочёной клятвы назначил награду.",
        "등불청은 상인 가문들과는 사이가 나쁘지 않다.",
        "열흘째에 등불청은 난간과 과부 연금에 도장을 찍었다.",
    ],
)
def test_ordinary_words_and_cut_names_are_neither_dead_nor_new(text: str) -> None:
    assert read(text) == []


PEOPLE = [
    GraphNode(name="Устин Рябина", kind="Character"),
    GraphNode(name="Петтра Косс", kind="Character"),
    GraphNode(name="엘리 모스", kind="Character"),
    GraphNode(name="드레이 코스", kind="Character"),
    GraphNode(name="갈매기 근위대", kind="Faction"),
    GraphNode(name="퀼렛", kind="Location"),
    GraphNode(name="Whitejaw", kind="Item"),
    GraphNode(name="Ysolt", kind="Character"),
]


@pytest.mark.parametrize(
    ("text", "relation", "label"),
    [
        ("Устин Рябина — брат Петтры Косс.", "RELATES_TO", "brother of"),
        ("Устин Рябина — родной брат Петтры Косс.", "RELATES_TO", "brother of"),
        ("Устин Рябина — двоюродный брат Петтры Косс.", "RELATES_TO", "cousin of"),
        ("엘리 모스는 드레이 코스의 친누나입니다.", "RELATES_TO", "sister of"),
        ("갈매기 근위대는 퀼렛에 주둔합니다.", "LOCATED_IN", ""),
        ("The Whitejaw is Ysolt's from now on.", "OWNED_BY", ""),
    ],
)
def test_kinship_before_a_genitive_polite_endings_and_possession(
    text: str, relation: str, label: str
) -> None:
    facts = [f for f in TextReader(PEOPLE, relations()).read(text) if f.kind == "fact"]
    assert [(fact.relation, fact.label) for fact in facts] == [(relation, label)]


ABBEY = GraphNode(name="Тихая обитель", kind="Location")
GUARD = GraphNode(name="갈매기 근위대", kind="Faction")
CUP = GraphNode(name="은잔", kind="Item")
HILL = GraphNode(name="퀼렛", kind="Location")
OATH = GraphNode(name="Золочёная клятва", kind="Faction")


@pytest.mark.parametrize(
    ("text", "about", "fact"),
    [
        ("Варит мёд. Настоятель — Устин Рябина.", ABBEY, ("Устин Рябина", "Тихая обитель")),
        ("Враждует с Золочёной клятвой.", GUARD, ("갈매기 근위대", "Золочёная клятва")),
        ("Живёт в Тихой обители.", PEOPLE[0], ("Устин Рябина", "Тихая обитель")),
        ("퀼렛에 있다.", CUP, ("은잔", "퀼렛")),
        ("금이 간 잔. 지금은 퀼렛에 놓여 있다.", CUP, ("은잔", "퀼렛")),
        ("엘리 모스의 오빠다.", PEOPLE[3], ("드레이 코스", "엘리 모스")),
    ],
)
def test_a_sentence_without_a_subject_is_about_the_entry(
    text: str, about: GraphNode, fact: tuple[str, str]
) -> None:
    nodes = [*PEOPLE[:4], ABBEY, GUARD, CUP, HILL, OATH]
    found = TextReader(nodes, relations(), about=about, with_model=False).read(text)
    facts = [(f.node.name, f.other.name) for f in found if f.kind == "fact" and f.other]
    assert facts == [fact]


@pytest.mark.parametrize(
    "text",
    [
        # Who lives there is named behind the verb.
        "Живёт в Тихой обители Петтра Косс.",
        # It is the other guild that the sentence before speaks of.
        "Золочёная клятва стара. Находится в Тихой обители.",
        "근위대는 좋다. 퀼렛에 엘리 모스가 있다.",
    ],
)
def test_a_sentence_with_a_subject_of_its_own_is_not_about_the_entry(text: str) -> None:
    nodes = [*PEOPLE[:4], ABBEY, GUARD, HILL, OATH]
    found = TextReader(nodes, relations(), about=GUARD, with_model=False).read(text)
    assert GUARD not in [each for f in found if f.kind == "fact" for each in (f.node, f.other)]


@pytest.mark.parametrize(
    "text", ["Меч выкован кузнецом Теодором Ланцем.", "Меч дали жрецу Теодору Ланцу."]
)
def test_a_role_in_an_oblique_case_tells_that_a_name_is_a_person(text: str) -> None:
    found = TextReader([], relations(), with_model=False).read(text)
    assert [(f.node.name, f.node.kind) for f in found] == [("Теодор Ланц", "Character")]


def test_a_title_in_the_case_of_the_name_stays_a_title() -> None:
    nodes = [GraphNode(name="Омери", kind="Character"), *PEOPLE]
    found = TextReader(nodes, relations()).read("Петтра Косс увидела брата Омери.")
    assert [each for each in found if each.kind == "fact"] == []


STAT_BLOCK = """| Stat | Value |
|---|---|
| **AC** | 16 |
| **PD** | 14 |

Bellow +10 vs. MD (1d3 nearby enemies)—15 psychic damage.

**Wisdom + Level vs. MD**

Fangs +10 vs. AC—9 damage. Miss: Half damage. Resist magic 13+.
"""
RULES = """Fighters gain a +2 class bonus to Strength or Constitution. You can pop free from
up to two enemies when using Skilled Intercept. When you roll a natural 20 with an attack, you gain
an additional use of Tough As Iron this battle. The Champion Feat is for player characters alone.
"""
LICENCE = """Each Contributor represents that the Contributor believes its Contributions are its
original creation. Copyright 2017, Pelgrane Press Ltd. You may create and distribute a Larger Work
under terms of Your choice, pursuant to Section 4.
"""
PARAGRAPH = "The miller Oda Renn owns the Green Mill. Her brother is the ferryman Tam Sorrel."


@pytest.mark.parametrize("text", [STAT_BLOCK, RULES, LICENCE])
def test_rules_stat_blocks_and_licences_are_not_read(text: str) -> None:
    assert read(text) == []
    assert TextReader([], relations()).read(text) == []


def test_stat_lines_and_headings_beside_prose_are_left_out() -> None:
    text = f"# Haruspicy Master\n\n{PARAGRAPH}\n\nAC 15, HP 12, Thorn Dagger +4 vs. MD, 1d6+2.\n"
    assert {each.node.name for each in TextReader([], relations()).read(text)} == {
        each.node.name for each in TextReader([], relations()).read(PARAGRAPH)
    }
    assert "Oda Renn" in {each.node.name for each in TextReader([], relations()).read(text)}


@pytest.mark.parametrize(
    "text",
    [
        "No ferry without a licence: the Guild sells licences, and Oda Renn, the miller, has none.",
        "Between 1990-95 the miller Oda Renn lost 3 of 12 barges. - It rained, said Oda Renn.",
    ],
)
def test_a_story_may_have_licences_and_numbers(text: str) -> None:
    assert "Oda Renn" in {each.node.name for each in TextReader([], relations()).read(text)}
