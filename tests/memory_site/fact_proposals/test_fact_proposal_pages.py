"""The page of what texts propose, and its operations."""

from collections.abc import Callable

import pytest
from django.test import Client

from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore
from memory_site.fact_proposals.sources import find_source
from memory_site.fact_proposals.store import read_source
from memory_site.tasks import decide_proposals, read_texts_of_world
from npcs.models import NPC
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


def page(world: World, query: str = "") -> str:
    return f"/w/{world.slug}/from-texts/{query}"


@pytest.fixture
def proposals(world: World, saltmen: Lore) -> World:
    read_source(world, find_source(world, "lore", "saltmen"))
    return world


def test_a_game_master_reads_decides_and_undoes_on_the_page(
    master: Client, world: World, saltmen: Lore
) -> None:
    master.post(page(world, "read/"), {"source_kind": "lore", "source_ref": "saltmen"})
    text = master.get(page(world)).content.decode()
    assert "Marta Quill leads The Saltmen" in text
    master.post(page(world, "decide/"), {"decision": "accept", "every": "1"})
    assert GraphEdge.objects.count() == 3
    decided = master.get(page(world, "?state=accepted&kind=fact")).content.decode()
    assert "Marta Quill leads The Saltmen" in decided
    form = {"decision": "reopen", "every": "1", "state": "accepted", "kind": "fact"}
    master.post(page(world, "decide/"), form)
    assert not GraphEdge.objects.believed_now().exists()


def test_only_the_ticked_rows_are_decided(master: Client, proposals: World) -> None:
    row = FactProposal.objects.get(fields__label="leads")
    master.post(page(proposals, "decide/"), {"decision": "drop", "row": [str(row.pk), "x"]})
    assert FactProposal.objects.filter(state="dropped").count() == 1


def test_a_correction_on_the_page_is_what_is_written(master: Client, proposals: World) -> None:
    row = FactProposal.objects.get(fields__label="leads")
    form = {"entity": "Ivo Brandt", "relation": "RELATES_TO", "label": "leads"}
    master.post(page(proposals, f"{row.pk}/change/"), {**form, "other": "The Saltmen"})
    assert GraphEdge.objects.get().src.name == "Ivo Brandt"
    row.refresh_from_db()
    assert row.state == "changed"


def test_players_see_no_proposals(player: Client, proposals: World) -> None:
    assert player.get(page(proposals)).status_code in (302, 403, 404)


def test_the_worker_reads_a_world_and_decides_many(world: World, saltmen: Lore) -> None:
    assert read_texts_of_world(str(world.pk)) == 5
    assert decide_proposals(str(world.pk), {"state": "open"}, "accept", "Anna") == 5
    assert GraphNode.objects.filter(name="Joss Arden").exists()


def test_an_engine_reads_lists_and_decides(engine: ApiClient, saltmen: Lore) -> None:
    body = {"source_ref": "saltmen"}
    assert engine.post("world/fact-proposals/read", body)[1]["new"] == 5
    assert engine.post("world/fact-proposals/read", body)[1]["new"] == 0
    status, listed = engine.get("world/fact-proposals?kind=fact")
    assert status == 200
    rows = listed["fact_proposals"]
    assert {row["says"] for row in rows} >= {"Marta Quill leads The Saltmen"}
    leads = next(row for row in rows if row["statement"].get("label") == "leads")
    changed = {"statement": {**leads["statement"], "label": "founder of"}}
    status, row = engine.post(f"world/fact-proposals/{leads['id']}/accept", changed)
    assert (status, row["state"]) == (200, "changed")
    assert engine.post(f"world/fact-proposals/{leads['id']}/accept", {})[0] == 409
    decision = {"decision": "reopen", "ids": [leads["id"]]}
    assert engine.post("world/fact-proposals/decide", decision)[1]["decided"] == 1


def test_a_player_key_gets_no_proposals(
    client_with_key: Callable[..., ApiClient], lanternbearers: Party, proposals: World
) -> None:
    player = client_with_key(audience="party:lanternbearers")
    assert player.get("world/fact-proposals")[0] == 403


def test_a_thread_that_names_two_people_proposes_them(
    engine: ApiClient, mira: NPC, jory: NPC, lanternbearers: Party
) -> None:
    steps = {
        "party_id": "lanternbearers",
        "steps": [
            {"text": "Mira Voss waited at the ferry.", "speaker": "GM"},
            {"text": "Jory Fenn hates us now. We must return tomorrow.", "speaker": "GM"},
        ],
    }
    assert engine.post("world/threads/t-9/steps", steps)[0] == 200
    status, proposal = engine.post("world/threads/t-9/propose", {})
    assert status == 200
    assert {line["candidates"][0]["ref"] for line in proposal["people"]} >= {
        "mira-voss",
        "jory-fenn",
    }
    assert [line["axis"] for line in proposal["changes"]] == ["affection"]
    assert proposal["loose_ends"]
