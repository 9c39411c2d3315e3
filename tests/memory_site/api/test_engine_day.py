"""An engine's day by REST alone, from an empty database and one key of the installation."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.conftest import ApiClient
from worlds import keys
from worlds.keys import Scope
from worlds.models import Campaign, Party, World

pytestmark = pytest.mark.django_db


class Installation:
    """Sends JSON with a key of the installation, in the world that `world` names."""

    def __init__(self) -> None:
        _key, text = keys.create_key(None, name="engine", scopes=[Scope.ADMIN], audience="gm")
        self.client = Client(headers={"Authorization": f"Bearer {text}"})
        self.world = ""

    def send(
        self, method: str, path: str, body: Any = None, *, expect: int = 200, **headers: str
    ) -> Any:
        if self.world:
            headers["X-World"] = self.world
        sent = "" if body is None else json.dumps(body)
        answer = self.client.generic(
            method, f"/api/v1/{path}", sent, content_type="application/json", headers=headers
        )
        assert answer.status_code == expect, (method, path, answer.content[:500])
        self.answer = answer
        return json.loads(answer.content) if answer.content else None


@pytest.fixture
def installation(db: None) -> Installation:
    return Installation()


@pytest.fixture
def owner(world: World) -> ApiClient:
    return ApiClient(world, scopes=["admin"])


def test_a_world_a_party_and_a_scene_from_nothing(installation: Installation) -> None:
    send = installation.send
    assert send("GET", "me")["world"] is None
    assert send("GET", "worlds") == {"worlds": [], "next_cursor": None}
    world = send("POST", "worlds", {"name": "Salt Coast", "language": "en"}, expect=201)
    assert world["world_id"] == "salt-coast"
    assert installation.answer["Location"] == "/api/v1/worlds/salt-coast"
    installation.world = "salt-coast"

    send("POST", "world/campaigns", {"name": "First Tide"}, expect=201)
    party = send("POST", "world/parties", {"name": "Gulls", "members": ["Ana", "Bo"]}, expect=201)
    assert (party["party_id"], party["campaign_id"]) == ("gulls", "first-tide")
    send("PUT", "world/sessions", {"session_id": "s-1", "party_id": "gulls", "title": "Landing"})
    send("PUT", "world/scenes", {"scene_id": "sc-1", "party_id": "gulls", "session_id": "s-1"})
    send("PUT", "world/npcs", {"npc_id": "ada-crane", "name": "Ada Crane", "visibility": "public"})
    send("PUT", "world/lore", {"title": "The Pier", "body": "Wet planks.", "status": "published"})
    told = {"summary_id": "e-1", "party_id": "gulls", "scene_id": "sc-1", "what": "They landed."}
    told["relations_delta"] = {"ada-crane": 5}
    send("POST", "world/episodes", told)

    assert [each["session_id"] for each in send("GET", "world/sessions")["sessions"]] == ["s-1"]
    assert [each["scene_id"] for each in send("GET", "world/scenes?open=true")["scenes"]] == [
        "sc-1"
    ]
    assert [each["npc_id"] for each in send("GET", "world/npcs")["npcs"]] == ["ada-crane"]
    assert [each["slug"] for each in send("GET", "world/lore")["lore"]] == ["the-pier"]
    assert send("POST", "tools/npc_profile", {"npc_id": "ada-crane"})["title"] == "Ada Crane"

    key = send("POST", "world/keys", {"name": "players", "audience": "party:gulls"}, expect=201)
    reader = Client(headers={"Authorization": f"Bearer {key['text']}"})
    me = reader.get("/api/v1/me").json()
    assert (me["world"]["world_id"], me["key"]["audience"]) == ("salt-coast", "party:gulls")
    assert "text" not in me["key"] or me["key"]["text"] is None


def test_the_world_is_named_or_the_call_says_how(installation: Installation) -> None:
    problem = installation.send("GET", "world/lore", expect=422)
    assert problem["code"] == "world_missing"
    assert "X-World" in problem["detail"]
    installation.world = "nowhere"
    assert installation.send("GET", "world/lore", expect=404)["code"] == "not_found"


def test_the_same_idempotency_key_in_another_world_is_another_write(
    installation: Installation,
) -> None:
    for name in ("One", "Two"):
        installation.send("POST", "worlds", {"name": name}, expect=201)
    installation.world = "one"
    installation.send(
        "POST", "world/campaigns", {"name": "A"}, expect=201, **{"Idempotency-Key": "k"}
    )
    installation.world = "two"
    problem = installation.send(
        "POST", "world/campaigns", {"name": "A"}, expect=422, **{"Idempotency-Key": "k"}
    )
    assert problem["code"] == "idempotency_key_reused"


def test_a_creation_that_is_sent_again_makes_no_twin(installation: Installation) -> None:
    twice = (201, 409)
    for status in twice:
        installation.send("POST", "worlds", {"name": "Salt Coast"}, expect=status)
        installation.send("POST", "systems", {"name": "Salt & Sand"}, expect=status)
    installation.world = "salt-coast"
    for status in twice:
        for path in ("campaigns", "parties", "characters"):
            installation.send("POST", f"world/{path}", {"name": "Cinders"}, expect=status)
    second = {"name": "Cinders", "party_id": "cinders-again"}
    installation.send("POST", "world/parties", second, expect=201)


def test_the_candidates_of_one_name_are_ids(installation: Installation) -> None:
    installation.send("POST", "worlds", {"name": "Salt Coast"}, expect=201)
    installation.world = "salt-coast"
    installation.send("POST", "world/campaigns", {"name": "First"}, expect=201)
    for slug in ("cinders", "embers"):
        party = {"name": "Cinders", "party_id": slug}
        installation.send("POST", "world/parties", party, expect=201)
        npc = {"name": "Maren", "npc_id": f"maren-{slug}"}
        installation.send("PUT", "world/npcs", npc, expect=200)
    for tool, name, ids in (
        ("session_fetch", {"party_id": "CINDERS!"}, {"cinders", "embers"}),
        ("npc_profile", {"npc_id": "Maren"}, {"maren-cinders", "maren-embers"}),
    ):
        problem = installation.send("POST", f"tools/{tool}", name, expect=422)
        assert (problem["code"], set(problem["candidates"])) == ("ambiguous", ids)
        for each in ids:
            installation.send("POST", f"tools/{tool}", {**dict.fromkeys(name, each)}, expect=200)


def test_a_world_is_deleted_only_by_its_name(installation: Installation) -> None:
    installation.send("POST", "worlds", {"name": "Short Lived"}, expect=201)
    installation.send("DELETE", "worlds/short-lived?confirm=yes", expect=422)
    assert World.objects.count() == 1
    installation.send("DELETE", "worlds/short-lived?confirm=short-lived", expect=204)
    assert World.objects.count() == 0


def test_a_key_of_a_world_neither_sees_nor_makes_worlds(owner: ApiClient, world: World) -> None:
    World.objects.create(slug="other", name="Other")
    for method, path in (("GET", "worlds"), ("POST", "worlds"), ("GET", "worlds/other")):
        assert owner.send(method, path, {"name": "X"} if method == "POST" else None)[0] == 403
    status, problem = owner.send("GET", "world/lore", **{"X-World": "other"})
    assert (status, problem["code"]) == (403, "wrong_world")
    # Whether the other world exists is not told.
    _status, same = owner.send("GET", "world/lore", **{"X-World": "nowhere"})
    assert same["detail"] == problem["detail"]
    assert owner.send("GET", "world/lore", **{"X-World": world.slug})[0] == 200


def test_a_key_of_the_installation_is_an_administrators() -> None:
    with pytest.raises(Exception, match="needs the scope admin"):
        keys.create_key(None, name="x")


def test_the_key_tells_what_it_may(engine: ApiClient, world: World) -> None:
    status, me = engine.get("me")
    assert status == 200
    assert me["world"]["world_id"] == world.slug
    assert me["key"]["scopes"] == ["tools:read", "world:write"]
    assert me["key"]["prefix"] == engine.key.prefix


def test_a_party_with_a_past_is_not_deleted(owner: ApiClient, lanternbearers: Party) -> None:
    told = {"summary_id": "e-1", "party_id": "lanternbearers", "what": "They landed."}
    assert owner.post("world/episodes", told)[0] == 200
    status, problem = owner.send("DELETE", "world/parties/lanternbearers")
    assert (status, problem["code"]) == (409, "referenced")
    assert "1 episode" in problem["detail"]
    assert "history, which is kept" in problem["detail"]
    assert Party.objects.filter(pk=lanternbearers.pk).exists()


def test_a_party_that_has_only_learned_something_is_deleted_after_its_reveals(
    owner: ApiClient, lanternbearers: Party
) -> None:
    owner.put("world/lore", {"title": "Row Four"})
    learned = {"kind": "lore", "id": "row-four", "audience": "party:lanternbearers"}
    reveal = owner.post("world/reveals", learned)[1]["id"]
    detail = owner.send("DELETE", "world/parties/lanternbearers")[1]["detail"]
    assert "Undo the reveals" in detail
    assert "Delete that" not in detail
    owner.send("DELETE", f"world/reveals/{reveal}")
    assert owner.send("DELETE", "world/parties/lanternbearers")[0] == 204


def test_an_unused_party_and_its_campaign_are_deleted(owner: ApiClient, campaign: Campaign) -> None:
    owner.post("world/parties", {"name": "Brief", "campaign_id": campaign.slug})
    assert owner.send("DELETE", f"world/campaigns/{campaign.slug}")[0] == 409
    assert owner.send("DELETE", "world/parties/brief")[0] == 204
    assert owner.send("DELETE", f"world/campaigns/{campaign.slug}")[0] == 204


def test_a_change_of_a_party_needs_the_state_that_was_read(
    owner: ApiClient, lanternbearers: Party
) -> None:
    answer = owner.client.get("/api/v1/world/parties/lanternbearers")
    owner.send("PATCH", "world/parties/lanternbearers", {"members": ["Ana"]})
    status, _problem = owner.send(
        "PATCH", "world/parties/lanternbearers", {"name": "Late"}, **{"If-Match": answer["ETag"]}
    )
    lanternbearers.refresh_from_db()
    assert (status, lanternbearers.name, lanternbearers.members) == (412, "Lanternbearers", ["Ana"])


def test_a_key_of_a_campaign_makes_keys_of_it(world: World, campaign: Campaign) -> None:
    bound = ApiClient(world, scopes=["admin"], campaign=campaign)
    status, made = bound.post("world/keys", {"name": "sub"})
    assert (status, made["campaign_id"]) == (201, campaign.slug)


def test_a_key_of_a_campaign_chooses_no_agent(world: World, campaign: Campaign) -> None:
    """What an agent remembers belongs to no campaign: it may be that of another one's engine."""
    ApiClient(world, scopes=["agent:write"], namespace="scribe").post(
        "memory", {"text": "The bell is cracked."}
    )
    bound = ApiClient(world, scopes=["admin"], campaign=campaign)
    assert bound.send("GET", "memory", **{"X-Namespace": "scribe"})[0] == 403
    assert bound.post("world/keys", {"name": "sub", "namespace": "scribe"})[0] == 422
    own = ApiClient(world, scopes=["admin"], campaign=campaign, namespace="clerk")
    assert own.post("world/keys", {"name": "sub", "namespace": "clerk"})[0] == 201


def test_a_key_makes_none_that_may_more(world: World, campaign: Campaign) -> None:
    ends = timezone.now() + timedelta(days=1)
    limited = ApiClient(world, scopes=["admin"], namespace="mira", expires_at=ends)
    for more in (
        {"namespace": "jory", "expires_at": ends.isoformat()},
        {"namespace": "mira", "expires_at": (ends + timedelta(days=1)).isoformat()},
    ):
        assert limited.post("world/keys", {"name": "sub", **more})[0] == 422
    same = {"name": "sub", "namespace": "mira", "expires_at": ends.isoformat()}
    assert limited.post("world/keys", same)[0] == 201


def test_a_key_makes_keys_that_end_with_it_unless_it_says_otherwise(world: World) -> None:
    ends = timezone.now() + timedelta(days=1)
    limited = ApiClient(world, scopes=["admin"], namespace="mira", expires_at=ends)
    for more in ({}, {"expires_at": None, "namespace": ""}):
        status, made = limited.post("world/keys", {"name": "sub", **more})
        assert (status, made["namespace"]) == (201, "mira")
        assert datetime.fromisoformat(made["expires_at"]) == ends


def test_a_key_of_a_campaign_revokes_no_other(
    owner: ApiClient, world: World, campaign: Campaign
) -> None:
    bound = ApiClient(world, scopes=["admin"], campaign=campaign)
    assert bound.send("DELETE", f"world/keys/{owner.key.pk}")[0] == 404
    assert {each["id"] for each in bound.get("world/keys")[1]["keys"]} == {str(bound.key.pk)}
    assert owner.get("me")[0] == 200


def test_deleted_lore_is_restored_with_its_text(engine: ApiClient) -> None:
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn.", "status": "published"})
    assert engine.send("DELETE", "world/lore/tin-heron")[0] == 204
    assert engine.get("world/lore/tin-heron")[0] == 404
    assert [each["slug"] for each in engine.get("world/lore?state=trash")[1]["lore"]] == [
        "tin-heron"
    ]
    status, entry = engine.post("world/lore/tin-heron/restore")
    assert (status, entry["body"]) == (200, "An inn.")
    assert engine.get("world/lore?state=trash")[1]["lore"] == []


def test_a_deleted_npc_is_restored(engine: ApiClient) -> None:
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    assert engine.send("DELETE", "world/npcs/ada", **{"If-Match": '"99"'})[0] == 412
    assert engine.send("DELETE", "world/npcs/ada")[0] == 204
    assert engine.get("world/npcs/ada")[0] == 404
    assert engine.post("world/npcs/ada/restore")[1]["name"] == "Ada"


def test_many_rows_are_deleted_with_a_report_on_each(engine: ApiClient) -> None:
    for title in ("One", "Two"):
        engine.put("world/lore", {"title": title, "body": "Text."})
    rows = {"kind": "lore", "ids": ["one", "missing", "two"]}
    _status, refused = engine.post("world/bulk/delete", {**rows, "atomic": True})
    assert [item["status"] for item in refused["items"]] == ["rolled_back", "failed", "rolled_back"]
    assert len(engine.get("world/lore")[1]["lore"]) == 2
    _status, report = engine.post("world/bulk/delete", rows)
    assert [item["status"] for item in report["items"]] == ["ok", "failed", "ok"]
    _status, restored = engine.post("world/bulk/restore", {"kind": "lore", "ids": ["one", "two"]})
    assert restored["stored"] == 2


def test_proposals_are_decided_by_programs_too(engine: ApiClient) -> None:
    proposal = {"entry": {"title": "Eel Market", "body": "Loud."}, "reason": "Named twice."}
    for _time in range(2):
        engine.post("world/lore/proposals", proposal)
    first, second = engine.get("world/proposals?sort=created")[1]["proposals"]
    status, entry = engine.post(f"world/proposals/{first['id']}/accept", {"note": "Good."})
    assert (status, entry["title"]) == (200, "Eel Market")
    assert engine.post(f"world/proposals/{first['id']}/reject", {})[0] == 409
    assert engine.post(f"world/proposals/{second['id']}/reject", {"note": "Twice."})[0] == 200
    assert engine.get("world/proposals")[1]["proposals"] == []


def test_facts_are_listed_and_read_by_id(engine: ApiClient) -> None:
    nodes = [{"node": {"kind": "Character", "name": name}} for name in ("Ada", "Bo")]
    edge = {"edge": {"src": "Ada", "relation": "KNOWS", "dst": "Bo"}}
    status, written = engine.post("world/graph/facts", {"facts": [*nodes, edge]})
    assert status == 200, written
    (fact,) = engine.get("world/graph/facts?entity=Ada")[1]["facts"]
    assert (fact["src_name"], fact["relation"], fact["dst_name"]) == ("Ada", "KNOWS", "Bo")
    engine.post(f"world/graph/facts/{fact['id']}/retract", {"reason": "A rumour."})
    assert engine.get("world/graph/facts")[1]["facts"] == []
    assert engine.get(f"world/graph/facts/{fact['id']}")[1]["believed_until"]
