"""1,000 events through the whole write pipeline without a model, embedding included, beside HAEMA's `add`.

    python -m bench.agent_throughput [--events 1000] [--peer-events 40]

The peer is `haema` 0.4.0, if it can be imported (PYTHONPATH); it gets the same vectors from the same embedder, and no
language model (one that fails at once: it then stores contents as they came).
"""

import argparse
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from django.conf import settings

import memories.standalone as standalone  # sets Django up, before any model is imported
from bench.labelled import DATA, rows
from memories import namespaces
from memories.buckets.admission import OpenGate
from memories.buckets.events import MemoryEvent, counted
from memories.buckets.write import WritePipeline
from retrieval.embedders.hashing import HashingEmbedder
from worlds.models import GameSystem, World


def texts(count: int) -> list[str]:
    told = [row["text"] for row in rows(DATA / "events.jsonl")]
    return [f"{told[n % len(told)]} (entry {n} of ledger {n * 7919 % 1000})" for n in range(count)]


def ours(events: list[str]) -> float:
    """Events a second; the namespace is new and stays (the bench runs in a scratch database)."""
    settings.EMBEDDER = "hashing"
    system, _ = GameSystem.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    world, _ = World.objects.get_or_create(slug="bench", defaults={"name": "Bench", "system": system})
    pipeline = WritePipeline(namespaces.named(world, f"bench-{time.time_ns()}"), gate=OpenGate())
    begun = time.perf_counter()
    outcomes = pipeline.process_all([MemoryEvent(text) for text in events])
    spent = time.perf_counter() - begun
    print(f"ours   {len(events)} events in {spent:.1f} s: {len(events) / spent:.1f}/s  {counted(outcomes)}")
    return len(events) / spent


def peer(events: list[str]) -> float | None:
    """HAEMA's adds a second, one event a call as its callers do; None when it is not installed."""
    try:
        import haema
    except ImportError:
        print("haema is not installed: no peer")
        return None
    with TemporaryDirectory() as folder:
        memory = _haema(haema, folder)
        begun = time.perf_counter()
        for text in events:
            memory.add([text])
        spent = time.perf_counter() - begun
    print(f"haema  {len(events)} events in {spent:.1f} s: {len(events) / spent:.1f}/s")
    return len(events) / spent


def _haema(haema: Any, folder: str) -> Any:
    embedder = HashingEmbedder()

    class Embeds(haema.EmbeddingClient):  # type: ignore[misc]
        def embed_query(self, given: Any, output_dimensionality: int) -> Any:  # noqa: ARG002
            return np.asarray(embedder.embed_document(list(given)), dtype=np.float32)

        embed_document = embed_query

    class Silent(haema.LLMClient):  # type: ignore[misc]
        def generate_structured(self, *_: Any, **__: Any) -> Any:
            raise ValueError("no model")

    make: Callable[..., Any] = haema.Memory
    return make(path=folder, output_dimensionality=embedder.dims, embedding_client=Embeds(), llm_client=Silent())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--peer-events", type=int, default=40)
    options = parser.parse_args()
    standalone.ensure_tables()
    mine, theirs = ours(texts(options.events)), peer(texts(options.peer_events))
    if theirs:
        print(f"ratio  {mine / theirs:.1f}")


if __name__ == "__main__":
    main()
