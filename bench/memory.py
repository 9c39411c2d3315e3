"""Quality and latency of agent memory:
`python -m bench.memory [--data FOLDER [--set NAME] [--scope NAME]] [--own] [--rows 100000]`.

With `--data`, a folder that holds sets of conversations (which cannot be shipped): retrieval of
turns by vector, by words, as shipped, and re-ranked. With `--own`, memories and questions of our
own that are no conversation. With `--rows`, the latency of a search over so many memories of one
namespace beside its bare SQL statement, and of an `add` of ten without embedding.
"""

import argparse
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from bench.scratch import connect

SEARCHES, ADDS, WARM_UP, LIMIT = 60, 30, 5, 10
RESAMPLES = 2000
DIALOGUES = ("locomo", "realtalk", "beam")
DATE_FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%B-%d-%Y")
"""Of the dates in these sets."""


def memory_embedder() -> Any:
    from retrieval.embedders import get_embedder

    return get_embedder("memory")


# --- quality


def measure_dialogues(options: argparse.Namespace) -> None:
    """Print nDCG@10 and recall@10 of each set of conversations, added turn by turn as a user adds
    them, and asked with and without the re-ranker. Questions without an answer are left out."""
    from bench.datasets import load_datasets

    for dataset in load_datasets(options.data, set(options.set or DIALOGUES)):
        chosen = [scope for scope in dataset.scopes if scope in (options.scope or dataset.scopes)]
        questions = [
            question
            for question in dataset.questions
            if question.scope in chosen and question.meta.get("category") != "adversarial"
        ][:: options.every]
        print(f"\n{dataset.name}: {len(questions)} questions, conversations {', '.join(chosen)}")
        memories = {scope: fill_namespace(dataset, scope) for scope in chosen}
        for way in options.way or SEARCH_OPTIONS:
            rows = [
                measures_of_question(question, memories[question.scope], SEARCH_OPTIONS[way])
                for question in questions
            ]
            print(f"  {way:8} {with_interval(rows)}", flush=True)


SEARCH_OPTIONS: dict[str, dict[str, Any]] = {
    "vector": {"mode": "vector"},
    "words": {"mode": "keyword"},
    "shipped": {},
    "fast": {"rerank": "fast"},
    "careful": {"rerank": "careful"},
}


@dataclass(frozen=True)
class FilledNamespace:
    """`turns`: by the id of a memory, the turns that say it (the same words are one memory)."""

    namespace: Any
    turns: dict[Any, list[str]]


def fill_namespace(dataset: Any, scope: str) -> FilledNamespace:
    """Fill one namespace with a conversation: each of its sessions is one call of `add_batch`."""
    from memories.ingest.add import add_batch
    from memories.ledger.plan import Particulars
    from memories.ledger.word_counts import recount_words
    from memories.vectors import SiteSource

    namespace = empty_namespace(f"{dataset.name} {scope}")
    turns = [turn for turn in dataset.documents if turn.scope == scope]
    memories: dict[Any, list[str]] = defaultdict(list)
    for session, group in groupby(turns, key=session_of):
        session_turns = list(group)
        abouts = [
            Particulars(
                speaker=turn.meta.get("speaker", ""),
                context=turn.context,
                event_at=read_date(turn.meta.get("date", "")),
                source=session,
            )
            for turn in session_turns
        ]
        texts = [turn.text for turn in session_turns]
        outcomes = add_batch(namespace, texts, abouts, vectors=SiteSource())
        for turn, outcome in zip(session_turns, outcomes, strict=True):
            memories[outcome.memory].append(turn.id)
    recount_words(namespace)
    return FilledNamespace(namespace, memories)


def empty_namespace(name: str, language: str = "en") -> Any:
    from django.db import connection, transaction

    from memories.models import Namespace

    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('memory37.deletion', 'for good', true)")
        Namespace.objects.filter(world=bench_world(), name=name).delete()
        return Namespace.objects.create(world=bench_world(), name=name, language=language)


def session_of(turn: Any) -> str:
    """Return the session: as the set says, else the day."""
    return str(turn.meta.get("session") or turn.meta.get("date", ""))


def read_date(text: str) -> datetime | None:
    for form in DATE_FORMS:
        with suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC)
    return None


def measures_of_question(
    question: Any, filled: FilledNamespace, options: dict[str, Any]
) -> dict[str, float]:
    from bench.metrics import measures_of
    from memories.search import recall

    found = recall.search(
        filled.namespace,
        question.text,
        limit=LIMIT,
        sources=False,
        count_recalls=False,
        **options,
    )
    turns = [turn for memory in found.memories for turn in filled.turns.get(memory.id, [""])]
    return measures_of(turns[:LIMIT], question.relevant)


def with_interval(rows: Sequence[dict[str, float]]) -> str:
    """Return the means with their 95 % intervals, by the bootstrap over questions."""
    dice = np.random.default_rng(7)
    shown = []
    for name in ("nDCG@10", "recall@10"):
        values = np.array([row[name] for row in rows])
        means = dice.choice(values, (RESAMPLES, len(values))).mean(1)
        low, high = np.percentile(means, (2.5, 97.5))
        shown.append(f"{name} {values.mean():.3f} ({low:.3f}-{high:.3f})")
    return "  ".join(shown)


# --- memories that are no conversation


def measure_own_sets() -> None:
    """Print how often the answer comes first in the sets of `bench/data`, per language."""
    from bench.datasets import read_rows
    from bench.labelled_sets import DATA

    memories = list(read_rows(DATA / "own_words_memories.jsonl"))
    questions = list(read_rows(DATA / "own_words_questions.jsonl"))
    print_answers_first("own words", memories, questions)
    questions = list(read_rows(DATA / "short_questions.jsonl"))
    memories = [
        {**row, "language": language, "scope": language}
        for language in ("ru", "ko")
        for row in read_rows(DATA / f"short_memories_{language}.jsonl")
    ]
    print_answers_first("short memories", memories, questions)


def print_answers_first(
    name: str, memories: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    from memories.ingest.add import add_batch
    from memories.ledger.plan import Particulars
    from memories.ledger.word_counts import recount_words
    from memories.search import recall
    from memories.vectors import SiteSource

    namespaces, ids, scopes = {}, {}, {}
    for scope in dict.fromkeys(row["scope"] for row in memories):
        rows = [row for row in memories if row["scope"] == scope]
        namespace = empty_namespace(f"{name} {scope}", rows[0]["language"])
        texts = [row["text"] for row in rows]
        outcomes = add_batch(namespace, texts, [Particulars()] * len(rows), vectors=SiteSource())
        recount_words(namespace)
        namespaces[scope] = namespace
        for row, outcome in zip(rows, outcomes, strict=True):
            ids[row["id"]], scopes[row["id"]] = outcome.memory, scope
    for language in dict.fromkeys(row["language"] for row in questions):
        asked = [row for row in questions if row["language"] == language]
        shown = []
        for way, options in SEARCH_OPTIONS.items():
            firsts = []
            for row in asked:
                namespace = namespaces[scopes[row["relevant_ids"][0]]]
                found = recall.search(namespace, row["text"], limit=LIMIT, sources=False, **options)
                right = {ids[key] for key in row["relevant_ids"]}
                firsts.append(bool(found.memories) and found.memories[0].id in right)
            shown.append(f"{way} {np.mean(firsts):.3f}")
        print(f"{name}, {language} ({len(asked)}), answer first: {', '.join(shown)}", flush=True)


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
    from memories.ingest.model_add import Models
    from memories.vectors import SiteSource

    dice = random.Random(7)
    spent: list[float] = []
    for _ in range(WARM_UP + ADDS):
        texts = [f"{random_sentence(dice)} {dice.random():.9f}" for _ in range(10)]
        memory_embedder().embed_document(texts)  # so that only what is beyond embedding is left
        started = time.perf_counter()
        add.add(namespace, texts, models=Models(SiteSource()))
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
    parser.add_argument("--set", action="append", help="Only these sets.")
    parser.add_argument("--scope", action="append", help="Only these conversations.")
    parser.add_argument("--way", action="append", choices=SEARCH_OPTIONS, help="Only these.")
    parser.add_argument("--every", type=int, default=1, help="Only every so many-th question.")
    parser.add_argument("--own", action="store_true", help="Memories that are no conversation.")
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    if options.rows:
        os.environ["EMBEDDER"] = "hashing"
    connect("memory37_memory_speed" if options.rows else "memory37_memory_bench")
    if options.data:
        measure_dialogues(options)
    if options.own:
        measure_own_sets()
    if options.rows:
        measure_speed(options.rows)


if __name__ == "__main__":
    main()
