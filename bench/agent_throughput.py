"""Throughput of the write pipeline without a language model, embedding included, beside HAEMA's
`add`.

    python -m bench.agent_throughput [--events 1000] [--repeats 5] [--peer-repeats 3]

The peer is `haema` 0.4.0, if it can be imported (PYTHONPATH). It gets the same texts, vectors from
the same embedder, and a language model that fails at once, so that it stores contents as they are.
It is measured with one `add` per event and with all contents in one `add`. Every repeat has its own
texts and memory, so that no cache is warm; medians are printed.
"""

import argparse
import logging
import os
import statistics
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.labelled_sets import DATA, load_rows
from bench.scratch import connect


def event_texts(count: int, repeat: int = 0) -> list[str]:
    """Return the labelled events, repeated with other numbers: similar to one another, but not the
    same."""
    texts = [row["text"] for row in load_rows(DATA / "events.jsonl")]
    numbers = range(repeat * count, (repeat + 1) * count)
    return [f"{texts[n % len(texts)]} (entry {n} of ledger {n * 7919 % 1000})" for n in numbers]


def measure_ours(events: list[str]) -> float:
    """Return events per second into a new memory."""
    from memories import namespaces
    from memories.buckets.events import MemoryEvent, count_outcomes
    from memories.buckets.write_pipeline import OpenGate, WritePipeline
    from worlds.models import World

    world, _ = World.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    pipeline = WritePipeline(
        namespaces.get_or_create_namespace(world, f"bench-{time.time_ns()}"), gate=OpenGate()
    )
    begun = time.perf_counter()
    outcomes = pipeline.process_all([MemoryEvent(text) for text in events])
    seconds = time.perf_counter() - begun
    rate = len(events) / seconds
    counts = count_outcomes(outcomes)
    print(f"ours              {len(events)} events in {seconds:.2f} s: {rate:.0f}/s  {counts}")
    return rate


def measure_peer(events: list[str], *, at_once: bool) -> float:
    """Return HAEMA's events per second, with one call per event or with one call for all."""
    with TemporaryDirectory() as folder:
        memory = make_haema_memory(folder)
        begun = time.perf_counter()
        for contents in [events] if at_once else [[text] for text in events]:
            memory.add(contents)
        spent = time.perf_counter() - begun
        kept = len(memory.get_latest(1, len(events)))
    name = "haema, all in one" if at_once else "haema, one by one"
    print(f"{name} {len(events)} events in {spent:.1f} s: {len(events) / spent:.0f}/s  kept {kept}")
    return len(events) / spent


def make_haema_memory(folder: str) -> Any:
    import haema

    from retrieval.embedders import HashingEmbedder

    embedder = HashingEmbedder()

    class Embeds(haema.EmbeddingClient):  # type: ignore[misc]
        def embed_query(self, given: Any, output_dimensionality: int) -> Any:  # noqa: ARG002
            return np.asarray(embedder.embed_document(list(given)), dtype=np.float32)

        embed_document = embed_query

    class Silent(haema.LLMClient):  # type: ignore[misc]
        def generate_structured(self, *_: Any, **__: Any) -> Any:
            raise ValueError("no model")

    make: Callable[..., Any] = haema.Memory
    return make(
        path=folder,
        output_dimensionality=embedder.dims,
        embedding_client=Embeds(),
        llm_client=Silent(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peer-repeats", type=int, default=3)
    options = parser.parse_args()
    os.environ["EMBEDDER"] = "hashing"
    connect("memory37_throughput_bench")
    logging.getLogger("haema").setLevel(logging.CRITICAL)
    measure_ours(
        event_texts(50, repeat=1000)
    )  # the first connection and the first words are nobody's measure
    mine = statistics.median(
        measure_ours(event_texts(options.events, n)) for n in range(options.repeats)
    )
    print(f"median of ours: {mine:.0f}/s")
    try:
        import haema  # noqa: F401
    except ImportError:
        print("haema is not installed: no peer")
        return
    for at_once in (False, True):
        compare(
            [event_texts(options.events, 50 + n) for n in range(options.peer_repeats)],
            at_once=at_once,
        )


def compare(rounds: list[list[str]], *, at_once: bool) -> None:
    """Measure ours, the peer and ours again in each round, so that a drift of the machine's speed
    favors nobody."""
    ratios, runs = [], []
    for events in rounds:
        before = measure_ours(events)
        theirs = measure_peer(events, at_once=at_once)
        after = measure_ours(events)
        runs.append(theirs)
        ratios.append(statistics.mean([before, after]) / theirs)
    rounds_text = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    rate, ratio = statistics.median(runs), statistics.median(ratios)
    print(f"median {rate:.0f}/s, ratio {ratio:.1f} (rounds: {rounds_text})")


if __name__ == "__main__":
    main()
