"""A name or an id of an episode that is one slip away from a known one: the episode is written, for
it may be a new one, and the report asks."""

from typing import Any

import pytest

from episodes.models import Episode, Scene
from npcs.models import NPC, Appearance
from tests.conftest import ApiClient
from worlds.models import Party

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mira", "jory", "lanternbearers")]

SUMMARY = {"party_id": "lanternbearers", "what": "They met on the quay.", "version": 1}


def record(engine: ApiClient, summary: str = "ep-1", **fields: Any) -> Any:
    status, report = engine.post("world/episodes", {"summary_id": summary, **SUMMARY, **fields})
    assert status == 200, report
    return report


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Mira Vos", "Mira Voss"), ("Jorry Fenn", "Jory Fenn"), ("Mira", "Mira Voss")],
)
def test_a_name_that_resembles_an_npc_is_asked_about(
    engine: ApiClient, name: str, meant: str
) -> None:
    report = record(engine, who={"npcs": [name, "a ferryman"]})
    assert report["unknown"] == [name, "a ferryman"]
    [warning] = report["warnings"]
    assert repr(name) in warning
    assert meant in warning
    assert not Appearance.objects.exists()


def test_a_name_that_several_npcs_have_is_answered_with_their_ids(
    engine: ApiClient, mira: NPC
) -> None:
    NPC.objects.create(world=mira.world, slug="mira-the-younger", name="Mira Voss")
    [warning] = record(engine, who={"npcs": ["Mira Voss"]})["warnings"]
    assert "mira-the-younger, mira-voss" in warning


@pytest.mark.parametrize("name", ["a ferryman", "Tom Voss", "Mira Voss", "mira-voss"])
def test_another_name_brings_no_warning(engine: ApiClient, name: str) -> None:
    assert record(engine, who={"npcs": [name]})["warnings"] == []


@pytest.mark.parametrize("field", ["scene_id", "session_id"])
@pytest.mark.parametrize(
    "slip", ["moth-hall-eev", "moth-hal-eve", "moth_hall_eve", "Moth-Hall-Eve", "mothhall-eve"]
)
def test_a_new_id_that_resembles_one_is_asked_about(
    engine: ApiClient, field: str, slip: str
) -> None:
    assert record(engine, **{field: "moth-hall-eve"})["warnings"] == []
    [warning] = record(engine, "ep-2", **{field: slip})["warnings"]
    assert repr(slip) in warning
    assert "moth-hall-eve" in warning
    # From now on it is one of the known ids.
    assert record(engine, "ep-3", **{field: slip})["warnings"] == []


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("s1-fog-1", "s1-fog-2"),
        ("session-1", "session-11"),
        ("act-ii", "act-iii"),
        ("inn-a", "inn-b"),
        ("сцена-1", "сцена-2"),
        ("market", "harbour"),
    ],
)
def test_ids_that_count_are_other_ids(engine: ApiClient, known: str, new: str) -> None:
    record(engine, scene_id=known)
    assert record(engine, "ep-2", scene_id=new)["warnings"] == []


def test_scenes_of_another_campaign_are_not_named(engine: ApiClient, lanternbearers: Party) -> None:
    record(engine, scene_id="moth-hall-eve")
    other = lanternbearers.world.campaigns.create(slug="high-water", name="High Water")
    other.parties.create(world=lanternbearers.world, slug="divers", name="Divers")
    report = record(engine, "ep-2", party_id="divers", scene_id="moth-hall-eev")
    assert report["warnings"] == []


def test_a_late_version_brings_no_warning_of_its_scene(engine: ApiClient) -> None:
    record(engine, version=2, scene_id="moth-hall-eve")
    report = record(engine, version=1, scene_id="moth-hall-eev")
    assert (report["outcome"], report["warnings"]) == ("superseded", [])
    assert Scene.objects.count() == 1
    assert Episode.objects.get().scene == Scene.objects.get()
