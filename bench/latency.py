"""Latency of a search: `python -m bench.latency [--sizes 10000,100000] [--http]`.

The bare SQL statement and the Python call that sends it answer the same questions in turns; with
`--http` also the statement of `lore_search` (twice the passages, with the columns of their entries)
and the HTTP call that sends it. All are in one run, so that ratios are valid on a busy machine;
bare SQL uses the session settings of the search. Embedding is not measured: the vectors of the
questions are generated with the world.
"""

import argparse
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from bench.scratch import connect

if TYPE_CHECKING:
    from bench.http_server import BenchServer
    from retrieval.embedders import Vectors
    from worlds.models import World

os.environ["EMBEDDER"] = "bench.generated_world.GeneratedEmbedder"

QUESTIONS, ROUNDS, K = 100, 3, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--http", action="store_true", help="Also over HTTP.")
    options = parser.parse_args()
    for size in map(int, options.sizes.split(",")):
        connect(f"memory37_latency_{size}")
        measure_size(size, http=options.http)


def measure_size(size: int, *, http: bool) -> None:
    from bench.generated_world import GeneratedEmbedder

    questions = load_world(size)
    GeneratedEmbedder.vectors = dict(questions)
    functions: dict[str, Callable[[str], Any]] = {
        "sql": bare_sql_function(search_function()),
        "python": search_function(),
    }
    with running_server(questions) if http else nullcontext() as server:
        if server:
            functions |= {"tool's sql": bare_sql_function(tool_function()), "http": server.ask}
        times = measure_interleaved(functions, [text for text, _vector in questions])
    print_times(size, times)
    print_recall(questions)


@contextmanager
def running_server(questions: "list[tuple[str, Vectors]]") -> "Iterator[BenchServer]":
    from bench.http_server import BenchServer

    server = BenchServer(questions, K)
    try:
        yield server
    finally:
        server.stop()


def load_world(size: int) -> "list[tuple[str, Vectors]]":
    """Fill the database of this size, unless it is filled; return the questions."""
    from bench.generated_world import WorldGenerator
    from knowledge.models import LorePassage

    generator = WorldGenerator()
    passages = list(generator.passages(size))
    if LorePassage.objects.count() != size:
        fill_database(passages)
    step = max(size // QUESTIONS, 1)
    return list(generator.questions(passages[::step][:QUESTIONS]))


def fill_database(passages: list[Any]) -> None:
    from django.db import connection

    from bench.generated_world import GeneratedEmbedder, copy_rows
    from knowledge.models import Lore, LorePassage
    from retrieval.indexing import count_words, passage_indexes
    from worlds.models import World

    World.objects.all().delete()
    world = World.objects.create(slug="made", name="Made up")
    passage_indexes.drop_word_indexes(LorePassage, connection)
    passage_indexes.drop_vector_indexes(LorePassage)
    shared: dict[str, Any] = {"world": world, "visibility": "public", "language": "en"}
    lore = [
        Lore(slug=f"entry-{n}", title=f"Entry {n}", body="", status="published", **shared)
        for n in range(len(passages))
    ]
    rows = (
        LorePassage(
            lore=entry,
            text=one.text,
            context=entry.title,
            published=True,
            metadata={"kind": "custom", "ward": one.ward},
            embedding=one.vector,
            embedding_model=GeneratedEmbedder.name,
            embedded_rev=1,
            **shared,
        )
        for entry, one in zip(lore, passages, strict=True)
    )
    steps: dict[str, Callable[[], Any]] = {
        "entries": lambda: copy_rows(Lore, iter(lore)),
        "passages": lambda: copy_rows(LorePassage, rows),
        "word indexes": lambda: passage_indexes.create_word_indexes(LorePassage, connection),
        "vector index": lambda: passage_indexes.create_vector_index(
            LorePassage, embedder=GeneratedEmbedder.name, dims=GeneratedEmbedder.dims
        ),
        "counts": lambda: count_words(LorePassage),
        "vacuum": lambda: connection.cursor().execute("VACUUM ANALYZE"),
    }
    for name, step in steps.items():
        started = time.perf_counter()
        step()
        print(f"  {name}: {time.perf_counter() - started:.1f} s", flush=True)


def world_passages(world: "World") -> Any:
    from knowledge.models import LorePassage
    from worlds.audiences import GM

    return LorePassage.objects.filter(world=world).visible_to(GM).filter(published=True)


def search_function() -> Callable[[str], Any]:
    from retrieval.search import SearchRequest, get_compiled_rows, search
    from worlds.models import World

    world = World.objects.get()

    def ask(text: str) -> Any:  # the rows are kept compiled, as the tools keep them
        rows = get_compiled_rows(("bench", world.pk), lambda: world_passages(world))
        return search(rows, SearchRequest(query=text, scopes=[world.pk], hidden=True, limit=K))

    return ask


def tool_function() -> Callable[[str], Any]:
    from knowledge.schemas import LoreQuestion
    from knowledge.search import find_lore
    from worlds.callers import Caller
    from worlds.models import World

    caller = Caller.gm(World.objects.get())
    return lambda text: find_lore(LoreQuestion(query=text, k=K), caller)


def bare_sql_function(search: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the statement that `way` sends, alone, prepared, with its values, on a connection of
    psycopg itself."""
    import psycopg
    from django.db import connection

    from bench.generated_world import GeneratedEmbedder

    statements = {text: capture_statement(search, text) for text in GeneratedEmbedder.vectors}
    connection.ensure_connection()
    raw = psycopg.connect(connection.connection.info.dsn, autocommit=True, prepare_threshold=0)
    raw.execute("SET hnsw.ef_search = 100")
    raw.execute("SET hnsw.iterative_scan = strict_order")
    raw.execute("SET plan_cache_mode = force_generic_plan")

    def ask(text: str) -> Any:
        statement, values = statements[text]
        return raw.execute(statement, values).fetchall()

    return ask


def capture_statement(search: Callable[[str], Any], text: str) -> tuple[str, dict[str, Any]]:
    """Return the longest statement that `way` sends for `text`, and its values."""
    from django.db import connection

    sent: list[tuple[str, Any]] = []

    def note(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        sent.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(note):
        search(text)
    return max(sent, key=lambda pair: len(pair[0]))


def measure_interleaved(
    functions: dict[str, Callable[[str], Any]], questions: list[str]
) -> dict[str, list[float]]:
    """Ask every question with every function and return milliseconds. Each time another function is
    first, because the first one finds the caches cold. The first round warms up and does not count.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    order = deque(functions.items())
    for turn in range(ROUNDS + 1):
        for text in questions:
            order.rotate()
            for name, function in order:
                started = time.perf_counter()
                function(text)
                if turn:
                    times[name].append(1000 * (time.perf_counter() - started))
    return times


def print_times(size: int, times: dict[str, list[float]]) -> None:
    print(f"\n{size} passages{'p50':>11}{'p95':>9}{'min':>9}{'p50 / sql':>11}{'p50 - sql':>11}")
    for name, durations in times.items():
        if name.endswith("sql"):
            bare = statistics.median(durations)
        p50, p95 = statistics.median(durations), statistics.quantiles(durations, n=20)[-1]
        percentiles = f"{p50:9.2f}{p95:9.2f}{min(durations):9.2f}"
        print(f"  {name:14}{percentiles}{p50 / bare:11.2f}{p50 - bare:11.2f}  ms")


def print_recall(questions: "list[tuple[str, Vectors]]") -> None:
    """Print recall@10 of the vector leg against an exact scan, without a filter and with one that
    keeps one per cent."""
    from retrieval.search import SearchRequest, search
    from worlds.models import World

    world = World.objects.get()
    everything = world_passages(world)
    for label, rows in (
        ("all", everything),
        ("one per cent", everything.filter(metadata__contains={"ward": 7})),
    ):
        recalls, durations = [], []
        for text, vector in questions[:50]:
            started = time.perf_counter()
            hits = {
                hit.id
                for hit in search(
                    rows,
                    SearchRequest(
                        query=text, scopes=[world.pk], hidden=True, mode="vector", limit=K
                    ),
                )
            }
            durations.append(1000 * (time.perf_counter() - started))
            recalls.append(len(hits & exact_ids(rows, vector)) / K)
        p50 = statistics.median(durations)
        print(f"  vector leg, {label}: recall@10 {statistics.mean(recalls):.3f}, p50 {p50:.1f} ms")


def exact_ids(rows: Any, vector: "Vectors") -> set[Any]:
    from pgvector.django import CosineDistance

    return set(rows.order_by(CosineDistance("embedding", vector)).values_list("pk", flat=True)[:K])


if __name__ == "__main__":
    main()
