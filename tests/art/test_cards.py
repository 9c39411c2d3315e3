"""Art cards: taken in, moderated, suggested."""

from collections.abc import Callable
from typing import Any

import pytest

from art.models import ArtCard
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from npcs.models import NPC
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

CARD: dict[str, Any] = {
    "image_id": "art-fog",
    "scene_id": "s-fog",
    "cdn_url": "https://art.example/fog.webp",
    "prompt_text": "Two ferries in river fog at night",
    "entities": ["lower-landing", "mira-voss", "a heron"],
    "visual_tags": ["fog", "night"],
    "style": "ink",
    "seed": 41207,
}


@pytest.fixture(autouse=True)
def ferrymark(
    engine: ApiClient, world: World, lanternbearers: Party, gilded_oath: Party, mira: NPC
) -> None:
    place = {"kind": "place", "status": "published", "visibility": "public"}
    Lore.objects.create(world=world, slug="lower-landing", title="Lower Landing", **place)
    for scene, where in (("s-fog", "lower-landing"), ("s-later", "lower-landing"), ("s-inn", "")):
        engine.put(
            "world/scenes",
            {"scene_id": scene, "party_id": "lanternbearers", "place": where, "title": scene},
        )


def put(engine: ApiClient, **changes: Any) -> Any:
    status, written = engine.put("world/art", {**CARD, **changes})
    assert status == 200, written
    return written


def ids(client: ApiClient, scene: str) -> tuple[str | None, list[str]]:
    status, found = client.tool("art_suggest", scene_id=scene)
    assert status == 200, found
    return found["basis"], [card["image_id"] for card in found["cards"]]


def test_a_card_is_linked_to_what_it_shows(engine: ApiClient) -> None:
    written = put(engine)
    assert (written["outcome"], written["moderation"], written["unknown"]) == (
        "created",
        "pending",
        ["a heron"],
    )
    card = ArtCard.objects.get()
    assert (card.place and card.place.slug, [npc.slug for npc in card.npcs.all()]) == (
        "lower-landing",
        ["mira-voss"],
    )
    assert put(engine)["outcome"] == "unchanged"


def test_a_new_picture_under_an_approved_card_waits_again(engine: ApiClient) -> None:
    put(engine)
    engine.post("world/art/art-fog/moderation", {"moderation": "approved"})
    assert put(engine, style="wash")["moderation"] == "approved"
    changed = put(engine, cdn_url="https://art.example/other.webp")
    assert (changed["outcome"], changed["moderation"]) == ("changed", "pending")


@pytest.mark.parametrize("verdict", ["pending", "flagged", "rejected"])
def test_players_see_approved_cards_only(
    engine: ApiClient, client_with_key: Callable[..., ApiClient], verdict: str
) -> None:
    put(engine, moderation=verdict)
    assert ids(client_with_key(audience="party:lanternbearers"), "s-fog") == (None, [])


def test_a_party_sees_its_own_pictures_and_not_anothers(
    engine: ApiClient, client_with_key: Callable[..., ApiClient]
) -> None:
    put(engine, moderation="approved")
    assert ids(client_with_key(audience="party:lanternbearers"), "s-fog") == ("scene", ["art-fog"])
    assert (
        client_with_key(audience="party:gilded-oath").tool("art_suggest", scene_id="s-fog")[0]
        == 404
    )


def test_a_scene_without_cards_gets_cards_by_place_then_cast_then_words(engine: ApiClient) -> None:
    put(engine, moderation="approved")
    assert ids(engine, "s-later") == ("place", ["art-fog"])
    assert engine.tool("art_suggest", scene_id="s-inn")[1]["cards"] == []
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "scene_id": "s-inn",
        "what": "Soup.",
    }
    engine.post("world/episodes", {**body, "who": {"npcs": ["mira-voss"]}})
    assert ids(engine, "s-inn") == ("entities", ["art-fog"])
    engine.post("world/episodes", {**body, "version": 2, "what": "Ferries in the river fog."})
    found = engine.tool("art_suggest", scene_id="s-inn")[1]
    assert (found["basis"], found["cards"][0]["image_id"]) == ("words", "art-fog")


def test_cards_of_graph_neighbors_come_before_cards_by_words(
    engine: ApiClient, world: World, client_with_key: Callable[..., ApiClient]
) -> None:
    put(engine, moderation="approved", visibility="public", scene_id=None)
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "scene_id": "s-inn",
        "what": "Soup.",
        "who": {},
    }
    engine.put(
        "world/npcs",
        {"npc_id": "jory-fenn", "name": "Jory Fenn", "role": "cook", "visibility": "public"},
    )
    engine.put(
        "world/npcs",
        {"npc_id": "mira-voss", "name": "Mira Voss", "role": "ferrier", "visibility": "public"},
    )
    engine.post("world/episodes", {**body, "who": {"npcs": ["jory-fenn"]}})
    asked = {"scene_id": "s-inn"}
    assert engine.tool("art_suggest", **asked)[1]["basis"] != "neighbours"
    known = {"src": "jory-fenn", "relation": "KNOWS", "dst": "mira-voss"}
    upsert_facts(world, [GraphFact(edge=EdgeFact(**known, visibility="gm"))])
    found = engine.tool("art_suggest", **asked)[1]
    assert (found["basis"], found["cards"][0]["because"]) == (
        "neighbours",
        "Jory Fenn knows Mira Voss",
    )
    party = client_with_key(audience="party:lanternbearers")
    assert party.tool("art_suggest", **asked)[1]["basis"] != "neighbours"
    upsert_facts(world, [GraphFact(edge=EdgeFact(**known, visibility="public", source_ref="told"))])
    assert party.tool("art_suggest", **asked)[1]["basis"] == "neighbours"


@pytest.mark.parametrize(
    "changes",
    [
        {"cdn_url": "file:///etc/passwd"},
        {"cdn_url": "javascript:alert(1)"},
        {"cdn_url": "http://a b"},
        {"cdn_url": "https://x/" + "y" * 2000},
        {"prompt_text": ""},
        {"prompt_text": "x" * 200_000},
        {"seed": 2**70},
        {"moderation": "fine"},
        {"colour": "red"},
    ],
)
def test_invalid_cards_are_refused(engine: ApiClient, changes: dict[str, Any]) -> None:
    status, _problem = engine.put("world/art", {**CARD, **changes})
    assert status == 422
    assert not ArtCard.objects.exists()
