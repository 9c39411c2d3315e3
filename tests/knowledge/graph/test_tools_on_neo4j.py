"""Tools and pages read the configured store, and are answered in time while it says nothing."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from knowledge.graph import mirror
from knowledge.graph.neo4j_driver import Neo4j
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from tests.conftest import ApiClient
from tests.knowledge.graph.conftest import edge, node
from tests.knowledge.graph.neo4j_server import Neo4jServer
from tests.knowledge.graph.test_failing_neo4j import TIMEOUT, hang, server
from tests.worlds.test_people_pages import signed_in
from worlds.models import Party, World
from worlds.roles import Role

pytestmark = pytest.mark.django_db
MIRA = {"npc_id": "mira-voss", "name": "Mira Voss", "role": "ferrier", "visibility": "public"}
SCENE = {"scene_id": "s-inn", "party_id": "lanternbearers"}


@pytest.fixture
def gm(world: World) -> Client:
    return signed_in("gil", world, Role.GM)


@pytest.fixture(autouse=True)
def ferry(
    engine: ApiClient, world: World, lanternbearers: Party, write: Callable[..., Lore]
) -> None:
    """Mira is at the Hall of Oars, which has an entry and a picture, and plays in a scene."""
    engine.put("world/npcs", MIRA)
    hall = write("Hall of Oars", "A long roof over wet benches.", kind="place")
    at_the_hall = edge("mira-voss", "LOCATED_IN", "Hall of Oars")
    upsert_facts(world, [node("Hall of Oars", "Location", lore_id=hall.pk), at_the_hall])
    engine.put("world/scenes", {**SCENE, "title": "The inn"})
    episode = {**SCENE, "summary_id": "ep-1", "what": "Soup.", "who": {"npcs": ["mira-voss"]}}
    engine.post("world/episodes", episode)
    card = {
        "image_id": "art-hall",
        "cdn_url": "https://cdn.example/hall.png",
        "moderation": "approved",
        "visibility": "public",
        "prompt_text": "A long roof",
        "entities": ["hall-of-oars"],
    }
    assert engine.put("world/art", card)[0] == 200


def relations_everywhere(engine: ApiClient, gm: Client) -> dict[str, Any]:
    """What each reader of the graph says of Mira and the hall, and what it was answered without."""
    question = {"query": "What does Mira Voss keep?", "expand": True}
    profile = engine.tool("npc_profile", npc_id="mira-voss")[1]
    lore = engine.tool("lore_search", **question)[1]
    art = engine.tool("art_suggest", scene_id="s-inn")[1]
    page = gm.get("/w/ferrymark/graph/?around=mira-voss").content.decode()
    return {
        "npc_profile": [each["other"] for each in profile["relations"]],
        "lore_search": ["graph" in hit["legs"] for hit in lore["hits"] if hit["legs"]],
        "art_suggest": art["basis"],
        "page": "Hall of Oars" in page[page.find("<tbody>") :],
        "degraded": ["graph" in each["degraded"] for each in (profile, lore, art)],
        "warned": "PostgreSQL" in page,
    }


WITH_RELATIONS = {
    "npc_profile": ["hall-of-oars"],
    "lore_search": [True],
    "art_suggest": "neighbours",
    "page": True,
}


@pytest.mark.neo4j
def test_tools_and_pages_read_neo4j_where_it_is_configured(
    engine: ApiClient, gm: Client, neo: Neo4j, neo4j_server: Neo4jServer, settings: Any
) -> None:
    settings.NEO4J_URL = neo4j_server.uri
    settings.NEO4J_USER, settings.NEO4J_PASSWORD = neo4j_server.auth
    mirror.rebuild_mirror(neo)
    seen = relations_everywhere(engine, gm)
    assert {name: seen[name] for name in WITH_RELATIONS} == WITH_RELATIONS
    assert (seen["degraded"], seen["warned"]) == ([False] * 3, False)
    # What only PostgreSQL has is not read while Neo4j counts as up to date.
    neo.run("MATCH ()-[r]->() DELETE r")
    seen = relations_everywhere(engine, gm)
    assert (seen["npc_profile"], seen["art_suggest"], seen["page"]) == ([], None, False)
    assert not any(seen["lore_search"])
    settings.NEO4J_IN_TOOLS = False
    seen = relations_everywhere(engine, gm)
    assert {name: seen[name] for name in WITH_RELATIONS} == WITH_RELATIONS


def test_a_hung_neo4j_delays_tools_once_and_they_say_so(
    engine: ApiClient, gm: Client, settings: Any
) -> None:
    relations_everywhere(engine, gm)  # the first requests import the views
    mirror.start_mirroring()
    settings.NEO4J_TIMEOUT, settings.NEO4J_BACKOFF = TIMEOUT, 30.0
    with server(hang) as (port, taken):
        settings.NEO4J_URL = f"bolt://127.0.0.1:{port}"
        started = time.monotonic()
        seen = relations_everywhere(engine, gm)
        assert time.monotonic() - started < TIMEOUT + 1
        assert taken, "the server was asked"
    assert {name: seen[name] for name in WITH_RELATIONS} == WITH_RELATIONS
    assert (seen["degraded"], seen["warned"]) == ([True] * 3, True)
