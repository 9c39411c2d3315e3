"""The time of an `add` of ten contents to a memory that holds ten thousand, beside HAEMA's `add` in
the same run: `python -m bench.add_beside_haema [--rows 10000] [--adds 15]`.

Both get texts of the same make, without a language model: first with the caller's own embedding
client (the same hashing vectors for both), then with the site's embedder for ours and the same
embedder as a client of HAEMA's. HAEMA 0.4.0 has to be importable (PYTHONPATH). The two take turns,
so that the load of the machine affects both alike. No text is used twice, in one run or in two: the
site's embedder keeps the vectors of texts that it has seen.
"""

import argparse
import logging
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.scratch import connect

AT_ONCE = 1000
"""Contents of one call while the memories are filled."""


def sentences(count: int, dice: random.Random) -> list[str]:
    from bench.memory import random_sentence

    return [f"{random_sentence(dice)} {dice.random():.9f}" for _ in range(count)]


def client_of(embed: Callable[[Sequence[str]], Any], base: type) -> Any:
    """Return a client of HAEMA's protocol that answers with `embed`."""

    def embed_document(_self: Any, given: Any, output_dimensionality: int) -> Any:  # noqa: ARG001
        return np.asarray(embed(list(given)), dtype=np.float32)

    return type(
        "Client", (base,), {"embed_query": embed_document, "embed_document": embed_document}
    )()


def silent_model(base: type) -> Any:
    def generate_structured(*_given: Any, **_named: Any) -> Any:
        raise ValueError("no model")

    return type("Silent", (base,), {"generate_structured": generate_structured})()


def haema_memory(folder: str, embedder: Any) -> Any:
    import haema

    client = client_of(embedder.embed_document, haema.EmbeddingClient)
    make: Callable[..., Any] = haema.Memory
    return make(
        path=folder,
        output_dimensionality=embedder.dims,
        embedding_client=client,
        llm_client=silent_model(haema.LLMClient),
    )


def own_memory(folder: str, embedder: Any | None) -> Any:
    """Return our memory with a client of the caller's, or with the site's embedder."""
    from memories.haema import EmbeddingClient, Memory

    if embedder is None:
        return Memory(folder)
    client = client_of(embedder.embed_document, EmbeddingClient)
    return Memory(folder, output_dimensionality=embedder.dims, embedding_client=client)


def milliseconds(memory: Any, texts: list[str]) -> float:
    begun = time.perf_counter()
    memory.add(texts)
    return 1000 * (time.perf_counter() - begun)


def compare(name: str, ours: Any, theirs: Any, *, rows: int, adds: int) -> None:
    dice = random.Random()
    for start in range(0, rows, AT_ONCE):
        for memory in (ours, theirs):
            memory.add(sentences(min(AT_ONCE, rows - start), dice))
    spent: list[list[float]] = []
    for _ in range(adds + 2):
        spent.append([milliseconds(each, sentences(10, dice)) for each in (ours, theirs)])
    own, peer = (statistics.median(each) for each in zip(*spent[2:], strict=True))
    print(f"{name}: ours {own:.0f} ms, HAEMA {peer:.0f} ms, ratio {own / peer:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--adds", type=int, default=15)
    parser.add_argument("--way", choices=("client", "site"), action="append")
    options = parser.parse_args()
    connect("memory37_add_bench")
    for name in ("haema", "memories"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from retrieval.embedders import HashingEmbedder, get_embedder

    os.environ.setdefault("EMBEDDER", "local")
    ways = {"client": HashingEmbedder(), "site": get_embedder("memory")}
    for way in options.way or ways:
        with TemporaryDirectory() as folder, TemporaryDirectory() as other:
            ours = own_memory(folder, ways[way] if way == "client" else None)
            theirs = haema_memory(other, ways[way])
            compare(way, ours, theirs, rows=options.rows, adds=options.adds)


if __name__ == "__main__":
    main()
