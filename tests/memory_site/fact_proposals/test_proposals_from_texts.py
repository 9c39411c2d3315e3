"""Proposals from texts: read, never believed before they are accepted, decided and undone."""

from typing import Any

import pytest
from django.utils import translation

from knowledge.entry_store import save_entry
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.labels import relation_label
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore
from knowledge.trash import trash_lore
from memory_site.fact_proposals.contradictions import contradiction_in_words
from memory_site.fact_proposals.decide import accept, decide_many, drop, reopen
from memory_site.fact_proposals.lists import proposals_of
from memory_site.fact_proposals.sources import find_source
from memory_site.fact_proposals.statement import ProposedStatement, sentence_of
from memory_site.fact_proposals.store import (
    ReadingResult,
    calendar_names,
    read_source,
    read_world,
)
from retrieval.errors import Conflict, Invalid
from tests.memory_site.fact_proposals.conftest import TEXT, make_entity
from worlds.calendars.presets import preset
from worlds.models import Party, World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


def read(world: World, ref: str = "saltmen") -> ReadingResult:
    return read_source(world, find_source(world, "lore", ref))


def one(world: World, kind: str, **fields: str) -> FactProposal:
    wanted = {f"fields__{name}": value for name, value in fields.items()}
    return FactProposal.objects.get(world=world, kind=kind, **wanted)


def leads(world: World) -> FactProposal:
    return one(world, "fact", label="leads")


def test_nothing_is_believed_before_it_is_accepted(world: World, saltmen: Lore) -> None:
    read(world)
    assert not GraphEdge.objects.filter(world=world).exists()
    assert not GraphNode.objects.filter(name="Joss Arden").exists()
    proposal = accept(leads(world), by="Anna")
    edge = GraphEdge.objects.get(world=world)
    assert (edge.src.name, edge.label, edge.dst.name) == ("Marta Quill", "leads", "The Saltmen")
    assert edge.source_note == "Marta Quill leads the Saltmen."
    assert edge.source_ref == "lore:saltmen"
    assert (proposal.state, proposal.decided_by) == ("accepted", "Anna")


def test_the_quoted_sentence_stands_at_its_place_in_the_text(world: World, saltmen: Lore) -> None:
    read(world)
    for row in FactProposal.objects.filter(world=world):
        assert TEXT[row.start : row.start + len(row.quote)] == row.quote


def test_what_a_secret_says_is_for_game_masters(world: World, saltmen: Lore) -> None:
    read(world)
    assert leads(world).visibility == "public"
    hates = one(world, "fact", relation="ENEMY_OF")
    assert hates.visibility == "gm"
    accept(hates, by="Anna")
    assert GraphEdge.objects.get(relation="ENEMY_OF").visibility == "gm"


def test_reading_again_brings_nothing_new_nor_what_was_dropped(world: World, saltmen: Lore) -> None:
    assert read(world).new > 3
    assert read(world) == ReadingResult()
    drop(leads(world), by="Anna")
    saltmen.body = f"A word before.\n\n{TEXT}"
    save_entry(saltmen)
    assert read(world) == ReadingResult()
    assert leads(world).state == "dropped"


def test_a_sentence_that_is_gone_is_not_proposed_any_longer(world: World, saltmen: Lore) -> None:
    read(world)
    saltmen.body = "Salt."
    save_entry(saltmen)
    assert read(world).withdrawn > 3
    assert not FactProposal.objects.filter(world=world, state="open").exists()


def test_what_the_graph_says_already_is_not_proposed(world: World, saltmen: Lore) -> None:
    read(world)
    accept(leads(world), by="Anna")
    FactProposal.objects.all().delete()
    read(world)
    assert not FactProposal.objects.filter(fields__label="leads").exists()


@pytest.mark.parametrize(
    ("subject", "relation", "label", "target", "is_proposed"),
    [
        ("Pell Orso", "RELATES_TO", "mentor of", "Halda Brenn", True),
        ("Pell Orso", "RELATES_TO", "parent of", "Halda Brenn", True),
        ("Halda Brenn", "RELATES_TO", "daughter of", "Pell Orso", True),
        ("Pell Orso", "RELATES_TO", "father of", "Halda Brenn", False),
        ("Pell Orso", "RELATES_TO", "отец", "Halda Brenn", False),
        ("Pell Orso", "ALLY_WITH", "father of", "Halda Brenn", False),
    ],
)
def test_a_fact_is_known_by_what_its_label_means(
    world: World, subject: str, relation: str, label: str, target: str, is_proposed: bool
) -> None:
    people = {name: make_entity(world, name, "Character") for name in (subject, target)}
    edge = GraphEdge(world=world, relation_id=relation, label=label)
    edge.src, edge.dst = people[subject], people[target]
    save_manual_fact(edge, by="Anna")
    save_entry(Lore(world=world, slug="pell", title="Tale", body=FATHER))
    read(world, "pell")
    assert FactProposal.objects.filter(kind="fact").exists() == is_proposed


FATHER = "Pell Orso is the father of Halda Brenn."


def test_who_leads_by_a_field_is_not_proposed_again(world: World, saltmen: Lore) -> None:
    leader = GraphEdge(world=world, relation_id="PART_OF", label="leads")
    leader.src = GraphNode.objects.get(name="Marta Quill")
    leader.dst = GraphNode.objects.get(name="The Saltmen")
    save_manual_fact(leader, by="Anna")
    read(world)
    assert not FactProposal.objects.filter(fields__label="leads").exists()


def test_a_quote_has_the_whole_links_that_it_begins_and_ends_with(
    world: World, saltmen: Lore
) -> None:
    saltmen.body = "It rained. [[Marta Quill]] **hates** [[ivo-brandt|Ivo Brandt]]\n\nNobody slept."
    save_entry(saltmen)
    read(world)
    hates = one(world, "fact", relation="ENEMY_OF")
    assert hates.quote == "[[Marta Quill]] **hates** [[ivo-brandt|Ivo Brandt]]"
    assert saltmen.body[hates.start :].startswith(hates.quote)


LISTS = """## Districts

- [[Ropewalk Loft]]
- [[Sallow Yard]]

| Кто | Чем занят |
|---|---|
| Фома Лютый | служит в порту, платит долги |
| Марфа Зимина | хозяйка порта |
"""


def test_items_and_rows_are_read_apart(world: World) -> None:
    for name, kind in (
        ("Ropewalk Loft", "Location"),
        ("Sallow Yard", "Location"),
        ("Фома Лютый", "Character"),
        ("Марфа Зимина", "Character"),
    ):
        make_entity(world, name, kind)
    save_entry(Lore(world=world, slug="town", title="Town", kind="place", body=LISTS))
    read(world, "town")
    assert not FactProposal.objects.filter(kind="fact").exists()
    assert not FactProposal.objects.filter(quote__contains="\n").exists()


def test_a_fact_about_a_new_name_waits_for_the_name(world: World, saltmen: Lore) -> None:
    read(world)
    brother = one(world, "fact", label="brother of")
    with pytest.raises(Conflict, match="Joss Arden"):
        accept(brother, by="Anna")
    accept(one(world, "entity"), by="Anna")
    accept(brother, by="Anna")
    assert GraphEdge.objects.get().src.name == "Joss Arden"


def test_many_are_accepted_at_once_new_names_first(world: World, saltmen: Lore) -> None:
    read(world)
    rows = FactProposal.objects.filter(world=world, state="open")
    result = decide_many(rows, "accept", by="Anna")
    assert result.decided == 5
    assert result.refused == {}
    assert GraphNode.objects.get(name="Joss Arden").aliases == ["Reed"]
    assert GraphEdge.objects.count() == 3


def test_a_decision_is_undone_with_what_it_wrote(world: World, saltmen: Lore) -> None:
    read(world)
    rows = FactProposal.objects.filter(world=world)
    decide_many(rows, "accept", by="Anna")
    for kind in ("fact", "alias"):
        assert not decide_many(rows.filter(kind=kind), "reopen", by="Anna").refused
    assert not GraphEdge.objects.believed_now().exists()
    assert GraphNode.objects.get(name="Joss Arden").aliases == []
    assert not decide_many(rows.filter(kind="entity"), "reopen", by="Anna").refused
    assert not GraphNode.objects.believed_now().filter(name="Joss Arden").exists()
    # What was believed about the name stays as history.
    assert GraphEdge.objects.filter(src__name="Joss Arden").exists()


def test_many_are_taken_back_at_once_and_can_be_accepted_again(world: World, saltmen: Lore) -> None:
    read(world)
    rows = FactProposal.objects.filter(world=world)
    for _time in range(2):
        assert decide_many(rows, "accept", by="Anna").refused == {}
        assert GraphNode.objects.believed_now().filter(name="Joss Arden").count() == 1
        assert decide_many(rows, "reopen", by="Anna").refused == {}
        assert not GraphNode.objects.believed_now().filter(name="Joss Arden").exists()


def test_a_name_with_a_fact_that_stands_is_not_taken_back(world: World, saltmen: Lore) -> None:
    read(world)
    rows = FactProposal.objects.filter(world=world)
    decide_many(rows, "accept", by="Anna")
    assert len(decide_many(rows.filter(kind="entity"), "reopen", by="Anna").refused) == 1


def test_a_name_without_facts_is_taken_back(world: World, saltmen: Lore) -> None:
    read(world)
    name = accept(one(world, "entity"), by="Anna")
    assert reopen(name, by="Anna").state == "open"
    assert not GraphNode.objects.filter(name="Joss Arden").exists()


def test_a_changed_fact_is_not_taken_back_over_the_change(world: World, saltmen: Lore) -> None:
    read(world)
    proposal = accept(leads(world), by="Anna")
    GraphEdge.objects.update(believed_until="2030-01-01T00:00:00Z")
    with pytest.raises(Conflict):
        reopen(proposal, by="Anna")


def test_a_proposal_is_changed_before_it_is_accepted(world: World, saltmen: Lore) -> None:
    read(world)
    proposal = leads(world)
    changed = ProposedStatement.model_validate({**proposal.fields, "label": "founder of"})
    assert accept(proposal, by="Anna", changed=changed).state == "changed"
    assert GraphEdge.objects.get().label == "founder of"


def test_two_game_masters_decide_once(world: World, saltmen: Lore) -> None:
    read(world)
    proposal = leads(world)
    drop(proposal, by="Anna")
    with pytest.raises(Conflict):
        accept(proposal, by="Boris")


def test_a_contradiction_with_the_canon_is_shown_at_the_proposal(
    world: World, saltmen: Lore
) -> None:
    make_edge(world, "Ivo Brandt", "RELATES_TO", "The Saltmen", label="leads")
    make_edge(world, "Marta Quill", "ALLY_WITH", "Ivo Brandt")
    read(world)
    (against,) = leads(world).contradicts
    assert contradiction_in_words(against) == "Ivo Brandt leads The Saltmen"
    with translation.override("ru"):
        assert contradiction_in_words(against) == "Ivo Brandt возглавляет: The Saltmen"
    with translation.override("ko"):
        assert contradiction_in_words(against) == "Ivo Brandt 이끄는 대상: The Saltmen"
    assert contradiction_in_words("A text from before") == "A text from before"
    hates = one(world, "fact", relation="ENEMY_OF")
    assert len(hates.contradicts) == 1


def make_edge(world: World, src: str, relation: str, dst: str, *, label: str = "") -> None:
    from knowledge.graph.schemas import EdgeFact, GraphFact
    from knowledge.graph.upsert import upsert_facts

    upsert_facts(
        world, [GraphFact(edge=EdgeFact(src=src, relation=relation, dst=dst, label=label))]
    )


def test_a_death_needs_a_day(world: World, saltmen: Lore) -> None:
    saltmen.body = "Marta Quill died last winter."
    save_entry(saltmen)
    read(world)
    death = one(world, "death")
    with pytest.raises(Invalid, match="day"):
        accept(death, by="Anna")
    changed = ProposedStatement.model_validate({**death.fields, "day": 120})
    accept(death, by="Anna", changed=changed)
    node = GraphNode.objects.get(name="Marta Quill")
    assert node.until == 120
    reopen(death, by="Anna")
    node.refresh_from_db()
    assert node.until is None


def test_an_alias_of_an_entry_is_written_to_the_entry(world: World, saltmen: Lore) -> None:
    GraphNode.objects.filter(name="The Saltmen").update(lore=saltmen)
    saltmen.body = "The Saltmen, also known as the Grey Hands, trade."
    save_entry(saltmen)
    read(world)
    alias = accept(one(world, "alias"), by="Anna")
    saltmen.refresh_from_db()
    assert saltmen.aliases == ["Grey Hands"]
    reopen(alias, by="Anna")
    saltmen.refresh_from_db()
    assert saltmen.aliases == []


def test_proposals_go_with_their_text(world: World, saltmen: Lore) -> None:
    read(world)
    trash_lore([saltmen], by="Anna")
    assert not proposals_of(world).exists()
    assert FactProposal.objects.exists()
    Lore._base_manager.get(pk=saltmen.pk).delete_for_good()
    assert not FactProposal.objects.exists()


def test_ten_thousand_proposals_are_dropped_in_one_statement(
    world: World, saltmen: Lore, django_assert_max_num_queries: Any
) -> None:
    rows = [
        FactProposal(
            world=world,
            kind="entity",
            source_kind="lore",
            source_id=saltmen.pk,
            source_ref="saltmen",
            quote="X",
            fields={"entity": f"Name {number}", "entity_kind": "Character"},
            key=str(number),
        )
        for number in range(10_000)
    ]
    FactProposal.objects.bulk_create(rows, batch_size=1000)
    with django_assert_max_num_queries(2):
        assert decide_many(proposals_of(world), "drop", by="Anna").decided == 10_000


def test_the_texts_of_a_whole_world_are_read(world: World, saltmen: Lore) -> None:
    assert read_world(world).new == 5
    assert read_world(world) == ReadingResult()


def test_entries_without_an_entity_get_one_with_their_first_fact(
    world: World, saltmen: Lore
) -> None:
    GraphNode.objects.filter(name="The Saltmen").delete()
    read(world)
    accept(leads(world), by="Anna")
    assert GraphEdge.objects.get().dst.lore == saltmen


def test_months_of_the_calendar_are_no_names(world: World) -> None:
    calendar = preset("gregorian", "en")
    save_calendar(world, calendar, by="Anna")
    assert {"january", "monday"} <= calendar_names(world)
    assert calendar_names(World(pk=None, slug="elsewhere", name="Elsewhere")) == frozenset()


def test_player_characters_and_the_world_are_no_new_names(
    world: World, saltmen: Lore, lanternbearers: Party
) -> None:
    lanternbearers.members = ["Rook Adler"]
    lanternbearers.save()
    saltmen.body = (
        f"The scholar Rook Adler saw the town of {world.name}. The ferryman Joss Arden slept."
    )
    save_entry(saltmen)
    read(world)
    found = FactProposal.objects.filter(world=world, kind="entity")
    assert [row.fields["entity"] for row in found] == ["Joss Arden"]


def test_a_licence_is_not_read(world: World, saltmen: Lore) -> None:
    saltmen.title = "LICENSE"
    save_entry(saltmen)
    assert read(world).new == 0


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_what_is_proposed_is_shown_in_the_language_of_the_page(language: str) -> None:
    labels = {
        label
        for kind in claim_kinds().values()
        for reading in kind.readings
        for label in reading.labels
    }
    with translation.override(language):
        assert {label for label in labels if relation_label("RELATES_TO", label) == label} == set()
        born = ProposedStatement(entity="Oda", what="born", value="312")
        assert "born" not in sentence_of("date", born)
