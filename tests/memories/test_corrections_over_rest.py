"""Corrections over REST answer with what they stored."""

from typing import Any

import pytest

from memories.models import MemoryItem
from memories.models.namespaces import Namespace, Review
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db
ROPE, KEY = "Jory cut the rope at the ferry.", "The key lies under the third stair."


@pytest.fixture
def mira(world: World) -> Agent:
    return Agent(world, "mira-voss")


def add(agent: Agent, text: str, **more: Any) -> str:
    answer = agent("POST", "/memory", {"contents": [text], **more}, status=201)
    ids: list[str] = answer["ids"] or answer["pending"]
    return ids[0]


def test_an_edited_memory_keeps_its_metadata(mira: Agent) -> None:
    pk = add(mira, ROPE)
    MemoryItem.objects.filter(pk=pk).update(metadata={"place": "ferry"})
    edited = mira("POST", f"/memory/item/{pk}/edit", {"text": "Jory cut the rope at dawn."})
    assert edited["text"] == "Jory cut the rope at dawn."
    assert MemoryItem.objects.get(pk=edited["id"]).metadata["place"] == "ferry"


def test_a_merge_answers_with_the_new_memory(mira: Agent) -> None:
    ids = [add(mira, ROPE), add(mira, KEY)]
    for pk, metadata in zip(
        ids, ({"place": "ferry"}, {"place": "stair", "by": "Ida"}), strict=True
    ):
        MemoryItem.objects.filter(pk=pk).update(metadata=metadata)
    merged = mira("POST", "/memory/merge", {"ids": ids, "text": f"{ROPE} {KEY}"})
    assert (merged["text"], merged["state"]) == (f"{ROPE} {KEY}", "active")
    assert MemoryItem.objects.get(pk=merged["id"]).metadata == {"place": "ferry", "by": "Ida"}


@pytest.fixture
def reviewed(mira: Agent) -> Agent:
    add(mira, "The bell is silver.")
    Namespace.objects.filter(name="mira-voss").update(review=Review.ALL)
    return mira


def test_a_pending_memory_is_edited(reviewed: Agent) -> None:
    pk = add(reviewed, ROPE)
    edited = reviewed("POST", f"/memory/inbox/{pk}/edit", {"text": "Jory cut the rope."})
    assert (edited["text"], edited["state"]) == ("Jory cut the rope.", "active")


def test_a_pending_memory_is_split(reviewed: Agent) -> None:
    pk = add(reviewed, f"{ROPE} {KEY}")
    parts = reviewed("POST", f"/memory/inbox/{pk}/split", {"texts": [ROPE, KEY]})
    assert [part["text"] for part in parts] == [ROPE, KEY]
