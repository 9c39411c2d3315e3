"""rules_lookup: by id, by name in any form, by question; with its source; without what the caller
may not know.
"""

import pytest
from pydantic import ValidationError

from knowledge.entry_store import save_entry
from knowledge.glossary.load import load_glossary
from knowledge.models import Document, Rule
from knowledge.presenters import GmHitOut, SearchAnswer
from knowledge.schemas import RulesQuestion
from knowledge.tools import rules_lookup
from retrieval.errors import Ambiguous, Invalid, NotFound
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import GameSystem, World


def ask(world: World, audience_is_gm: bool = True, **question: object) -> SearchAnswer:
    caller = Caller.gm(world) if audience_is_gm else Caller(world, PUBLIC)
    return rules_lookup(RulesQuestion(**question), caller)


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


@pytest.mark.usefixtures("rules")
class TestLookingUp:
    @pytest.mark.parametrize(
        "reference",
        ["srd-5.1/conditions/grappled", "conditions/grappled", "Grappled", "схваченного"],
    )
    def test_an_id_or_a_name_gives_exactly_that_rule(self, world: World, reference: str) -> None:
        answer = ask(world, rule_id=reference)
        assert ids(answer) == ["srd-5.1/conditions/grappled"]
        assert answer.hits[0].match == "exact"

    def test_each_hit_carries_its_edition_licence_and_source(self, world: World) -> None:
        source = ask(world, term="fireball").hits[0].source
        assert (source.document, source.edition, source.licence) == (
            "System Reference Document 5.1",
            "SRD 5.1 (2014)",
            "CC-BY-4.0",
        )

    @pytest.mark.parametrize(
        "term", ["fireball", "Fire ball", "огненным шаром", "화염구를", "firebal"]
    )
    def test_a_name_is_found_in_any_form(self, world: World, term: str) -> None:
        assert ids(ask(world, term=term))[0] == "srd-5.1/spells/fireball"

    def test_a_question_finds_the_rule_that_answers_it(self, world: World) -> None:
        question = "what happens to a grappled creature that is hurled away?"
        assert ids(ask(world, term=question))[0] == "srd-5.1/conditions/grappled"

    def test_a_russian_question_reaches_an_english_rule_through_the_glossary(
        self, world: World
    ) -> None:
        load_glossary(GameSystem.objects.get())
        answer = ask(world, term="Сколько часов длится продолжительный отдых?", explain=True)
        assert ids(answer)[0] == "srd-5.1/rules/resting/long-rest"
        assert answer.explain is not None
        assert any("Long Rest" in line for line in answer.explain.expanded)

    def test_a_kind_narrows_the_search(self, world: World) -> None:
        assert {hit.kind for hit in ask(world, term="creature", kind="spell").hits} == {"spell"}

    def test_an_unknown_id_is_answered_with_candidates(self, world: World) -> None:
        with pytest.raises(NotFound) as caught:
            ask(world, rule_id="srd-5.1/conditions/grapled")
        assert "srd-5.1/conditions/grappled" in caught.value.candidates

    def test_a_budget_cuts_and_says_so(self, world: World) -> None:
        answer = ask(world, term="creature", max_chars=200, k=5)
        assert answer.truncated
        assert sum(len(hit.text) for hit in answer.hits) <= 200

    @pytest.mark.parametrize("nothing", [{}, {"term": " \n "}, {"rule_id": ""}])
    def test_a_question_without_term_and_id_is_refused(self, nothing: dict[str, str]) -> None:
        with pytest.raises(ValidationError, match="term"):
            RulesQuestion(**nothing)

    def test_a_nul_character_is_refused_in_words(self, world: World) -> None:
        with pytest.raises(Invalid, match="NUL"):
            ask(world, term="fire\0ball")


def test_two_rules_that_end_alike_are_not_guessed_between(
    rules: dict[str, Rule], world: World
) -> None:
    save_entry(
        Rule(
            key="house/spells/fly",
            document=rules["Fly"].document,
            title="Flight",
            body="House rule.",
        )
    )
    with pytest.raises(Ambiguous) as caught:
        ask(world, rule_id="spells/fly")
    assert set(caught.value.candidates) == {"house/spells/fly", "srd-5.1/spells/fly"}


def test_a_house_rule_of_another_world_is_not_found(rules: dict[str, Rule], world: World) -> None:
    other = World.objects.create(slug="saltmere", name="Saltmere", system=world.system)
    house = Document.objects.create(
        slug="house", title="House rules", system=world.system, world=other
    )
    save_entry(
        Rule(
            key="house/tides", document=house, world=other, title="Tides", body="Roll for the tide."
        )
    )
    assert ids(ask(other, term="tides")) == ["house/tides"]
    assert "house/tides" not in ids(ask(world, term="tides"))
    with pytest.raises(NotFound):
        ask(world, rule_id="house/tides")


def test_a_hidden_rule_does_not_exist_for_players(rules: dict[str, Rule], world: World) -> None:
    rule = Rule(
        key="house/doom",
        document=rules["Fly"].document,
        world=world,
        title="Doom",
        body="The doom clock.",
    )
    rule.visibility = Visibility.GM
    save_entry(rule)
    assert ids(ask(world, term="doom clock"))[0] == "house/doom"
    assert "house/doom" not in ids(ask(world, audience_is_gm=False, term="doom clock"))
    with pytest.raises(NotFound) as caught:
        ask(world, audience_is_gm=False, rule_id="house/doom")
    assert "house/doom" not in caught.value.candidates


def test_players_are_not_told_about_visibility(rules: dict[str, Rule], world: World) -> None:
    assert isinstance(ask(world, term="fireball").hits[0], GmHitOut)
    for hit in ask(world, audience_is_gm=False, term="fireball").model_dump()["hits"]:
        assert not {"visibility", "known_to", "secret", "row", "passage"} & set(hit)
