"""Every way of writing sorts what it writes, so that the reader of the buckets finds it."""

from pathlib import Path

import pytest

from memories.buckets.read_pipeline import ReadPipeline
from memories.haema import Memory
from memories.models import Namespace
from memories.states import Bucket
from tests.memories.conftest import remember
from tests.memories.fakes import Echo, Vectors
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db

SORTED = {
    "My name is Ingrid and I run the Thursday table.": Bucket.PROFILE,
    "I prefer short answers over long ones.": Bucket.PREFERENCE,
    "Yesterday we found a memory leak in the image cache.": Bucket.EPISODIC,
    "Whenever money comes first, the party balks.": Bucket.SEMANTIC,
    "The fare over the river is one penny.": Bucket.FACT,
}


def buckets_of(namespace: Namespace) -> dict[str, str]:
    return dict(namespace.memories.values_list("text", "bucket"))


def test_memory_add_sorts_by_rules(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.add(list(SORTED))
    assert buckets_of(memory.namespace) == SORTED


def test_what_a_language_model_made_of_contents_is_sorted(tmp_path: Path) -> None:
    memory = Memory(tmp_path, 8, Vectors(), Echo())
    memory.add(list(SORTED))
    assert buckets_of(memory.namespace) == SORTED


def test_the_tool_and_rest_sort_too(world: World, mira: Namespace) -> None:
    agent = Agent(world, "mira-voss")
    first, *others = SORTED
    agent("POST", "/tools/archival_memory_insert", {"content": first})
    agent("POST", "/memory", {"contents": others}, status=201)
    assert buckets_of(mira) == SORTED


def test_the_callers_choice_stands(mira: Namespace) -> None:
    remember(mira, "I prefer short answers over long ones.", bucket=Bucket.FACT, importance=0.9)
    assert list(mira.memories.values_list("bucket", "importance")) == [("fact", 0.9)]


def test_an_important_memory_weighs_more_than_a_trifle(mira: Namespace) -> None:
    remember(mira, "Tobin promised never to open the sluice.", "Tobin eats porridge for breakfast.")
    promise, porridge = mira.memories.order_by("timestamp_ms").values_list("importance", flat=True)
    assert promise > porridge


def test_what_was_added_counts_more_where_the_question_asks_for_its_bucket(
    mira: Namespace,
) -> None:
    remember(mira, *SORTED)
    shares = {}
    for intent in ("preference", "knowledge"):
        result = ReadPipeline(mira, abstains=False).query("short answers", intent=intent)
        of_text = {one.memory.text: one.axes.similarity for one in result.memories}
        shares[intent] = of_text["I prefer short answers over long ones."]
    assert shares["preference"] > shares["knowledge"] > 0
