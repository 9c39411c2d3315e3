"""Engine writes over REST: entity tags, bulk, proposals, who may."""

from typing import Any

import pytest
from django.test import Client

from knowledge.editing_models import LoreProposal
from knowledge.models import Lore, Rule
from worlds import keys
from worlds.models import Campaign, World

WORLD = "/api/v1/world"


def client_of(world: World, audience: str = "gm", **more: Any) -> Client:
    key = keys.create_key(
        world, name="test", audience=audience, scopes=("tools:read", "world:write"), **more
    )[1]
    return Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)


@pytest.fixture
def engine(world: World) -> Client:
    return client_of(world)


def put(client: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return client.put(f"{WORLD}{path}", body, content_type="application/json", headers=headers)


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(f"{WORLD}{path}", body, content_type="application/json")


def test_an_entry_is_written_read_and_guarded_by_its_tag(engine: Client) -> None:
    first = put(engine, "/lore", {"title": "The Quay", "body": "Wet."})
    assert (first.status_code, first.json(), first["ETag"]) == (
        200,
        {"id": "the-quay", "outcome": "created", "version": 1, "warnings": []},
        '"1"',
    )
    assert (
        put(engine, "/lore", {"title": "The Quay", "body": "Dry."}, **{"If-Match": '"1"'}).json()[
            "version"
        ]
        == 2
    )
    stale = put(engine, "/lore", {"title": "The Quay", "body": "Gone."}, **{"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale")
    read = engine.get(f"{WORLD}/lore/the-quay")
    assert (read.json()["body"], read["ETag"]) == ("Dry.", '"2"')


@pytest.mark.parametrize("more", [{"title": "!!!"}, {"title": "Bell", "campaign": "Low Water"}])
def test_a_tag_is_compared_with_the_entry_that_is_written(
    engine: Client, campaign: Campaign, more: dict[str, str]
) -> None:
    first = put(engine, "/lore", {"body": "Wet.", **more})
    second = put(engine, "/lore", {"body": "Dry.", **more}, **{"If-Match": first["ETag"]})
    assert (second.status_code, second.json()["version"]) == (200, 2)


def test_writing_is_found_by_the_tools_at_once(engine: Client) -> None:
    put(engine, "/lore", {"title": "The Quay", "body": "Eels and boats.", "status": "published"})
    put(
        engine,
        "/rules",
        {"rule_id": "house/seasick", "title": "Seasick", "body": "Roll on every wave."},
    )
    lore = engine.post(
        "/api/v1/tools/lore_search", {"query": "eels"}, content_type="application/json"
    ).json()
    rule = engine.post(
        "/api/v1/tools/rules_lookup", {"term": "seasick"}, content_type="application/json"
    ).json()
    assert (lore["hits"][0]["id"], rule["hits"][0]["id"]) == ("the-quay", "house/seasick")


def test_bulk_reports_on_each_and_keeps_the_good_ones(engine: Client) -> None:
    entries = [
        {"title": "The Quay"},
        {"title": ""},
        {"title": "The Bell", "campaign": "nowhere"},
        {"title": "The Toll"},
    ]
    report = post(engine, "/lore/bulk", {"entries": entries}).json()
    assert (report["stored"], report["failed"]) == (2, 2)
    assert [item["code"] for item in report["items"]] == ["", "invalid", "not_found", ""]
    assert set(Lore.objects.values_list("slug", flat=True)) == {"the-quay", "the-toll"}


def test_bulk_stores_all_or_none_on_request(engine: Client) -> None:
    report = post(
        engine, "/lore/bulk", {"entries": [{"title": "The Quay"}, {"title": ""}], "atomic": True}
    ).json()
    assert (report["stored"], report["items"][0]["status"]) == (0, "rolled_back")
    assert not Lore.objects.exists()


def test_house_rules_in_bulk(engine: Client) -> None:
    rules = [
        {"rule_id": f"house/rule-{number}", "title": f"Rule {number}", "body": "Roll."}
        for number in range(3)
    ]
    assert post(engine, "/rules/bulk", {"entries": rules}).json()["stored"] == 3
    assert engine.get(f"{WORLD}/rules/house/rule-1").json()["title"] == "Rule 1"
    assert engine.get(f"{WORLD}/rules/house/rule-9").status_code == 404


def test_more_than_500_at_once_are_refused(engine: Client) -> None:
    answer = post(
        engine, "/lore/bulk", {"entries": [{"title": str(number)} for number in range(501)]}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_a_proposal_waits_for_an_editor(engine: Client) -> None:
    answer = post(
        engine,
        "/lore/proposals",
        {"entry": {"title": "The Tenth Boat", "body": "Gone."}, "reason": "Said."},
    )
    assert (answer.status_code, answer.json()["state"]) == (201, "open")
    assert LoreProposal.objects.get().entry == {"title": "The Tenth Boat", "body": "Gone."}
    assert not Lore.objects.exists()


def test_who_proposed_too_much_waits_and_others_do_not(
    engine: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.proposals.MOST_OPEN", 1)
    assert post(engine, "/lore/proposals", {"entry": {"title": "One"}}).status_code == 201
    refused = post(engine, "/lore/proposals", {"entry": {"title": "Two"}})
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "1 of your proposals are open: wait until an editor has decided some.",
    )
    player = client_of(world, "public")
    assert post(player, "/lore/proposals", {"entry": {"title": "Three"}}).status_code == 201


def test_a_players_key_may_propose_but_neither_write_nor_read_canon(world: World) -> None:
    player = client_of(world, "public")
    assert (
        post(player, "/lore/proposals", {"entry": {"title": "The Tenth Boat"}}).status_code == 201
    )
    assert put(player, "/lore", {"title": "The Quay"}).status_code == 403
    assert player.get(f"{WORLD}/lore/the-quay").status_code == 403
    assert (
        put(player, "/rules", {"rule_id": "house/x", "title": "X", "body": "x"}).status_code == 403
    )
    assert not Lore.objects.exists()
    assert not Rule.objects.exists()


def test_a_campaigns_key_writes_the_campaigns_overlay(
    world: World, campaign: Campaign, engine: Client
) -> None:
    put(engine, "/lore", {"title": "The Bell", "body": "Hangs."})
    bound = client_of(world, campaign=campaign)
    put(bound, "/lore", {"title": "The Bell", "body": "Lies in the river."})
    assert Lore.objects.get(campaign=None).body == "Hangs."
    assert Lore.objects.get(campaign=campaign).overrides.campaign is None
    assert bound.get(f"{WORLD}/lore/the-bell").json()["body"] == "Lies in the river."
    Campaign.objects.create(world=world, slug="other", name="Other")
    assert put(bound, "/lore", {"title": "The Bell", "campaign": "other"}).status_code == 404


def test_an_entry_of_another_world_is_not_there(world: World, engine: Client) -> None:
    put(engine, "/lore", {"title": "The Quay"})
    other = World.objects.create(slug="saltmere", name="Saltmere")
    assert client_of(other).get(f"{WORLD}/lore/the-quay").status_code == 404
