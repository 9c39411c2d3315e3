"""The pipelines and reflection do the same whatever the store is."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memories import ReadPipeline, WritePipeline, reflect
from memories.buckets.events import MemoryEvent, Result
from memories.haema import Memory
from memories.models import Namespace
from memories.search.filters import MemoryFilter
from memories.states import Bucket
from retrieval.errors import Invalid, NotFound
from tests.memories.test_stores import STORES as FOUR_STORES

pytestmark = pytest.mark.django_db
STORES: dict[str, Callable[[Path, Namespace], Any]] = {
    **FOUR_STORES,
    "haema": lambda folder, _namespace: Memory(folder),
    "namespace": lambda _folder, namespace: namespace,
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, mira: Namespace) -> Any:
    return STORES[request.param](tmp_path, mira)


def texts_for(store: Any, question: str, **where: Any) -> list[str]:
    pipeline = ReadPipeline(store, abstains=False, share=0)
    found = pipeline.query(question, where=MemoryFilter(**where) if where else None).memories
    return [one.memory.text for one in found]


def test_what_is_written_is_read_from_its_bucket(store: Any) -> None:
    stored = WritePipeline(store).process(MemoryEvent("I prefer short answers over long ones."))
    assert (stored.result, stored.bucket) == (Result.STORED, Bucket.PREFERENCE)
    WritePipeline(store).process(MemoryEvent("Tobin keeps the toll bell of the lower landing."))
    again = WritePipeline(store).process(MemoryEvent("I prefer short answers over long ones."))
    assert (again.result, again.memory_id) == (Result.MERGED, stored.memory_id)
    result = ReadPipeline(store).query("Who keeps the toll bell of the lower landing?")
    assert result.memories[0].memory.text.startswith("Tobin keeps")
    dropped = WritePipeline(store).process(MemoryEvent("ok"))
    assert dropped.result is Result.DROPPED


def test_filters_keys_and_ends_count(store: Any) -> None:
    write = WritePipeline(store).process
    write(MemoryEvent("The grey ferry crosses at night.", scope="river", tags=["boat"]))
    write(MemoryEvent("A lantern crosses the market.", scope="town", metadata={"a": {"b": 1}}))
    question = "What crosses the river or the market at night?"
    assert texts_for(store, question, scope="river") == ["The grey ferry crosses at night."]
    assert texts_for(store, question, tags=["boat"]) == ["The grey ferry crosses at night."]
    nested = {"metadata": {"a": {"b": 1}}}
    assert texts_for(store, question, **nested) == ["A lantern crosses the market."]
    later = datetime.now(UTC) + timedelta(hours=1)
    assert texts_for(store, question, after=later) == []
    write(MemoryEvent("The fare over the river is one penny.", key="fare"))
    write(MemoryEvent("The fare over the river is two pennies.", key="fare"))
    fares = [text for text in texts_for(store, "What is the fare?") if "fare" in text]
    assert fares == ["The fare over the river is two pennies."]
    write(MemoryEvent("The bridge is out of order.", expires_at=datetime(2020, 1, 1, tzinfo=UTC)))
    assert "The bridge is out of order." not in texts_for(store, "Is the bridge out of order?")


def test_what_is_not_there_is_not_superseded(store: Any) -> None:
    known = WritePipeline(store).process(MemoryEvent("The toll is nine silver a head."))
    assert known.memory_id
    write = WritePipeline(store).process
    with pytest.raises(NotFound):
        write(MemoryEvent("Crossing costs ten silver.", supersedes=[known.memory_id, uuid4()]))
    write(MemoryEvent("Crossing costs ten silver.", supersedes=[known.memory_id]))
    assert texts_for(store, "What does the crossing cost?") == ["Crossing costs ten silver."]


@pytest.mark.parametrize("name", ["memory", "file", "qdrant"])
def test_episodes_alike_become_one_insight(name: str, tmp_path: Path, mira: Namespace) -> None:
    store = STORES[name](tmp_path, mira)
    write = WritePipeline(store).process
    for day in ("Monday", "Tuesday"):
        text = f"Yesterday, on {day}, the image cache ran out of memory again."
        write(MemoryEvent(text, bucket=Bucket.EPISODIC))
    write(MemoryEvent("Tobin rang the cracked bell.", bucket=Bucket.EPISODIC))
    (first,) = reflect(store)
    assert reflect(store) == []
    text = "Yesterday, on Friday, the image cache ran out of memory again."
    write(MemoryEvent(text, bucket=Bucket.EPISODIC))
    (second,) = reflect(store)
    ((insight, rests_on),) = store.insights()
    assert (insight, len(rests_on)) == (second, 3)
    assert store.get(first) is None
    assert any("image cache" in text for text in texts_for(store, "What about the image cache?"))


def test_reflection_on_a_memory_is_that_of_its_namespace(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    for number in range(30):
        text = f"Yesterday, at {number}, the image cache ran out of memory again."
        WritePipeline(memory).process(
            MemoryEvent(text, bucket=Bucket.EPISODIC, importance=0.9, key=str(number))
        )
    assert len(reflect(memory)) == 1
    assert reflect(memory) == []


def test_what_is_no_store_is_refused() -> None:
    with pytest.raises(Invalid, match="not dict"):
        WritePipeline({}).process(MemoryEvent("Tobin rang the cracked bell."))  # type: ignore[arg-type]
