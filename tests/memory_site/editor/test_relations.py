"""Relations and reveals on the page of a thing."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore, LorePassage
from memory_site.editor.relations import relation_in_words
from npcs.models import NPC
from retrieval.text import slugify
from worlds.models import Party, World

W = "/w/ferrymark"


@pytest.fixture
def mira_node(world: World) -> GraphNode:
    names = {"name": "Mira Voss", "aliases": ["Мира Восс"], "visibility": "public"}
    return GraphNode.objects.create(world=world, kind="Character", slug="mira-voss", **names)


@pytest.fixture
def quay(world: World) -> GraphNode:
    entry = Lore(world=world, slug="the-quay", title="The Quay", kind="place")
    entry.status, entry.visibility = "published", "public"
    entry.body = "Wet.\n\n:::secret\nThe tunnel.\n:::"
    save_entry(entry)
    return GraphNode.objects.get(lore=entry)


def add(client: Client, node: GraphNode, **fields: str) -> Any:
    return client.post(f"{W}/entities/{node.slug}/relations/", fields, follow=True)


def test_a_relation_is_added_in_words_by_any_name(
    master: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    add(master, quay, words="is in", other="мира восс", direction="from")
    fact = GraphEdge.objects.get()
    assert (fact.src, fact.relation_id, fact.dst) == (mira_node, "LOCATED_IN", quay)
    assert (fact.edited_by, fact.visibility) == ("anna", "gm")
    assert "is in" in master.get(f"{W}/lore/the-quay/").content.decode()


def test_a_label_of_the_program_is_read_and_written_in_the_language_of_the_page(
    master: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    master.cookies["django_language"] = "ru"
    words = "впервые появляется здесь:"
    add(master, quay, words=words, other="Mira Voss", direction="from")
    fact = GraphEdge.objects.get()
    assert (fact.relation_id, fact.label) == ("RELATES_TO", "was first seen at")
    page = master.get(f"{W}/lore/the-quay/").content.decode()
    assert words in page
    assert "was first seen at" not in page
    add(master, quay, words="тайно следит за", other="Mira Voss", direction="from")
    assert GraphEdge.objects.filter(label="тайно следит за").exists()


def test_what_two_sources_say_is_shown_once(
    world: World, master: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    def says(*days: float | None, **source: str) -> None:
        since, until = days
        GraphEdge.objects.create(
            world=world,
            src=mira_node,
            src_kind=mira_node.kind,
            dst=quay,
            dst_kind=quay.kind,
            relation_id="LOCATED_IN",
            since=since,
            until=until,
            **source,
        )

    says(5, 9, source_kind="episode", source_ref="ep-1")
    says(None, None, source_kind="npc")
    page = master.get(f"{W}/lore/the-quay/").content.decode()
    assert page.count(">is in</span>") == 2  # it held once, and holds now
    says(12, None, source_kind="episode", source_ref="ep-2")
    page = master.get(f"{W}/lore/the-quay/").content.decode()
    assert page.count(">is in</span>") == 2


def test_words_of_ones_own_are_kept(master: Client, mira_node: GraphNode, quay: GraphNode) -> None:
    add(master, mira_node, words="was born at", other="The Quay")
    fact = GraphEdge.objects.get()
    assert (fact.relation_id, fact.label) == ("RELATES_TO", "was born at")


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("is enemy of", ("ENEMY_OF", "")),
        ("Enemy of", ("ENEMY_OF", "")),
        ("is the sworn enemy of", ("ENEMY_OF", "")),
        ("враг", ("ENEMY_OF", "")),
        ("적", ("ENEMY_OF", "")),
        ("is an ally of", ("ALLY_WITH", "")),
        ("союзник", ("ALLY_WITH", "")),
        ("동맹", ("ALLY_WITH", "")),
        ("is located in", ("LOCATED_IN", "")),
        ("is a member of", ("RELATES_TO", "member of")),
        ("hates", ("RELATES_TO", "hates")),
        ("is the enemy of my enemy", ("RELATES_TO", "is the enemy of my enemy")),
    ],
)
def test_a_relation_in_other_words_is_the_one_that_rules_know(
    world: World, words: str, relation: tuple[str, str]
) -> None:
    assert relation_in_words(world, words) == relation


def test_kinds_that_do_not_fit_are_refused_with_words_that_do(
    master: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    page = add(master, mira_node, words="is an enemy of", other="The Quay").content.decode()
    assert "does not fit" in page
    assert "is in" in page
    assert 'value="is an enemy of"' in page
    assert not GraphEdge.objects.exists()


@pytest.mark.parametrize("other", ["", "Nobody At All", "Mira Voss", "a\0b", "x" * 500])
def test_an_unknown_name_is_refused(master: Client, mira_node: GraphNode, other: str) -> None:
    response = add(master, mira_node, words="knows", other=other)
    # A NUL character is refused before any page reads it.
    assert response.status_code == (422 if "\0" in other else 200)
    assert not GraphEdge.objects.exists()


def test_an_entry_that_is_named_in_a_relation_becomes_an_entity(
    master: Client, world: World, mira_node: GraphNode
) -> None:
    tower = write_place(world, "The Tall Tower", aliases=["Высокая башня"])
    found = master.get(f"{W}/relations/names/", {"q": "tall"}).json()["names"]
    assert found == [{"name": "The Tall Tower", "kind": "Location"}]
    add(master, mira_node, words="is in", other="высокую башню")
    fact = GraphEdge.objects.get()
    assert (fact.dst.name, fact.dst.lore, fact.dst.kind) == ("The Tall Tower", tower, "Location")
    assert "Mira Voss" in master.get(f"{W}/lore/the-tall-tower/").content.decode()


def test_the_page_of_an_entry_that_is_no_entity_yet_adds_its_relations(
    master: Client, player: Client, world: World, mira_node: GraphNode
) -> None:
    write_place(world, "The Tall Tower")
    GraphNode.objects.filter(name="The Tall Tower").delete()  # by a game master
    law = write_place(world, "Toll Law", kind="custom")
    address = f"{W}/lore/the-tall-tower/relations/"
    assert address in master.get(f"{W}/lore/the-tall-tower/").content.decode()
    assert "Add a relation" not in master.get(f"{W}/lore/{law.slug}/").content.decode()
    fields = {"words": "holds", "other": "Mira Voss"}
    assert player.post(address, fields).status_code == 404
    assert master.post(f"{W}/lore/{law.slug}/relations/", fields).status_code == 404
    page = master.post(address, fields, follow=True).content.decode()
    assert "holds" in page
    assert GraphEdge.objects.get().src.lore == Lore.objects.get(slug="the-tall-tower")


def test_the_exact_title_of_an_entry_counts_before_an_entity_of_a_similar_name(
    master: Client, world: World, mira_node: GraphNode
) -> None:
    GraphNode.objects.create(world=world, kind="Location", slug="tower-hill", name="Tower Hill")
    tower = write_place(world, "Tower")
    add(master, mira_node, words="is in", other="tower")
    assert GraphEdge.objects.get().dst.lore == tower


def write_place(world: World, title: str, **fields: Any) -> Lore:
    entry = Lore(world=world, slug=slugify(title), title=title, kind="place", body="Stone.")
    for name, value in fields.items():
        setattr(entry, name, value)
    save_entry(entry)
    return entry


def test_a_relation_is_corrected_ended_and_retracted(
    master: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    add(master, mira_node, words="is in", other="The Quay", since="100")
    now = GraphEdge.objects.believed_now()
    address = f"{W}/entities/mira-voss/relations/"
    fields = {"words": "owns", "other": "The Quay", "because": "she bought it", "since": "100"}
    master.post(f"{address}{now.get().pk}/", fields)
    assert (now.get().relation_id, now.get().edited_because) == ("OWNED_BY", "she bought it")
    master.post(f"{address}{now.get().pk}/", {"do": "end", "day": "50"})
    assert now.get().until is None
    master.post(f"{address}{now.get().pk}/", {"do": "end", "day": "200"})
    assert now.get().until == 200
    master.post(f"{address}{now.get().pk}/", {"do": "retract", "because": "a mistake"})
    assert not now.exists()
    assert GraphEdge.objects.count() == 3


def test_a_secret_is_revealed_and_hidden_again(
    master: Client, player: Client, quay: GraphNode, lanternbearers: Party
) -> None:
    block = LorePassage.objects.get(secret=True)
    assert "tunnel" not in player.get(f"{W}/lore/the-quay/").content.decode()
    fields = {"kind": "lorepassage", "id": str(block.pk), "party": "party:lanternbearers"}
    assert player.post(f"{W}/reveals/", fields).status_code == 404
    master.post(f"{W}/reveals/", fields)
    assert "tunnel" in player.get(f"{W}/lore/the-quay/").content.decode()
    page = master.get(f"{W}/lore/the-quay/")
    (entry,) = [entry for part in page.context["parts"] for entry in part.log]
    master.post(f"{W}/reveals/{entry.pk}/undo/")
    assert "tunnel" not in player.get(f"{W}/lore/the-quay/").content.decode()


@pytest.mark.parametrize("name", ["Мира Восс", "Миру Восс", "미라 보스", "Mira Voss", "mira-voss"])
def test_a_secret_is_revealed_to_an_npc_by_any_whole_name(
    master: Client, quay: GraphNode, mira: NPC, name: str
) -> None:
    block = LorePassage.objects.get(secret=True)
    fields = {"kind": "lorepassage", "id": str(block.pk), "npc": name}
    master.post(f"{W}/reveals/", fields)
    block.refresh_from_db()
    assert block.known_to == ["npc:mira-voss"]


@pytest.mark.parametrize("name", ["Mira", "Мира", "Mira Vos"])
def test_a_reveal_to_no_whole_name_is_refused_with_candidates(
    master: Client, quay: GraphNode, mira: NPC, name: str
) -> None:
    block = LorePassage.objects.get(secret=True)
    fields = {"kind": "lorepassage", "id": str(block.pk), "npc": name}
    page = master.post(f"{W}/reveals/", fields, follow=True).content.decode()
    assert "Did you mean: Mira Voss?" in page
    block.refresh_from_db()
    assert block.known_to == []


def test_hidden_facts_and_entities_are_not_on_a_players_page(
    master: Client, player: Client, stranger: Client, mira_node: GraphNode, quay: GraphNode
) -> None:
    add(master, mira_node, words="is in", other="The Quay")
    page = player.get(f"{W}/lore/the-quay/").content.decode()
    assert "Mira Voss" not in page
    assert "Add a relation" not in page
    assert player.get(f"{W}/entities/the-quay/").status_code == 302
    assert player.get(f"{W}/relations/names/", {"q": "m"}).status_code == 404
    assert stranger.get(f"{W}/lore/the-quay/").status_code == 404
    assert Client().get(f"{W}/lore/the-quay/").status_code == 302


def test_the_number_of_queries_does_not_grow_with_the_relations(
    master: Client, world: World, quay: GraphNode
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            master.get(f"{W}/lore/the-quay/")
        return len(seen)

    master.get(f"{W}/lore/the-quay/")
    counts = []
    for start in (0, 10):
        for number in range(start, start + 10):
            node = GraphNode.objects.create(
                world=world, kind="Item", slug=f"thing-{number}", name=f"Thing {number}"
            )
            add(master, node, words="is in", other="The Quay")
        counts.append(queries())
    assert counts[0] == counts[1]
