"""The page of relations: where its names lead, and what it leaves out."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.graph.fact_store import end_fact
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphEdge, GraphNode, GraphRelation
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from npcs.dispositions import correct
from npcs.models import NPC
from tests.knowledge.graph.conftest import edge, node
from tests.worlds.test_people_pages import signed_in
from worlds.models import Party, World
from worlds.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def gm(world: World) -> Client:
    return signed_in("gil", world, Role.GM)


@pytest.fixture(autouse=True)
def facts(world: World, mira: NPC) -> None:
    upsert_facts(
        world,
        [
            node("Mira Voss"),
            node("Salt Key", "Item"),
            node("Toll House", "Location"),
            edge("Salt Key", "OWNED_BY", "Mira Voss"),
            edge("Mira Voss", "LOCATED_IN", "Toll House"),
        ],
    )
    house = Lore.objects.create(
        world=world, slug="toll-house", title="Toll House", kind="place", visibility="gm"
    )
    GraphNode.objects.filter(slug="toll-house").update(lore=house)


def listed(client: Client, query: str = "") -> str:
    page = client.get(f"/w/ferrymark/graph/?{query}").content.decode()
    return page[page.find("<tbody>") : page.find("</tbody>")]


def test_names_lead_to_the_pages_of_people_and_entries(gm: Client) -> None:
    rows = listed(gm)
    assert '<a href="/w/ferrymark/npcs/mira-voss/">Mira Voss</a>' in rows
    assert '<a href="/w/ferrymark/lore/toll-house/">Toll House</a>' in rows
    assert '<a href="?around=salt-key">Salt Key</a>' in rows
    assert "OWNED_BY" not in rows
    page = gm.get("/w/ferrymark/graph/").content.decode()
    found = re.search(r'id="graph-data" type="application/json">(.*?)</script>', page)
    assert found
    pages = {each["name"]: each["page"] for each in json.loads(found[1])["nodes"]}
    assert pages["Mira Voss"] == "/w/ferrymark/npcs/mira-voss/"


def test_what_two_sources_say_is_one_line_of_the_drawing_and_two_of_the_list(
    gm: Client, world: World
) -> None:
    said = edge("Salt Key", "OWNED_BY", "Mira Voss", source_kind="episode", source_ref="ep-9")
    upsert_facts(world, [said])
    assert listed(gm).count(">Salt Key</a>") == 2
    page = gm.get("/w/ferrymark/graph/").content.decode()
    found = re.search(r'id="graph-data" type="application/json">(.*?)</script>', page)
    assert found
    words = [each["words"] for each in json.loads(found[1])["edges"]]
    assert len(words) == len(set(words)) == 2


def test_a_hidden_entry_has_no_page_for_players(lanternbearers: Party) -> None:
    player = signed_in("pat", lanternbearers.world, Role.PLAYER, party=lanternbearers)
    rows = listed(player)
    assert "Toll House" in rows
    assert "/lore/toll-house/" not in rows


def test_the_list_is_narrowed_by_relation_and_kind(gm: Client) -> None:
    assert "Toll House" not in listed(gm, "relation=OWNED_BY")
    assert "Salt Key" not in listed(gm, "kind=Location&around=Mira+Voss")
    assert "Toll House" in listed(gm, "kind=Location&around=Mira+Voss")
    assert "Salt Key" in listed(gm, "relation=HATES&kind=Ghost")


def test_a_name_that_nothing_has_says_so(gm: Client) -> None:
    page = gm.get("/w/ferrymark/graph/?around=Nobody").content.decode()
    assert "Nothing here is called “Nobody”." in page


def relations_of(client: Client, query: str = "") -> list[str]:
    """The rows of the list as plain words, without their sources."""
    page = re.sub(r"<details.*?</details>", "", listed(client, query), flags=re.S)
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]


def test_a_relation_reads_as_it_was_typed(gm: Client, world: World) -> None:
    """Stored is `Salt Key OWNED_BY …` and `KNOWS` from the lesser id to the greater."""
    upsert_facts(world, [node("Ferry", "Location"), edge("Mira Voss", "OWNS", "Ferry")])
    upsert_facts(
        world,
        [
            node("Orrin Tace"),
            edge("Mira Voss", "KNOWS", "Orrin Tace", label="sister of"),
            edge("Orrin Tace", "KNOWS", "Mira Voss", label="younger than"),
        ],
    )
    rows = relations_of(gm)
    assert "Mira Voss owns Ferry" in rows
    assert "Mira Voss sister of Orrin Tace" in rows
    assert "Orrin Tace younger than Mira Voss" in rows
    page = gm.get("/w/ferrymark/npcs/mira-voss/").content.decode()
    assert re.search(r'<span class="soft">owns</span>\s*<a[^>]*>Ferry', page)


def test_a_correction_keeps_the_direction_that_was_typed(gm: Client, world: World) -> None:
    upsert_facts(world, [node("Ferry", "Location"), edge("Mira Voss", "OWNS", "Ferry")])
    fact = GraphEdge.objects.get(dst__slug="mira-voss", src__slug="ferry")
    assert fact_sentence(end_fact(fact, 12.0)) == "Mira Voss owns Ferry"


def test_what_people_think_of_parties_is_listed_and_drawn(
    gm: Client, mira: NPC, lanternbearers: Party
) -> None:
    correct(mira, lanternbearers, by=-30, reason="They burned the ferry.", made_by="gil")
    assert "Mira Voss Disposition: unfriendly Lanternbearers" in relations_of(gm)
    page = gm.get("/w/ferrymark/graph/").content.decode()
    found = re.search(r'id="graph-data" type="application/json">(.*?)</script>', page)
    assert found
    drawing = json.loads(found[1])
    assert {"name": "Lanternbearers", "kind": "Party"}.items() <= drawing["nodes"][-1].items()
    assert drawing["edges"][-1]["words"] == "unfriendly"
    only = relations_of(gm, "relation=DISPOSITION")
    assert only == ["Mira Voss Disposition: unfriendly Lanternbearers"]
    assert not any("Disposition" in row for row in relations_of(gm, "relation=OWNED_BY"))
    assert not any("Disposition" in row for row in relations_of(gm, "at=3"))


def test_players_see_no_opinion_that_they_have_not_met(
    mira: NPC, lanternbearers: Party, gilded_oath: Party
) -> None:
    correct(mira, lanternbearers, by=-30, reason="A hidden grudge.", made_by="gil")
    correct(mira, gilded_oath, by=30, reason="A secret friendship.", made_by="gil")
    player = signed_in("pat", lanternbearers.world, Role.PLAYER, party=lanternbearers)
    page = player.get("/w/ferrymark/graph/").content.decode()
    assert "unfriendly" not in page
    assert gilded_oath.name not in page


def test_code_words_of_relations_reach_nobody(gm: Client, world: World) -> None:
    fact = GraphEdge.objects.first()
    assert fact
    shown = [str(fact), str(fact.relation), str(fact.relation.joins.first())]
    admin = Client()
    admin.force_login(User.objects.create_superuser("root"))
    for page in ("graphedge", "graphrelation", f"graphnode/{fact.src_id}/change"):
        html = admin.get(f"/admin/knowledge/{page}/").content.decode()
        shown.append(re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", html, flags=re.S))
    for text in shown:
        assert not re.search(r"\b(OWNED_BY|LOCATED_IN|RELATES_TO|PART_OF)\b", text)


def test_a_relation_is_added_in_words(world: World) -> None:
    admin = Client()
    admin.force_login(User.objects.create_superuser("root"))
    address = "/admin/knowledge/graphrelation/add/"
    page = admin.get(address).content.decode()
    assert 'name="words"' in page
    assert 'name="code"' not in page
    rows = {f"joins-{name}": "0" for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    for refused in ("охраняет", "belongs  to", "Knows", "is/near"):
        assert admin.post(address, {**rows, "words": refused}).status_code == 200
    assert admin.post(address, {**rows, "words": "is guarded by"}).status_code == 302
    relation = GraphRelation.objects.get(code="IS_GUARDED_BY")
    assert str(relation) == "is guarded by"
    change = f"/admin/knowledge/graphrelation/{relation.pk}/change/"
    page = admin.get(change).content.decode()
    assert "IS_GUARDED_BY" not in re.sub(r"<[^>]+>", " ", page)
    token = re.search(r'name="edit_token" value="([^"]+)"', page)
    assert token
    sent = {**rows, "symmetric": "on", "edit_token": token[1]}
    assert admin.post(change, sent).status_code == 302
    relation.refresh_from_db()
    assert relation.symmetric


def test_people_without_an_entity_are_drawn_with_what_they_think(
    gm: Client, world: World, jory: NPC, lanternbearers: Party
) -> None:
    assert not GraphNode.objects.filter(slug=jory.slug).exists()
    correct(jory, lanternbearers, by=40, reason="They paid the toll.", made_by="gil")
    page = f"/w/ferrymark/npcs/{jory.slug}/"
    assert f'<a href="{page}">{jory.name}</a>' in listed(gm)
    assert f"{jory.name} Disposition" in " ".join(relations_of(gm, "relation=DISPOSITION"))
    assert jory.name not in listed(gm, "kind=Location")
    assert jory.name not in listed(gm, "around=Mira+Voss")
    content = gm.get("/w/ferrymark/graph/").content.decode()
    found = re.search(r'id="graph-data" type="application/json">(.*?)</script>', content)
    assert found
    drawn = json.loads(found[1])
    (node_of_jory,) = [each for each in drawn["nodes"] if each["name"] == jory.name]
    assert node_of_jory["page"] == page
    assert node_of_jory["id"] in {each["source"] for each in drawn["edges"]}


def test_players_are_not_told_of_hidden_people_by_what_they_think(
    gm: Client, world: World, jory: NPC, lanternbearers: Party
) -> None:
    NPC.objects.filter(pk=jory.pk).update(visibility="gm")
    correct(jory, lanternbearers, by=40, reason="They paid the toll.", made_by="gil")
    player = signed_in("pat", world, Role.PLAYER, party=lanternbearers)
    content = player.get("/w/ferrymark/graph/").content.decode()
    assert jory.name not in content
    assert jory.slug not in content


def test_filters_are_folded_until_one_is_set(gm: Client) -> None:
    for query, state in (
        ("", ""),
        ("around=Mira+Voss", ""),
        ("kind=Item", " open"),
        ("depth=2", " open"),
    ):
        page = gm.get(f"/w/ferrymark/graph/?{query}").content.decode()
        assert f'<details id="filters"{state}>' in page, query


def test_a_fact_shows_its_source_and_the_line_that_states_it_to_game_masters(
    gm: Client, world: World
) -> None:
    values = {"status": "published", "visibility": "public", "kind": "biography"}
    for title, body in (("Vess", ""), ("Quill", "Allies: [[Vess]]")):
        entry = LoreIn.model_validate({"title": title, "body": body, **values})
        upsert_lore(world, entry)
    rows = listed(gm, "around=quill")
    assert '<a href="/w/ferrymark/lore/quill/">Lore lore:quill</a>: Allies: [[Vess]]' in rows
    player = signed_in("pia", world, Role.PLAYER)
    rows = listed(player, "around=quill")
    assert "Vess" in rows
    assert "Allies: [[Vess]]" not in rows
    assert "lore:quill" not in rows


def test_a_fact_from_a_field_of_an_import_leads_to_its_entry(gm: Client, world: World) -> None:
    fact = GraphEdge.objects.get(relation="LOCATED_IN")
    GraphEdge.objects.filter(pk=fact.pk).update(
        source_kind="import", source_ref="lore:toll-house#fields"
    )
    assert '<a href="/w/ferrymark/lore/toll-house/">Import lore:toll-house#fields' in listed(gm)
