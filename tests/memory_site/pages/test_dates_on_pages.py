"""Days are typed and shown as dates on the pages of a world with a calendar."""

import json
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from episodes.ingest import ingest_episode
from episodes.schemas import EpisodeIn
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from worlds.calendars.presets import preset
from worlds.models import Membership
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


@pytest.fixture
def master(world):
    user = User.objects.create_user("gm")
    Membership.objects.create(user=user, world=world, role="gm")
    save_calendar(world, preset("twelve-times-thirty", "en"), by="gm")
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def heron(world):
    common = {"world": world, "kind": "Faction", "visibility": "public"}
    GraphNode.objects.create(**common, slug="gull", name="Gull")
    return GraphNode.objects.create(**common, slug="heron", name="Heron")


def relation_address(world):
    return reverse("relation-add", args=[world.slug, "heron"])


def test_a_relation_is_typed_and_shown_by_dates_and_asked_for_as_of_a_date(master, world, heron):
    sent = {"words": "trades with", "other": "Gull", "direction": "to", "visibility": "public"}
    days = {"since": "3 Frostmoon 2", "until": "year 3"}
    master.post(relation_address(world), sent | days)
    fact = GraphEdge.objects.get()
    assert (fact.since, fact.until) == (362, 1079)
    graph = f"/w/{world.slug}/graph/"
    page = master.get(graph, {"around": "heron", "at": "4 Frostmoon 2"})
    assert page.context["at"] == 363
    assert 'value="4 Frostmoon 2"' in page.content.decode()
    assert "3 Frostmoon 2 – 30 Deepnight 3" in page.content.decode()
    early = master.get(graph, {"around": "heron", "at": "361"})
    assert early.context["sentences"] == []
    assert 'value="2 Frostmoon 2"' in early.content.decode()


def test_a_wrong_date_comes_back_as_it_was_typed_with_what_to_write(master, world, heron):
    sent = {"words": "trades with", "other": "Gull", "direction": "to", "since": "3 Frostmon 2"}
    page = master.post(relation_address(world), sent).content.decode()
    assert "3 Sowing 100" in page or "3 Frostmoon 100" in page
    assert 'value="3 Frostmon 2"' in page
    assert not GraphEdge.objects.exists()
    graph = master.get(f"/w/{world.slug}/graph/", {"at": "31 Frostmoon 2"}).content.decode()
    assert "has 30 days" in graph


def test_an_entry_takes_a_date_and_keeps_a_day_that_no_date_writes_exactly(master, world):
    entry = Lore.objects.create(
        world=world, slug="flood", title="Flood", kind="event", in_world_at=362.123456789
    )
    address = f"/w/{world.slug}/lore/flood/edit/"
    form = master.get(address).context["form"]
    page = master.get(address).content.decode()
    assert 'value="362.123456789"' in page
    sent = {field.html_name: field.value() for field in form if field.value() is not None}
    answer = master.post(address, sent | {"in_world_at": "3 Frostmoon 2, 14:30"})
    assert answer.status_code == 302, answer.context["form"].errors
    entry.refresh_from_db()
    assert entry.in_world_at == 362 + 870 / 1440
    assert "3 Frostmoon 2, 14:30" in master.get(f"/w/{world.slug}/lore/flood/").content.decode()


# --- dates in answers to programs


@pytest.fixture
def told(world, lanternbearers, mira):
    """An episode, a change of mind, an entry and a fact, each with a day."""
    save_calendar(world, preset("twelve-times-thirty", "en"), by="gm")
    ingest_episode(
        world,
        EpisodeIn.model_validate(
            {
                "summary_id": "ep-1",
                "party_id": lanternbearers.slug,
                "what": "Mira rang the fog bell.",
                "when": {"in_world_at": 362.5},
                "who": {"npcs": ["mira-voss"]},
                "relations_delta": [{"npc": "mira-voss", "delta": 5, "reason": "They helped."}],
            }
        ),
    )
    ends = [{"name": name, "kind": "Faction"} for name in ("Heron", "Gull")]
    fact = {"src": "Heron", "relation": "ALLY_WITH", "dst": "Gull", "since": 362, "until": 400}
    facts = [*({"node": end} for end in ends), {"edge": fact}]
    upsert_facts(world, [GraphFact.model_validate(each) for each in facts])


def test_answers_of_tools_and_rest_have_the_date_beside_the_day(world, engine, told):
    _status, episodes = engine.tool("session_fetch", party_id="lanternbearers")
    when = episodes["episodes"][0]["when"]
    assert (when["in_world_at"], when["in_world_date"]) == (362.5, "3 Frostmoon 2, 12:00")
    _status, profile = engine.tool("npc_profile", npc_id="mira-voss", party_id="lanternbearers")
    assert profile["dynamic"]["influences"][0]["in_world_date"] == "3 Frostmoon 2, 12:00"
    call = {"name": "session_fetch", "arguments": json.dumps({"party_id": "lanternbearers"})}
    _status, compact = engine.post("tools/call", call)
    assert "3 Frostmoon 2" in str(compact)
    Lore.objects.create(world=world, slug="bell", title="Bell", kind="item", in_world_at=1)
    _status, read = engine.get("world/lore/bell")
    assert (read["in_world_date"], read["in_world_until_date"]) == ("2 Frostmoon 1", "")


def test_without_a_calendar_there_is_no_date(world, engine, told):
    save_calendar(world, None, by="gm")
    _status, episodes = engine.tool("session_fetch", party_id="lanternbearers")
    assert episodes["episodes"][0]["when"]["in_world_date"] == ""


def test_facts_are_asked_for_as_of_a_date(engine, told):
    for at, count in (("3 Frostmoon 2", 1), ("362", 1), ("1 Frostmoon 2", 0), ("year 3", 0)):
        _status, facts = engine.get(f"world/graph/facts?{urlencode({'at': at})}")
        assert len(facts["facts"]) == count, at
    query = urlencode({"entity": "heron", "at": "4 Frostmoon 2"})
    _status, near = engine.get(f"world/graph/neighbors?{query}")
    assert len(near["edges"]) == 1
    status, refused = engine.get(f"world/graph/facts?{urlencode({'at': '31 Frostmon 2'})}")
    assert status == 422
    assert "Frostmoon" in refused["detail"]
    for at, result in (("4 Frostmoon 2", "true"), ("1 Frostmoon 2", "unknown"), (363, "true")):
        _status, answer = engine.tool("lore_assert", fact="Heron is allied with Gull", at=at)
        assert str(answer["result"]).lower() == result, answer


def test_the_relations_on_a_page_are_asked_for_as_of_a_date(master, world, told):
    page = f"/w/{world.slug}/lore/heron/"
    Lore.objects.create(world=world, slug="heron", title="Heron", kind="faction")
    GraphNode.objects.filter(slug="heron").update(lore=Lore.objects.get(slug="heron"))
    assert "is allied with" in master.get(page, {"at": "4 Frostmoon 2"}).content.decode()
    early = master.get(page, {"at": "1 Frostmoon 2"}).content.decode()
    assert "is allied with" not in early.partition('id="relations"')[2].partition("<details")[0]
    assert 'value="1 Frostmoon 2"' in early


def test_the_admin_shows_the_days_of_facts_as_dates(world, told, admin_client):
    page = admin_client.get("/admin/knowledge/graphedge/").content.decode()
    assert "3 Frostmoon 2 (362)" in page


def test_the_calendar_names_the_presets(engine):
    _status, calendar = engine.get("world/calendar")
    assert set(calendar["preset_names"]) == set(calendar["presets"])
    assert calendar["preset_names"]["gregorian"]
