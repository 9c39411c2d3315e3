"""`lore_assert` on the demo world: true, false or unknown, in three languages, and never a
guess.
"""

import json

import pytest

from bench.fact_check import STATEMENTS, answer_statements
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import GraphEdge, GraphNode
from memory_site.demo.load import load_graph
from memory_site.demo.world_files import read_world
from tests.loopback.answers import answer_json, status
from worlds.audiences import PUBLIC, Audience
from worlds.callers import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def ferrymark(world):
    load_graph(read_world(), world)
    return world


def check(world, fact, audience=None, **more):
    caller = Caller(world=world, audience=audience) if audience else Caller.gm(world)
    return lore_assert(Assertion(fact=fact, **more), caller)


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Mira is allied with the Ferrymen's Guild", "true"),
        ("Is Mira Voss allied with the Ferrymens Guild?", "true"),
        ("Mira Vos is an ally of the Ferymen's Guild.", "true"),
        ("Мира враждует с Гильдией", "false"),
        ("Гильдией паромщиков руководит Мира Восс", "true"),
        ("미라는 뱃사공 길드의 적이다", "false"),
        ("미라 보스가 뱃사공길드를 이끈다", "true"),
        ("Mira Voss is in Ferrymark", "true"),
        ("Mira Voss is not in Ferrymark", "false"),
        ("Hask Ondrel was the guildmaster of the Ferrymen's Guild", "true"),
        ("Mira Voss likes the Lamp Office", "unknown"),
        ("Mira Voss is allied with the Salt Wardens", "unknown"),
        ("Mira's brother leads the Ferrymen's Guild", "unknown"),
        ("Mira Voss", "unknown"),
    ],
)
def test_a_plain_statement_is_judged(ferrymark, statement, result):
    assert check(ferrymark, statement).result == result


def test_a_triple_is_judged(ferrymark):
    triple = {"subject": "Matvei Kotelnik", "relation": "OWNS", "object": "Tin Heron"}
    assert check(ferrymark, triple).result == "true"
    assert check(ferrymark, {**triple, "subject": "Mira Voss"}).result == "false"
    assert check(ferrymark, {**triple, "object": "Hall of Oars"}).result == "unknown"
    assert (
        check(
            ferrymark, {"subject": "Mira", "relation": "sister of", "object": "Corin Voss"}
        ).result
        == "true"
    )


def test_an_answer_says_which_fact_and_whose(ferrymark):
    (source,) = check(ferrymark, "Orrin Tace lives on the Stumps").sources
    assert (source.statement, source.source, source.ref) == (
        "Orrin Tace – LOCATED_IN – The Stumps",
        "lore",
        "orrin-tace",
    )


def test_the_day_decides(ferrymark):
    statement = "Hask Ondrel leads the Ferrymen's Guild"
    assert check(ferrymark, statement, at=76000).result == "true"
    assert check(ferrymark, statement, at=76565).result == "false"


def test_the_planted_contradiction_is_found_and_keeps_the_answer_open(ferrymark):
    (found,) = [c for c in open_contradictions(ferrymark) if c.first.src.slug == "ninefold-oar"]
    assert {found.first.dst.slug, found.second.dst.slug} == {"ferrymens-guild", "house-brackwen"}
    answer = check(ferrymark, "The Ninefold Oar belongs to the Ferrymen's Guild")
    assert (answer.result, answer.contested) == ("unknown", True)
    assert answer.sources
    assert answer.opposing


def test_a_contradiction_with_a_hidden_fact_is_not_reported(ferrymark):
    answer = check(ferrymark, "The Ninefold Oar belongs to the Ferrymen's Guild", audience=PUBLIC)
    assert (answer.result, answer.contested, answer.opposing) == ("true", False, [])


def test_a_hidden_fact_is_unknown_to_others(ferrymark):
    statement = "Jory Fenn is part of Quiet Water"
    assert check(ferrymark, statement).result == "true"
    assert (
        check(ferrymark, statement, audience=Audience.parse("party:lanternbearers")).result
        == "unknown"
    )


def test_an_unsure_fact_gives_no_verdict(ferrymark):
    GraphEdge.objects.filter(src__slug="orrin-tace", relation="LOCATED_IN").update(confidence=0.3)
    assert check(ferrymark, "Orrin Tace lives on the Stumps").result == "unknown"


def test_a_recorded_death(ferrymark):
    GraphNode.objects.filter(slug="corin-voss").update(until=73388)
    assert check(ferrymark, "Corin Voss is dead").result == "true"
    assert check(ferrymark, "Корин Восс жив").result == "false"
    assert check(ferrymark, "Mira Voss is dead").result == "unknown"


def test_the_statements_of_the_tuning_half_keep_their_bars(db):

    rows = [json.loads(line) for line in STATEMENTS.read_text(encoding="utf-8").splitlines()]
    answers = [
        (row["label"], answer)
        for row, answer, *_rest in answer_statements([r for r in rows if r["half"] == "tuning"])
    ]
    for label in ("true", "false"):
        truths = [truth for truth, answer in answers if answer == label]
        assert truths.count(label) >= 0.95 * len(truths) > 0
    unknowable = [answer for truth, answer in answers if truth == "unknown"]
    assert unknowable.count("unknown") >= 0.9 * len(unknowable)


ODD = "When it counts, Mira Voss will always take the part of the Ferrymen's Guild"


def test_a_language_model_parses_what_the_patterns_cannot(ferrymark, scripted_llm):
    read = {
        "kind": "allied",
        "subject": "Mira Voss",
        "object": "Ferrymen's Guild",
        "negated": False,
        "past": False,
    }
    scripted_llm.chat.then(answer_json(read))
    assert check(ferrymark, ODD).result == "true"


def test_a_model_claim_with_names_not_in_the_statement_is_ignored(ferrymark, scripted_llm):
    read = {
        "kind": "enemy",
        "subject": "Isaura Brackwen",
        "object": "Ferrymen's Guild",
        "negated": False,
        "past": False,
    }
    scripted_llm.chat.then(answer_json(read))
    assert check(ferrymark, ODD).result == "unknown"


def test_a_model_that_is_down_is_named(ferrymark, scripted_llm):
    scripted_llm.chat.always(status(503, retry_after=0.01))
    answer = check(ferrymark, ODD)
    assert (answer.result, answer.degraded) == ("unknown", ["llm"])
