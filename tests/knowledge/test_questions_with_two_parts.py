"""Questions with two parts: what is compared, two questions in one, and what is one question."""

import pytest

from knowledge.glossary.load import load_glossary
from knowledge.models import Rule
from knowledge.questions.parts import find_comparison, interleave, split_clauses
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore, find_rules
from tests.knowledge.test_lore_search import Write
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import GameSystem, World

GRAPPLED, FIREBALL = "srd-5.1/conditions/grappled", "srd-5.1/spells/fireball"


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("what's the difference between a short rest and a long rest?", "a short rest|a long rest"),
        ("how is fireball different from lightning bolt", "fireball|lightning bolt"),
        ("fireball vs lightning bolt", "fireball|lightning bolt"),
        ("в чём разница между огнём и льдом?", "огнём|льдом"),
        ("чем огненный шар отличается от молнии", "огненный шар|молнии"),
        (
            "разница между коротким и продолжительным отдыхом",
            "коротким отдыхом|продолжительным отдыхом",
        ),
        ("짧은 휴식과 긴 휴식의 차이가 뭐야?", "짧은 휴식|긴 휴식"),
        ("화염구와 번개는 어떻게 달라?", "화염구|번개"),
    ],
)
def test_a_comparison_is_recognized_in_three_languages(question: str, things: str) -> None:
    comparison = find_comparison(question)
    assert comparison is not None
    assert comparison.is_all
    assert comparison.things == tuple(things.split("|"))


def test_a_comparison_that_asks_more_stays_a_question() -> None:
    comparison = find_comparison("longsword or greatsword: which deals more damage")
    assert comparison is not None
    assert not comparison.is_all


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("How much is plate and how heavy is a shield?", "how heavy is a shield?"),
        ("Сколько стоят латы и сколько весит щит?", "сколько весит щит?"),
        ("판금 갑옷은 얼마고 방패는 몇 파운드야?", "방패는 몇 파운드야?"),
    ],
)
def test_two_questions_are_split(question: str, second: str) -> None:
    clauses = split_clauses(question)
    assert clauses is not None
    assert clauses[1] == second


@pytest.mark.parametrize(
    "question",
    [
        "Who is Mira Voss and what does she want?",
        "can I cast a spell without a spell slot and without a focus",
        "how do advantage and disadvantage work",
        "Кто такая Мира и чего она хочет?",
        "сколько урона без ячейки и не заклинанием",
        "주문 슬롯 없이 쓰고 공격하면 뭐가 돼?",
        "what is this, " * 200,
    ],
)
def test_what_depends_on_the_other_part_is_one_question(question: str) -> None:
    assert split_clauses(question) is None


def test_hits_of_parts_come_by_turns_and_once() -> None:
    assert interleave(["abc", "bxyz"], key=str) == ["a", "b", "x", "c", "y", "z"]


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    "question",
    [
        "difference between grappled and fireball",
        "what does grappled mean and how does fireball work?",
        "чем схваченный отличается от огненного шара",
        "붙잡힘과 화염구의 차이는?",
    ],
)
def test_the_best_of_each_part_comes_first(world: World, question: str) -> None:
    load_glossary(GameSystem.objects.get())
    answer = find_rules(RulesQuestion(term=question, explain=True), Caller.gm(world))
    assert {hit.id for hit in answer.hits[:2]} == {GRAPPLED, FIREBALL}
    assert len({hit.id for hit in answer.hits}) == len(answer.hits) <= 5
    assert answer.explain is not None


def test_both_parts_of_a_question_about_lore_are_answered(world: World, write: Write) -> None:
    for number in range(5):
        write(f"Mill {number}", "Mira Voss bought flour at this mill. Mira Voss was here.")
    write("Mira Voss", "She keeps the ledger.")
    write("Drowned Mill", "It stands under water.")
    for question in (
        "Who is Mira Voss and where is the Drowned Mill?",
        "the difference between Mira Voss and the Drowned Mill",
    ):
        answer = find_lore(LoreQuestion(query=question, k=3, explain=True), Caller.gm(world))
        assert [hit.id for hit in answer.hits[:2]] == ["mira-voss", "drowned-mill"]
        assert len(answer.hits) == 3


def test_a_hidden_name_splits_no_question(world: World, write: Write) -> None:
    write("Mira Voss", "She keeps the ledger of the mill.")
    write("The Quay", "Boats and eels.")
    question = LoreQuestion(query="Who is Mira Voss and where is the Drowned Mill?")
    before = find_lore(question, Caller(world, PUBLIC)).model_dump_json()
    write("Drowned Mill", "It stands under water.", visibility=Visibility.GM)
    write("Drowned Mill", "A draft.", slug="draft", status="draft")
    assert find_lore(question, Caller(world, PUBLIC)).model_dump_json() == before


def test_a_kind_of_rule_is_kept_in_both_parts(world: World, rules: dict[str, Rule]) -> None:
    question = RulesQuestion(term="difference between grappled and fireball", kind="spell")
    hits = find_rules(question, Caller.gm(world)).hits
    assert {hit.kind for hit in hits} == {"spell"}
