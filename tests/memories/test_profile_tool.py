"""Jory Fenn's profile has what he remembers of the rope, for game masters and himself alone."""

from typing import Any

import pytest

from episodes.ingest import retract_episode
from memories.buckets.read_pipeline import ReadPipeline
from memories.models import Insight, MemoryItem, Namespace
from memories.profile_tool import RememberingProfileAsk
from memory_site import toolbox
from tests.memories.test_witnesses import (  # noqa: F401
    ferrymark,
    memory_of,
    npc,
    record,
    reflect_upon_ropes,
    tell_of_it,
)
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import World

pytestmark = pytest.mark.django_db
ROPE = "Jory Fenn went under, and Nuri pulled him out with a burning rope."
ABOUT = "Who pulled you out with a rope?"


def profile(world: World, audience: Audience = GM, *, slug: str = "jory-fenn", **more: Any) -> Any:
    ask = RememberingProfileAsk(npc_id=slug, **{"about": ABOUT, **more})
    return toolbox.npc_profile(ask, Caller(world=world, audience=audience))


def test_a_profile_has_what_the_npc_remembers_of_a_topic(world: World) -> None:
    record(world)
    answer = profile(world, party_id="lanternbearers")
    (memory,) = answer.memories
    assert (memory.text, memory.way, memory.source) == (ROPE, "witnessed", "ep-rope")
    assert memory.in_world_at == 100.0
    assert answer.dynamic.disposition


def test_hearsay_says_from_whom(world: World) -> None:
    record(world)
    tell_of_it(world, "jory-fenn", "tobin")
    (memory,) = profile(world, slug="tobin").memories
    assert (memory.way, memory.told_by) == ("heard", npc("jory-fenn").name)


def test_only_the_npc_itself_and_game_masters_read_it(world: World) -> None:
    record(world)
    assert profile(world, Audience("npc", "jory-fenn")).memories[0].text == ROPE
    others = [PUBLIC, Audience("party", "lanternbearers"), Audience("npc", "mira-voss")]
    assert [profile(world, other).memories for other in others] == [[], [], []]


def test_an_npc_does_not_remember_what_was_hidden_from_it(world: World) -> None:
    record(world)
    about = "Who cut the mooring? Was the ninth oarsman there?"
    texts = [memory.text for memory in profile(world, about=about).memories]
    assert not [text for text in texts if "mooring" in text or "oarsman" in text]
    assert "cut the mooring" in profile(world, slug="mira-voss", about=about).memories[0].text


def test_what_was_retracted_is_not_remembered(world: World) -> None:
    record(world)
    retract_episode(world, "ep-rope")
    assert profile(world).memories == []


def test_a_profile_writes_nothing(world: World) -> None:
    assert profile(world, slug="tobin").memories == profile(world, about="").memories == []
    assert not Namespace.objects.filter(npc=npc("tobin")).exists()
    record(world)
    profile(world)
    assert not MemoryItem.objects.exclude(recalls=0).exists()


def test_a_summary_without_a_model_comes_after_the_episodes(world: World) -> None:
    reflect_upon_ropes(world)
    about = "How often did something happen with Nuri and a rope?"
    summary = Insight.objects.get(memory__namespace=memory_of(world, "jory-fenn")).memory.text
    found = [memory.text for memory in profile(world, about=about).memories]
    assert len(found) == 3
    assert summary not in found
    answer = ReadPipeline(memory_of(world, "jory-fenn"), abstains=False).query(about)
    assert [one.memory.text for one in answer.memories].index(summary) == 3
