"""The demo's people and sessions in the database."""

from typing import Any

import pytest

from art.models import ArtCard
from episodes.models import Episode
from memory_site.demo.load import load_history, load_lore
from memory_site.demo.world_files import DemoWorld, read_world
from npcs.models import NPC, DispositionChange
from tests.conftest import ApiClient
from worlds.models import Campaign, Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def files() -> DemoWorld:
    return read_world()


@pytest.fixture
def ferrymark(files: DemoWorld, db: None) -> World:
    """The world as it is when only its lore has been loaded."""
    setting = files.setting
    world = World.objects.create(slug=setting.slug, name=setting.name)
    campaign = Campaign.objects.create(world=world, **setting.campaign)
    for party in setting.parties:
        Party.objects.create(world=world, campaign=campaign, slug=party.slug, name=party.name)
    load_lore(files, world)
    return world


@pytest.fixture
def loaded(files: DemoWorld, ferrymark: World) -> World:
    load_history(files, ferrymark)
    return ferrymark


def test_loading_twice_changes_nothing(files: DemoWorld, loaded: World) -> None:
    def everything() -> list[Any]:
        return [
            list(model.objects.order_by("pk").values())
            for model in (NPC, Episode, DispositionChange, ArtCard)
        ]

    before = everything()
    load_history(files, loaded)
    assert everything() == before
    assert (NPC.objects.count(), Episode.objects.count(), ArtCard.objects.count()) == (12, 13, 9)


def test_one_npc_is_loved_by_one_party_and_hated_by_the_other(loaded: World) -> None:
    client = ApiClient(loaded)
    labels = {
        npc.slug: {
            party: each["label"]
            for party, each in client.tool("npc_profile", npc_id=npc.slug)[1]["dynamic"][
                "disposition"
            ].items()
        }
        for npc in NPC.objects.all()
    }
    assert labels["jory-fenn"] == {"lanternbearers": "friendly", "gilded-oath": "hostile"}
    assert any(each.pending for npc in NPC.objects.all() for each in npc.dispositions.all())


def test_the_parties_know_what_they_learned(loaded: World) -> None:
    lanterns = ApiClient(loaded, audience="party:lanternbearers")
    gilded = ApiClient(loaded, audience="party:gilded-oath")
    assert lanterns.tool("npc_profile", npc_id="matvei-kotelnik")[1]["static"]["secrets"]
    assert gilded.tool("npc_profile", npc_id="matvei-kotelnik")[1]["static"]["secrets"] == []
    assert gilded.tool("npc_profile", npc_id="ninth-oarsman")[0] == 404


def test_a_session_is_fetched_by_words_within_the_party(loaded: World) -> None:
    lanterns = ApiClient(loaded, audience="party:lanternbearers")
    status, found = lanterns.tool(
        "session_fetch", party_id="Lanternbearers", query="burning rope in the fog", k=3
    )
    assert (status, found["episodes"][0]["scene_id"]) == (200, "s1-fog-at-the-landing")
    assert {episode["party_id"] for episode in found["episodes"]} == {"lanternbearers"}
    assert lanterns.tool("session_fetch", party_id="gilded-oath")[0] == 404


def test_players_are_shown_approved_pictures_of_what_they_know(loaded: World) -> None:
    lanterns, gilded = (
        ApiClient(loaded, audience="party:lanternbearers"),
        ApiClient(loaded, audience="party:gilded-oath"),
    )
    own = lanterns.tool("art_suggest", scene_id="s2-tanner-street")[1]
    assert (own["basis"], [card["image_id"] for card in own["cards"]]) == (
        "scene",
        ["art-tanner-street"],
    )
    assert own["cards"][0]["private"] is None
    assert gilded.tool("art_suggest", scene_id="s2-tanner-street")[0] == 404
    waiting = gilded.tool("art_suggest", scene_id="s2-raising-the-stone")[1]
    assert "art-keystone-in-the-air" not in [card["image_id"] for card in waiting["cards"]]
    gm = ApiClient(loaded).tool("art_suggest", scene_id="s2-raising-the-stone")[1]
    assert gm["cards"][0]["private"]["moderation"] == "pending"
