"""What the text of an entry states in a form is a fact, which follows the text."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from knowledge.entry_store import save_entry
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.links import rename_everywhere
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.trash import restore_lore, trash_lore
from knowledge.upsert import upsert_lore
from tests.cast import create_campaign
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")
ALLIES = ("Quill", "ALLY_WITH", "Vess")


def save(world: World, title: str, kind: str = "biography", **fields: Any) -> Lore:
    values = {"status": "published", "visibility": "public", **fields}
    entry = LoreIn.model_validate({"title": title, "kind": kind, **values})
    return upsert_lore(world, entry)[0]


def write(world: World, body: str, **fields: Any) -> Lore:
    """Save the entry of Quill with this text."""
    return save(world, "Quill", body=body, **fields)


@pytest.fixture
def people(world: World) -> World:
    for name in ("Quill", "Vess", "Orrin"):
        save(world, name)
    save(world, "Saltgate", "place")
    save(world, "Lamplighters", "faction")
    return world


def facts(world: World, audience: Audience = GM) -> set[tuple[str, str, str]]:
    found = set()
    for fact in View(world, audience).facts():
        ends = fact.src.name, fact.dst.name
        first, second = sorted(ends) if fact.relation_id == "ALLY_WITH" else ends
        found.add((first, fact.label or fact.relation_id, second))
    return found


def test_lines_lists_and_tables_become_facts_with_their_line_as_source(people: World) -> None:
    write(people, "**Allies:** [[Vess]], [[Orrin]]\n\nHe met [[Saltgate]].")
    table = "| Name | Place |\n|---|---|\n| [[Quill]] | [[Saltgate]] |"
    save(people, "Lamplighters", "faction", body=f"## Members\n\n- [[Vess]]\n\n{table}")
    assert facts(people) == {
        ALLIES,
        ("Orrin", "ALLY_WITH", "Quill"),
        ("Vess", "PART_OF", "Lamplighters"),
        ("Quill", "PART_OF", "Lamplighters"),
    }
    fact = GraphEdge.objects.get(src__name="Vess", relation="PART_OF")
    source = fact.source_kind, fact.source_ref, fact.source_note
    assert source == ("lore", "lore:lamplighters", "- [[Vess]]")


def test_a_dropped_line_retracts_its_fact_and_the_others_stay(people: World) -> None:
    write(people, "Allies: [[Vess]], [[Orrin]]\n\nFaction: [[Lamplighters]]")
    kept = GraphEdge.objects.get(relation="PART_OF")
    write(people, "Allies: [[Vess]]\n\nFaction: [[Lamplighters]]")
    assert facts(people) == {ALLIES, ("Quill", "PART_OF", "Lamplighters")}
    notes = GraphEdge.objects.believed_now().values_list("source_note", flat=True)
    assert sorted(notes) == ["Allies: [[Vess]]", "Faction: [[Lamplighters]]"]
    assert GraphEdge.objects.believed_now().filter(pk=kept.pk).exists()
    write(people, "Nothing more.")
    assert facts(people) == set()
    assert GraphEdge.objects.count() == 3, "what was believed is history"
    write(people, "Allies: [[Vess]]")
    assert facts(people) == {ALLIES}


def test_a_target_that_is_written_later_completes_the_line(people: World) -> None:
    write(people, "Enemies: [[Magistrate]]\n\nAllies: [[Vess]]")
    assert facts(people) == {ALLIES}
    ally = GraphEdge.objects.get()
    retract_facts([ally], because="a game master said so")
    save(people, "Magistrate")
    assert len(facts(people)) == 1
    assert GraphEdge.objects.get(relation="ENEMY_OF").believed_until is None


def test_what_a_person_corrected_or_retracted_stays_while_the_line_is_there(people: World) -> None:
    write(people, "Allies: [[Vess]], [[Orrin]]")
    vess = GraphEdge.objects.get(source_note__contains="Vess", dst__name="Vess")
    vess.label = "sworn to"
    save_manual_fact(vess, by="gm")
    retract_facts(
        GraphEdge.objects.believed_now().filter(label=""), because="a game master said so"
    )
    write(people, "Allies: [[Vess]], [[Orrin]]\n\nMore about Quill.")
    write(people, "Nothing more.")
    assert {fact[1] for fact in facts(people)} == {"sworn to"}


def test_facts_of_programs_with_the_same_source_are_left_alone(people: World) -> None:
    write(people, "Allies: [[Vess]]")
    told = EdgeFact(
        src="quill",
        relation="KNOWS",
        dst="orrin",
        source_kind="lore",
        source_ref="lore:quill",
        source_note="chapter 3",
    )
    upsert_facts(people, [GraphFact(edge=told)])
    write(people, "Nothing.", visibility="gm")
    write(people, "Nothing at all.", visibility="public")
    assert {(fact.relation_id, fact.visibility) for fact in View(people, GM).facts()} == {
        ("KNOWS", "gm")
    }


def test_a_rename_keeps_the_fact_and_rewrites_its_line(people: World) -> None:
    write(people, "Allies: [[Vess]]")
    before = GraphEdge.objects.get().pk
    rename_everywhere(Lore.objects.get(title="Vess"), "Vess Marlow")
    fact = GraphEdge.objects.believed_now().get()
    assert (fact.pk, fact.source_note) == (before, "Allies: [[Vess Marlow]]")
    assert facts(people) == {("Quill", "ALLY_WITH", "Vess Marlow")}


def test_a_text_whose_relations_the_graph_refuses_is_saved(people: World) -> None:
    save(people, "Upper Town", "place", body="Part of: [[Saltgate]]")
    save(people, "Saltgate", "place", body="Part of: [[Upper Town]]\n\nPlaces: [[Saltgate]]")
    assert facts(people) == {("Upper Town", "PART_OF", "Saltgate")}


def test_another_kind_reads_the_lines_again(people: World) -> None:
    save(people, "The Oar", "item", body="Owner: [[Vess]]")
    assert facts(people) == {("The Oar", "OWNED_BY", "Vess")}
    save(people, "The Oar", "event", body="Owner: [[Vess]]")
    assert facts(people) == {("The Oar", "owner", "Vess")}


# --- who may know


def test_a_fact_is_known_to_whoever_may_know_the_entry(people: World) -> None:
    write(people, "Allies: [[Vess]]")
    assert facts(people, PUBLIC) == {ALLIES}
    for fields in ({"visibility": "gm"}, {"status": "draft"}):
        write(people, "Allies: [[Vess]]", **fields)
        assert facts(people, PUBLIC) == set()
        assert GraphEdge.objects.get().visibility == "gm"
    write(people, "Allies: [[Vess]]", visibility="revealed", known_to=[str(PARTY)])
    assert (facts(people, PARTY), facts(people, PUBLIC)) == ({ALLIES}, set())


def test_a_line_in_a_secret_is_for_game_masters(people: World) -> None:
    write(people, ":::secret\nAllies: [[Vess]]\n:::\n\nEnemies: [[Orrin]]")
    assert {fact[1] for fact in facts(people, PUBLIC)} == {"ENEMY_OF"}
    assert ALLIES in facts(people)
    write(people, "Allies: [[Vess]]\n\nEnemies: [[Orrin]]")
    assert ALLIES in facts(people, PUBLIC)
    write(people, ":::secret\nAllies: [[Vess]]\n:::\n\nEnemies: [[Orrin]]")
    assert ALLIES not in facts(people, PUBLIC)
    assert ALLIES in facts(people)


def test_what_an_open_line_says_too_is_no_secret(people: World) -> None:
    write(people, "Allies: [[Vess]]\n\n:::secret\n- Ally: [[Vess]]\n:::")
    assert facts(people, PUBLIC) == {ALLIES}


def test_a_reveal_opens_the_facts_of_the_open_lines_and_undoing_it_hides_them(
    people: World,
) -> None:
    secret = ":::secret\nEnemies: [[Orrin]]\n:::"
    quill = write(people, f"Allies: [[Vess]]\n\n{secret}", visibility="gm")
    assert facts(people, PARTY) == set()
    entry = reveal(quill, PARTY)
    assert (facts(people, PARTY), facts(people, PUBLIC)) == ({ALLIES}, set())
    undo_reveal(entry)
    assert facts(people, PARTY) == set()


def test_a_hidden_target_hides_the_fact(people: World) -> None:
    write(people, "Allies: [[Vess]]")
    save(people, "Vess", visibility="gm")
    assert facts(people, PUBLIC) == set()
    assert facts(people) == {ALLIES}


def test_the_trash_hides_the_facts_and_restoring_shows_them_as_far_as_they_are_known(
    people: World,
) -> None:
    quill = write(people, "Allies: [[Vess]]", visibility="gm")
    entry = reveal(quill, PARTY)
    trash_lore([Lore.objects.get(pk=quill.pk)], by="gm")
    assert facts(people) == set()
    undo_reveal(entry)
    restore_lore([quill], by="gm")
    assert facts(people) == {ALLIES}
    assert facts(people, PARTY) == set()


def test_an_entry_moved_to_a_campaign_hides_its_facts(people: World) -> None:
    quill = write(people, "Allies: [[Vess]]")
    quill.campaign = create_campaign(people)
    save_entry(quill)
    assert facts(people, PUBLIC) == set()


def test_a_text_without_relations_costs_no_statements_more(people: World) -> None:
    with CaptureQueriesContext(connection) as plain:
        write(people, "One.")
    asked = [query["sql"] for query in plain if "graphedge" in query["sql"]]
    assert asked == []
