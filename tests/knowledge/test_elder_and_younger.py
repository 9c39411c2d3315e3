"""`lore_assert` on which of two siblings is the elder, and on verbs that a particle changes."""

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from worlds.callers import Caller

pytestmark = pytest.mark.django_db

PEOPLE = [
    ("Runa Vell", ["Руна Велл", "루나 벨"]),
    ("Odo Vell", ["Одо Велл", "오도 벨"]),
    ("Ida Vell", ["Ида Велл", "이다 벨"]),
]


@pytest.fixture
def siblings(world):
    nodes = [NodeFact(kind="Character", name=name, aliases=more) for name, more in PEOPLE]
    lamp = NodeFact(kind="Item", name="Tide Lamp", aliases=["Лампа приливов"])
    edges = [
        EdgeFact(src="Runa Vell", relation="KNOWS", dst="Odo Vell", label="elder sister of"),
        EdgeFact(src="Odo Vell", relation="KNOWS", dst="Ida Vell", label="brother of"),
        EdgeFact(src="Odo Vell", relation="RELATES_TO", dst="Tide Lamp", label="maker of"),
    ]
    rows = [GraphFact(node=node) for node in (*nodes, lamp)]
    upsert_facts(world, [*rows, *(GraphFact(edge=edge) for edge in edges)])
    return world


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Runa Vell is the elder sister of Odo Vell.", "true"),
        ("Runa Vell is Odo Vell's sister.", "true"),
        ("Runa Vell is the younger sister of Odo Vell.", "false"),
        ("Odo Vell is Runa Vell's younger brother.", "true"),
        ("Odo Vell is Runa Vell's elder brother.", "false"),
        ("Odo Vell is not Runa Vell's elder brother.", "true"),
        ("Odo Vell is the elder brother of Ida Vell.", "unknown"),
        ("Руна Велл — старшая сестра Одо Велла.", "true"),
        ("Руна Велл — младшая сестра Одо Велла.", "false"),
        ("Одо Велл — младший брат Руны Велл.", "true"),
        ("루나 벨은 오도 벨의 누나이다.", "true"),
        ("루나 벨은 오도 벨의 여동생이다.", "false"),
        ("오도 벨은 루나 벨의 남동생이다.", "true"),
    ],
)
def test_the_elder_of_two_siblings_is_not_the_younger(siblings, statement, result):
    answer = lore_assert(Assertion(fact=statement), Caller.gm(siblings))
    assert answer.result == result


def test_who_makes_off_with_a_thing_has_not_made_it(siblings):
    statement = Assertion(fact="Runa Vell made off with Tide Lamp.")
    answer = lore_assert(statement, Caller.gm(siblings))
    assert answer.result == "unknown"
