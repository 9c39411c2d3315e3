"""`add` of ten contents to 10,000 memories, beside HAEMA in the same run:
`python -m bench.own_vectors [--memories 10000] [--dims 384] [--rounds 20] [--stores own haema]`.

The peer is `haema` 0.4.0 with ChromaDB, if it can be imported (PYTHONPATH). Both get the same
contents, the same vectors from the same client, and a language model that repeats the contents;
they are measured in turn. `site` is ours with the site's embedder (EMBEDDER), no client.
"""

import argparse
import hashlib
import logging
import statistics
import time
from collections.abc import Callable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.scratch import connect

FILLED_AT_ONCE = 100
CONTENTS = 10


def contents_of(numbers: Sequence[int]) -> list[str]:
    return [
        f"Ferry {n} carries the cargo of merchant {n * 7919 % 10_007} to Carrow." for n in numbers
    ]


class Directions:
    """A client with a fixed random direction for each text."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        rows = []
        for text in texts:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            rows.append(np.random.default_rng(seed).normal(size=output_dimensionality))
        return np.asarray(rows, dtype=np.float32)

    embed_document = embed_query


class Repeats:
    """A language model that repeats the new contents and leaves the core alone."""

    def generate_structured(
        self,
        system_prompt: str,  # noqa: ARG002
        user_prompt: str,
        response_model: type[Any],
    ) -> dict[str, Any]:
        if "Core" in response_model.__name__:
            return {"should_update": False, "core_markdown": None}
        block = user_prompt.rpartition("<new_contents>")[2].partition("</new_contents>")[0]
        lines = [line.lstrip("- ") for line in block.splitlines() if line.strip()]
        return {"memories": lines, "coverage": "complete"}


def measure(adds: dict[str, Callable[[list[str]], Any]], *, memories: int, rounds: int) -> None:
    for name, add in adds.items():
        begun = time.perf_counter()
        for start in range(0, memories, FILLED_AT_ONCE):
            add(contents_of(range(start, min(memories, start + FILLED_AT_ONCE))))
        print(f"{name}: filled with {memories} in {time.perf_counter() - begun:.1f} s", flush=True)
    times: dict[str, list[float]] = {name: [] for name in adds}
    for round_ in range(rounds):
        start = memories + round_ * CONTENTS
        for name, add in adds.items():
            begun = time.perf_counter()
            add(contents_of(range(start, start + CONTENTS)))
            times[name].append(time.perf_counter() - begun)
    for name, seconds in sorted(times.items()):
        median, worst = 1000 * statistics.median(seconds), 1000 * max(seconds)
        print(f"{name}: add of {CONTENTS}: p50 {median:.0f} ms, worst {worst:.0f} ms")


def haema_add(folder: str, dims: int) -> Callable[[list[str]], Any] | None:
    try:
        import haema
    except ImportError:
        print("haema is not installed: no peer")
        return None

    class Embeds(Directions, haema.EmbeddingClient):  # type: ignore[misc]
        pass

    class Model(Repeats, haema.LLMClient):  # type: ignore[misc]
        pass

    make: Callable[..., Any] = haema.Memory
    memory = make(
        path=folder, output_dimensionality=dims, embedding_client=Embeds(), llm_client=Model()
    )
    add: Callable[[list[str]], Any] = memory.add
    return add


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--stores", nargs="*", default=["own", "site", "haema"])
    options = parser.parse_args()
    connect("memory37_own_vectors_bench")
    logging.getLogger("haema").setLevel(logging.CRITICAL)
    from memories.haema import EmbeddingClient, LLMClient, Memory

    class OwnEmbeddings(Directions, EmbeddingClient):
        pass

    class OwnModel(Repeats, LLMClient):
        pass

    with TemporaryDirectory() as folder:
        own = Memory(f"{folder}/own", options.dims, OwnEmbeddings(), OwnModel())
        site = Memory(f"{folder}/site", None, None, OwnModel())
        adds: dict[str, Callable[[list[str]], Any]] = {"own": own.add, "site": site.add}
        if "haema" in options.stores and (peer := haema_add(f"{folder}/haema", options.dims)):
            adds["haema"] = peer
        adds = {name: add for name, add in adds.items() if name in options.stores}
        measure(adds, memories=options.memories, rounds=options.rounds)


if __name__ == "__main__":
    main()
