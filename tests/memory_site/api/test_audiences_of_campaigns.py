"""A key that is bound to one campaign lets nobody of another one learn anything, and is told of
none of their names; what it accepts becomes an entry of its own campaign."""

from typing import Any

import pytest

from knowledge.graph.models import GraphEdge
from knowledge.models import Lore
from npcs.models import NPC
from tests import cast
from tests.conftest import ApiClient
from worlds.characters import create_character
from worlds.models import Campaign, Party, Reveal, World

pytestmark = pytest.mark.django_db

LORE = {
    "slug": "pier",
    "title": "The Pier",
    "kind": "place",
    "body": "Wet planks.",
    "status": "published",
}


@pytest.fixture
def gulls(world: World) -> Party:
    """A party of another campaign than the key's."""
    first = Campaign.objects.create(world=world, slug="first-tide", name="First Tide")
    party = cast.create_party(first, slug="gulls", name="Gulls")
    create_character(world, name="Ana", party=party)
    return party


@pytest.fixture
def bound(world: World) -> ApiClient:
    second = Campaign.objects.create(world=world, slug="second-tide", name="Second Tide")
    cast.create_party(second, slug="plovers", name="Plovers")
    return ApiClient(world, scopes=["admin"], campaign=second)


def writes(audience: str) -> list[tuple[str, str, Any]]:
    """Writes by which `audience` would learn something."""
    revealed = {"visibility": "revealed", "known_to": [audience]}
    edge = {"src": "Ada Crane", "relation": "LOCATED_IN", "dst": "The Pier", **revealed}
    told = {"summary_id": "ep-1", "party_id": "plovers", "what": "They talked."}
    return [
        ("PUT", "world/lore", {**LORE, **revealed}),
        ("PUT", "world/lore", {**LORE, "body": f":::secret {audience}\nRotten.\n:::"}),
        (
            "PUT",
            "world/rules",
            {"rule_id": "tide/oars", "title": "Oars", "body": "Row.", **revealed},
        ),
        ("PUT", "world/npcs", {"npc_id": "ada", "name": "Ada", **revealed}),
        (
            "PUT",
            "world/npcs",
            {
                "npc_id": "ada",
                "name": "Ada",
                "secrets": [{"text": "A spy.", "known_to": [audience]}],
            },
        ),
        ("POST", "world/graph/facts", {"facts": [{"edge": edge}]}),
        ("POST", "world/episodes", {**told, "reveals": [{"lore": "pier", "to": [audience]}]}),
        ("POST", "world/episodes", {**told, "facts": [{"edge": edge}]}),
    ]


@pytest.mark.parametrize("audience", ["party:gulls", "character:ana", "party:gullz"])
@pytest.mark.parametrize("number", range(8))
def test_nobody_of_another_campaign_is_named_or_told_anything(
    world: World, gulls: Party, bound: ApiClient, audience: str, number: int
) -> None:
    ApiClient(world).put("world/lore", LORE)
    GraphEdge.objects.all().delete()
    method, path, body = writes(audience)[number]
    status, problem = bound.send(method, path, body)
    assert (status, problem["code"]) == (422, "invalid")
    told = str(problem).replace(audience, "")
    assert not [name for name in ("gulls", "ana", "First", "first") if name in told], problem
    assert not NPC.objects.exists()
    assert not Reveal.objects.exists()
    assert not GraphEdge.objects.exists()
    assert Lore.objects.get().body == LORE["body"]


@pytest.mark.parametrize("number", range(8))
def test_its_own_party_learns_it(world: World, gulls: Party, bound: ApiClient, number: int) -> None:
    ApiClient(world).put("world/lore", LORE)
    ApiClient(world).put("world/npcs", {"npc_id": "ada-crane", "name": "Ada Crane"})
    method, path, body = writes("party:plovers")[number]
    status, answer = bound.send(method, path, body)
    assert status == 200, answer


def propose(bound: ApiClient, **entry: Any) -> str:
    sent = {"entry": {"title": "The Brine Bell", "body": "It sank.", **entry}}
    status, proposal = bound.post("world/lore/proposals", sent)
    assert status == 201, proposal
    return f"world/proposals/{proposal['id']}"


def test_what_it_accepts_becomes_an_entry_of_its_campaign(bound: ApiClient) -> None:
    status, answer = bound.post(f"{propose(bound)}/accept", {})
    assert (status, answer["campaign"]) == (200, "second-tide")
    assert Lore.objects.get().campaign == bound.key.campaign


def test_it_accepts_nothing_for_another_campaign(bound: ApiClient, gulls: Party) -> None:
    address = propose(bound, campaign="first-tide")
    assert bound.post(f"{address}/accept", {})[0] == 404
    entry = {"title": "The Brine Bell", "body": "It floats.", "campaign": "first-tide"}
    assert bound.post(f"{propose(bound)}/accept", {"entry": entry})[0] == 404
    assert not Lore.objects.exists()


def test_it_takes_back_no_canon(world: World, bound: ApiClient) -> None:
    address = propose(bound)
    assert ApiClient(world, scopes=["admin"]).post(f"{address}/accept", {})[0] == 200
    assert bound.post(f"{address}/reopen")[0] == 403
    assert Lore.objects.get().campaign is None
