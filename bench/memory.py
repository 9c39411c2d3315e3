"""Quality and latency of agent memory: `python -m bench.memory [--data FOLDER] [--rows 100000]`.

With `--data`, a folder that holds a dialogue set (`locomo.corpus.jsonl.gz` and its queries, which
cannot be shipped): retrieval of turns by vector, by words, fused, and with neighboring turns. With
`--rows`, the latency of a search over so many memories of one namespace beside its bare SQL
statement, and of an `add` of ten without embedding.
"""

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.scratch import connect

SEARCHES, ADDS, WARM_UP, LIMIT = 60, 30, 5, 10
MINILM = 384
"""The first columns of the default embedder's vectors: MiniLM alone, once brought to length 1."""
NEIGHBOURS = 0.25


class MiniLM:
    """An embedding client, as a script passes one to the memory."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        return self._sliced(memory_embedder().embed_query(list(texts)), output_dimensionality)

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        return self._sliced(memory_embedder().embed_document(list(texts)), output_dimensionality)

    def _sliced(self, vectors: Any, dims: int) -> Any:
        part = np.asarray(vectors)[:, :dims]
        return part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9)


def memory_embedder() -> Any:
    from retrieval.embedders import get_embedder

    return get_embedder("memory")


# --- quality


def measure_dialogue(folder: Path) -> None:
    """Print nDCG@10 and recall@10 of each search mode, without questions that have no answer."""
    from bench.datasets import load_datasets
    from memories.vectors import ClientSource, SiteSource

    (dataset,) = load_datasets(folder, {"locomo"})
    sources: dict[str, Any] = {
        memory_embedder().name: SiteSource(),
        "MiniLM as a client": ClientSource(MiniLM(), MINILM),
    }
    for name, source in sources.items():
        print(f"\n{name}: {len(dataset.documents)} turns, {len(dataset.questions)} questions")
        namespaces = {scope: fill_namespace(dataset, scope, source) for scope in dataset.scopes}
        for way, options in SEARCH_OPTIONS.items():
            print(f"  {way:28} {measure_retrieval(dataset, namespaces, source, options)}")


SEARCH_OPTIONS: dict[str, dict[str, Any]] = {
    "vector": {"mode": "vector"},
    "words": {"mode": "keyword"},
    "fused": {"mode": "hybrid"},
    "fused, neighbouring turns": {"mode": "hybrid", "neighbours": NEIGHBOURS},
}


def fill_namespace(dataset: Any, scope: str, source: Any) -> Any:
    """Fill one namespace per conversation: a memory per turn, with speaker and date as context."""
    from memories.ingest.add import indexed_texts
    from memories.ledger.commit import commit
    from memories.ledger.plan import NewMemory, Particulars, Plan
    from memories.ledger.word_counts import recount_words
    from memories.models import Namespace
    from memories.states import Maker
    from memories.vectors import ClientSource

    name = f"{type(source).__name__}-{scope}"
    world = bench_world()
    Namespace.objects.filter(world=world, name=name).delete()
    dims = source.dims if isinstance(source, ClientSource) else None
    namespace = Namespace.objects.create(world=world, name=name, dims=dims)
    turns = sorted(
        (turn for turn in dataset.documents if turn.scope == scope),
        key=lambda turn: turn.meta.get("seq", 0),
    )
    memories = [
        NewMemory(
            turn.text,
            Maker.RULES,
            Particulars(context=turn.context, metadata={"turn": turn.id}),
            timestamp_ms=n,
        )
        for n, turn in enumerate(turns)
    ]
    indexed = indexed_texts([new.text for new in memories], [new.about for new in memories])
    commit(namespace, Plan(memories=memories, vectors=source.of_documents(indexed)))
    recount_words(namespace)
    return namespace


def measure_retrieval(
    dataset: Any, namespaces: dict[str, Any], source: Any, options: dict[str, Any]
) -> str:
    from bench.metrics import mean_measures, measures_of
    from memories.models import MemoryItem
    from memories.search import recall

    turns = dict(MemoryItem.objects.values_list("pk", "metadata__turn"))
    rows = []
    for question in dataset.questions:
        found = recall.search(
            namespaces[question.scope],
            question.text,
            limit=LIMIT,
            vectors=source,
            sources=False,
            **options,
        )
        rows.append(measures_of([turns[memory.id] for memory in found.memories], question.relevant))
    means = mean_measures(rows)
    return f"nDCG@10 {means['nDCG@10']:.3f}  recall@10 {means['recall@10']:.3f}"


# --- speed


def measure_speed(rows: int) -> None:
    """Measure search beside its bare statement, in turns, and `add` without the time of the
    embedder."""
    namespace = large_namespace(rows)
    questions = [random_sentence(random.Random(1000 + n)) for n in range(SEARCHES)]
    memory_embedder().embed_query(questions)
    ways: dict[str, Callable[[str], Any]] = {
        "bare SQL": bare_sql_function(namespace),
        "search": search_function(namespace),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for question in questions[:5] + questions:
        for name, ask in ways.items():
            started = time.perf_counter()
            ask(question)
            times[name].append(1000 * (time.perf_counter() - started))
    medians = {name: statistics.median(values[5:]) for name, values in times.items()}
    print(
        f"\nsearch over {rows} memories: "
        + ", ".join(f"{name} p50 {value:.1f} ms" for name, value in medians.items())
    )
    print(f"ratio of medians {medians['search'] / medians['bare SQL']:.2f}")
    measure_adds(namespace)


def search_function(namespace: Any) -> Callable[[str], Any]:
    from memories.search import recall

    return lambda question: recall.search(namespace, question, limit=LIMIT)


def bare_sql_function(namespace: Any) -> Callable[[str], Any]:
    """Return a function that sends the same statement with the same values through a cursor."""
    from django.db import connection

    captured: dict[str, tuple[str, Any]] = {}

    class Capturing:
        def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
            if "lexical AS" in str(sql):
                captured["last"] = (sql, params)
            return execute(sql, params, many, context)

    def ask(question: str) -> Any:
        if question not in captured:
            with connection.execute_wrapper(Capturing()):
                search_function(namespace)(question)
            captured[question] = captured["last"]
            return None
        with connection.cursor() as cursor:
            cursor.execute(*captured[question])
            return cursor.fetchall()

    return ask


def measure_adds(namespace: Any) -> None:
    from memories.ingest import add
    from memories.vectors import SiteSource

    dice = random.Random(7)
    spent: list[float] = []
    for _ in range(WARM_UP + ADDS):
        texts = [f"{random_sentence(dice)} {dice.random():.9f}" for _ in range(10)]
        memory_embedder().embed_document(texts)  # so that only what is beyond embedding is left
        started = time.perf_counter()
        add.add(namespace, texts, models=add.Models(SiteSource()))
        spent.append(1000 * (time.perf_counter() - started))
    first, warm = spent[0], spent[WARM_UP:]
    print(
        f"add of 10 without a model, without embedding: p50 {statistics.median(warm):.1f} ms, "
        f"min {min(warm):.1f} ms (the very first: {first:.1f} ms)"
    )


def large_namespace(rows: int) -> Any:
    """Return a namespace with so many memories and a vector index; fill it unless it is filled."""
    from django.db import connection

    from memories.ledger.word_counts import recount_words
    from memories.models import MemoryItem, Namespace
    from retrieval.indexing import passage_indexes
    from retrieval.search import clear_row_estimates

    embedder, name = memory_embedder(), f"large-{rows}"
    namespace, _new = Namespace.objects.get_or_create(world=bench_world(), name=name)
    if namespace.memories.count() < rows:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE memories_memoryitem CASCADE")
        dice = random.Random(3)
        for start in range(0, rows, 5000):
            texts = [random_sentence(dice) for _ in range(min(5000, rows - start))]
            vectors = embedder.inner._embed(texts, op="document")
            items = [
                MemoryItem(
                    namespace=namespace,
                    text=text,
                    timestamp_ms=start + n,
                    embedding=vector,
                    embedded_rev=1,
                    embedding_model=embedder.name,
                )
                for n, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            ]
            MemoryItem.objects.bulk_create(items, batch_size=1000)
    passage_indexes.create_vector_index(MemoryItem, embedder=embedder.name, dims=embedder.dims)
    recount_words(namespace)
    clear_row_estimates()
    return Namespace.objects.get(pk=namespace.pk)


WORDS = [
    f"{first}{second}{third}"
    for first in "bdfgklmnprstv"
    for second in ("a", "e", "i", "o", "u")
    for third in ("ran", "lor", "vit", "mes", "kan", "dol", "fer", "zun")
]


def random_sentence(dice: random.Random) -> str:
    """Return random words, some frequent and most rare, as in natural text."""
    return " ".join(
        WORDS[min(int(dice.paretovariate(0.6)) - 1, len(WORDS) - 1)]
        for _ in range(dice.randint(10, 30))
    )


def bench_world() -> Any:
    from worlds.models import World

    return World.objects.get_or_create(slug="bench", defaults={"name": "Bench"})[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    if options.rows:
        os.environ["EMBEDDER"] = "hashing"
    connect("memory37_memory_speed" if options.rows else "memory37_memory_bench")
    if options.data:
        measure_dialogue(options.data)
    if options.rows:
        measure_speed(options.rows)


if __name__ == "__main__":
    main()
