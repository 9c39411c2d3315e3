"""The graph over REST and in the admin."""

from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from tests.knowledge.graph.conftest import edge, node
from worlds.models import World

pytestmark = pytest.mark.django_db
FACTS, NEIGHBORS, EPISODES = "world/graph/facts", "world/graph/neighbors", "world/episodes"


@pytest.fixture
def cast(world):
    return upsert_facts(
        world,
        [
            node("Mira Voss"),
            node("Ferrymark", "Location"),
            node("Harrow", "Location"),
            edge("Mira Voss", "LOCATED_IN", "Ferrymark"),
        ],
    )


@pytest.fixture
def designer(db):
    user = get_user_model().objects.create_superuser("designer", "d@example.org", "secret")
    client = Client()
    client.force_login(user)
    return client


def test_an_engine_that_contradicts_gets_the_conflict_back(engine, cast):
    fact = {"src": "Mira Voss", "relation": "LOCATED_IN", "dst": "Harrow", "source_kind": "engine"}
    _status, answer = engine.post(FACTS, {"facts": [{"edge": fact}]})
    assert [conflict["rule"] for conflict in answer["conflicts"]] == ["one-place"]
    _status, again = engine.post(FACTS, {"facts": [{"edge": fact}]})
    assert again["edges"][0]["outcome"] == "unchanged"
    assert len(again["conflicts"]) == 1
    decision = {"how": "retract_first", "reason": "She left."}
    path = f"world/graph/contradictions/{answer['conflicts'][0]['id']}/resolve"
    assert engine.post(path, decision)[0] == 200
    _status, near = engine.get(f"{NEIGHBORS}?entity=Mira+Voss")
    assert [each["name"] for each in near["nodes"]] == ["Mira Voss", "Harrow"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"entity": "Mira", "depth": 50}, 422),
        ({"entity": "Nobody Known"}, 404),
        ({"entity": "x' OR 1=1 --"}, 404),
    ],
)
def test_an_invalid_query_is_a_clear_problem(engine, cast, query, status):
    answer = engine.client.get(f"/api/v1/{NEIGHBORS}", query)
    assert (answer.status_code, answer["content-type"]) == (status, "application/problem+json")


def test_an_entity_is_edited_with_its_facts(designer, cast):
    mira = GraphNode.objects.get(name="Mira Voss")
    page = designer.get(f"/admin/knowledge/graphnode/{mira.pk}/change/")
    assert page.status_code == 200
    assert b"facts_from" in page.content
    assert designer.get("/admin/knowledge/graphnode/?q=mira").status_code == 200


def test_a_fact_that_may_not_be_is_refused_in_its_form(designer, cast):
    mira, town = (GraphNode.objects.get(name=name) for name in ("Mira Voss", "Ferrymark"))
    form = {
        "src": town.pk,
        "relation": "LOCATED_IN",
        "dst": mira.pk,
        "visibility": "gm",
        "confidence": 1,
        "source_kind": "editor",
    }
    answer = designer.post("/admin/knowledge/graphedge/add/", form)
    assert answer.status_code == 200
    assert "“is in” cannot connect Location to Character" in answer.content.decode()
    designer.post(
        "/admin/knowledge/graphedge/add/",
        {**form, "src": mira.pk, "dst": GraphNode.objects.get(name="Harrow").pk},
    )
    assert GraphEdge.objects.filter(src=mira, dst__name="Harrow").exists()
    assert open_contradictions(mira.world).count() == 1


def test_a_contradiction_is_decided_in_the_admin(designer, world, cast):
    upsert_facts(world, [edge("Mira Voss", "LOCATED_IN", "Harrow", since=9)])
    (found,) = open_contradictions(world)
    assert designer.get("/admin/knowledge/contradiction/").status_code == 200
    form = {
        "action": "decide",
        "_selected_action": found.pk,
        "how": "keep_second",
        "reason": "She moved.",
        "at": "9",
    }
    designer.post("/admin/knowledge/contradiction/", form)
    assert Contradiction.objects.get().resolved_by == "designer"
    assert GraphEdge.objects.believed_now().get(dst__name="Ferrymark").until == 9


@pytest.mark.parametrize("operation", ["facts", "episode"])
def test_no_entity_takes_an_entry_of_another_world(engine, lanternbearers, operation):
    """Its title would be read there, and whether there is such an entry anywhere."""
    elsewhere = World.objects.create(slug="elsewhere", name="Elsewhere")
    hidden = Lore(world=elsewhere, slug="vault", title="Vault", kind="place", visibility="gm")
    save_entry(hidden)
    refusals = []
    for lore_id in (str(hidden.pk), str(uuid4())):
        facts = [{"node": {"kind": "Location", "name": "Cellar", "lore_id": lore_id}}]
        body = {"summary_id": "e1", "party_id": "lanternbearers", "what": "Fog.", "facts": facts}
        where, sent = (FACTS, {"facts": facts}) if operation == "facts" else (EPISODES, body)
        status, problem = engine.post(where, sent)
        refusals.append((status, problem["detail"].replace(lore_id, "X")))
    assert refusals == [(422, "lore_id: no entry X here.")] * 2
    assert not GraphNode.objects.filter(name="Cellar").exists()
