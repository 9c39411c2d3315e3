"""Agent memory measured: `python -m bench.memory [--data FOLDER] [--rows 100000]`.

With `--data`, a folder that holds a dialogue set (`locomo.corpus.jsonl.gz` and its queries, which cannot be shipped):
how well turns are found, by vector, by words, fused, and with neighbouring turns. With `--rows`, how long a search over
so many memories of one namespace takes beside its bare SQL statement, and what an `add` of ten costs beyond embedding.
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

SEARCHES, ADDS, WARMING, LIMIT = 60, 30, 5, 10
MINILM = 384
"""The first columns of the default embedder's vectors: MiniLM alone, once brought to length 1."""
NEIGHBOURS = 0.25


class MiniLM:
    """A client of the memory, as a script would pass one in."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        return self._sliced(_embedder().embed_query(list(texts)), output_dimensionality)

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Any:
        return self._sliced(_embedder().embed_document(list(texts)), output_dimensionality)

    def _sliced(self, vectors: Any, dims: int) -> Any:
        part = np.asarray(vectors)[:, :dims]
        return part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-9)


def _embedder() -> Any:
    from retrieval.embedders import get_embedder

    return get_embedder("memory")


# --- quality


def dialogue(folder: Path) -> None:
    """Print nDCG@10 and recall@10 of each way, questions that have no answer left out."""
    from bench.datasets import datasets_in
    from memories.vectors import ClientSource, SiteSource

    (dataset,) = datasets_in(folder, {"locomo"})
    sources: dict[str, Any] = {
        _embedder().name: SiteSource(),
        "MiniLM as a client": ClientSource(MiniLM(), MINILM),
    }
    for name, source in sources.items():
        print(f"\n{name}: {len(dataset.documents)} turns, {len(dataset.questions)} questions")
        namespaces = {scope: _filled(dataset, scope, source) for scope in dataset.scopes}
        for way, options in WAYS.items():
            print(f"  {way:28} {_measured(dataset, namespaces, source, options)}")


WAYS: dict[str, dict[str, Any]] = {
    "vector": {"mode": "vector"},
    "words": {"mode": "keyword"},
    "fused": {"mode": "hybrid"},
    "fused, neighbouring turns": {"mode": "hybrid", "neighbours": NEIGHBOURS},
}


def _filled(dataset: Any, scope: str, source: Any) -> Any:
    """One namespace per conversation, a memory per turn, speaker and date as context."""
    from memories.ingest.plans import indexed_texts
    from memories.ledger import word_counts
    from memories.ledger.commit import commit
    from memories.ledger.plan import NewMemory, Particulars, Plan
    from memories.models import Namespace
    from memories.states import Maker
    from memories.vectors import ClientSource

    name = f"{type(source).__name__}-{scope}"
    world = _world()
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
    word_counts.recount(namespace)
    return namespace


def _measured(
    dataset: Any, namespaces: dict[str, Any], source: Any, options: dict[str, Any]
) -> str:
    from bench.scoring import averaged, measured
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
        rows.append(measured([turns[memory.id] for memory in found.memories], question.relevant))
    means = averaged(rows)
    return f"nDCG@10 {means['nDCG@10']:.3f}  recall@10 {means['recall@10']:.3f}"


# --- speed


def speed(rows: int) -> None:
    """Search beside the bare statement, in turn within one run; adds with the time of the embedder taken off."""
    namespace = _large(rows)
    questions = [_sentence(random.Random(1000 + n)) for n in range(SEARCHES)]
    _embedder().embed_query(questions)
    ways: dict[str, Callable[[str], Any]] = {
        "bare SQL": _bare(namespace),
        "search": _search(namespace),
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
    _adds(namespace)


def _search(namespace: Any) -> Callable[[str], Any]:
    from memories.search import recall

    return lambda question: recall.search(namespace, question, limit=LIMIT)


def _bare(namespace: Any) -> Callable[[str], Any]:
    """The same statement with the same values, straight through the cursor."""
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
                _search(namespace)(question)
            captured[question] = captured["last"]
            return None
        with connection.cursor() as cursor:
            cursor.execute(*captured[question])
            return cursor.fetchall()

    return ask


def _adds(namespace: Any) -> None:
    from memories.ingest import add

    dice = random.Random(7)
    spent: list[float] = []
    for _ in range(WARMING + ADDS):
        texts = [f"{_sentence(dice)} {dice.random():.9f}" for _ in range(10)]
        _embedder().embed_document(texts)  # so that only what is beyond embedding is left
        started = time.perf_counter()
        add.add(namespace, texts, models=add.Models(add.SiteSource()))
        spent.append(1000 * (time.perf_counter() - started))
    first, warm = spent[0], spent[WARMING:]
    print(
        f"add of 10 without a model, beyond embedding: p50 {statistics.median(warm):.1f} ms, min {min(warm):.1f} ms "
        f"(the very first: {first:.1f} ms)"
    )


def _large(rows: int) -> Any:
    """One namespace with so many memories, its vectors indexed; made once, in a database of the bench's own."""
    from django.db import connection

    from memories.ledger import word_counts
    from memories.models import MemoryItem, Namespace
    from retrieval.indexing import passage_indexes
    from retrieval.search import clear_row_estimates

    embedder, name = _embedder(), f"large-{rows}"
    namespace, _new = Namespace.objects.get_or_create(world=_world(), name=name)
    if namespace.memories.count() < rows:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE memories_memoryitem CASCADE")
        dice = random.Random(3)
        for start in range(0, rows, 5000):
            texts = [_sentence(dice) for _ in range(min(5000, rows - start))]
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
    word_counts.recount(namespace)
    clear_row_estimates()
    return Namespace.objects.get(pk=namespace.pk)


WORDS = [
    f"{first}{second}{third}"
    for first in "bdfgklmnprstv"
    for second in ("a", "e", "i", "o", "u")
    for third in ("ran", "lor", "vit", "mes", "kan", "dol", "fer", "zun")
]


def _sentence(dice: random.Random) -> str:
    """Some words are frequent and most are rare, as in speech."""
    return " ".join(
        WORDS[min(int(dice.paretovariate(0.6)) - 1, len(WORDS) - 1)]
        for _ in range(dice.randint(10, 30))
    )


def _world() -> Any:
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
        dialogue(options.data)
    if options.rows:
        speed(options.rows)


if __name__ == "__main__":
    main()
