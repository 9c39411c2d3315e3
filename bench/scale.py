"""How far one machine goes: `python -m bench.scale [--passages 1000000] [--worlds 10000]`.

A world of so many passages is generated, written by COPY, indexed and asked: time of each step,
size on disk, recall of the vector leg against an exact search, cost of one more entry, and the
latency of the search by kind of question, alone and while another process imports
(`--import-passages`). `--worlds` cuts the same passages into that many worlds. The database is
kept: a second run only asks.

Give the server memory first (docs/scaling.md): for the embedded one `--tune` does it.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from bench.passage_counts import PART, passage_count
from bench.results import bench_folder, save_json
from bench.scaled_database import fill_database, generated_world, tune_server, write_part
from bench.scratch import connect

if TYPE_CHECKING:
    from bench.scaled_world import ScaledQuestion
    from retrieval.search import CompiledRows
    from worlds.models import World

os.environ["EMBEDDER"] = "bench.scaled_world.ScaledEmbedder"

K = 10
QUESTIONS, ROUNDS = 200, 3
RECALL_QUESTIONS = 100
NEAREST = 200
ONE_WARD = {"ward": 7}
SIZES = """
SELECT relname, pg_table_size(oid) FROM pg_class
WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
  AND pg_table_size(oid) > 50000000
ORDER BY 2 DESC LIMIT 14
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=passage_count, default=100_000)
    parser.add_argument("--worlds", type=int, default=1)
    parser.add_argument("--import-passages", type=passage_count, default=0)
    parser.add_argument("--tune", action="store_true", help="Give the embedded server memory.")
    parser.add_argument("--processes", type=int, default=4, help="How many build the database.")
    parser.add_argument(
        "--no-vector-index", action="store_true", help="Small worlds do not use it."
    )
    parser.add_argument("--write-parts", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write_parts:
        write_further_parts(database_name_of(options.passages, options.worlds), options.write_parts)
        return
    connect(database_name_of(options.passages, options.worlds))
    if options.tune:
        tune_server(options.processes)
    figures = measure(options)
    save_json(bench_folder() / f"scale-{options.passages}-{options.worlds}.json", figures)


def database_name_of(passage_count: int, world_count: int) -> str:
    return f"memory37_scale_{passage_count}_{world_count}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    from bench.scaled_world import ScaledEmbedder

    figures: dict[str, Any] = {"passages": options.passages, "worlds": options.worlds}
    figures["steps"] = fill_database(
        options.passages,
        options.worlds,
        processes=options.processes,
        vector_index=not options.no_vector_index,
    )
    figures["sizes"] = print_sizes()
    questions = list(generated_world().questions(options.passages, QUESTIONS))
    ScaledEmbedder.vectors = {each.text: each.vector for each in questions}
    asked = questions * ROUNDS
    ask_all(questions)  # reads what is not in memory yet
    figures["alone"] = print_times("alone", ask_all(asked))
    figures["write"] = measure_writes()
    if options.worlds == 1:
        figures["filtered"] = print_times("one per cent", ask_all(asked, ONE_WARD))
        figures["recall"] = print_recall(questions, options.passages)
    else:
        figures["new world"] = measure_new_worlds()
    if options.import_passages:
        with importing(options.import_passages, options) as runs:
            asked_meanwhile = itertools.takewhile(lambda _each: runs(), itertools.cycle(questions))
            figures["during"] = print_times("during the import", ask_all(asked_meanwhile))
        figures["after"] = print_times("after the import", ask_all(asked))
    return figures


# --- questions


def ask_all(
    questions: "Iterable[ScaledQuestion]", metadata: dict[str, Any] | None = None
) -> dict[str, list[float]]:
    """Search for each question, in each world in turns; return the milliseconds by its kind."""
    from worlds.models import World

    worlds = itertools.cycle(list(World.objects.exclude(slug="world-0")[:1000]))
    times: dict[str, list[float]] = defaultdict(list)
    for question, world in zip(questions, worlds, strict=False):
        started = time.perf_counter()
        search_world(world, question.text, metadata=metadata)
        times[question.kind].append(1000 * (time.perf_counter() - started))
    return times


def search_world(
    world: "World", query: str, *, metadata: dict[str, Any] | None = None, mode: str | None = None
) -> list[UUID]:
    from retrieval.search import SearchRequest, search

    rows = rows_of(world, metadata)
    request = SearchRequest(query=query, scopes=[world.pk], hidden=True, limit=K, mode=mode)
    return [hit.id for hit in search(rows, request)]


def rows_of(world: "World", metadata: dict[str, Any] | None = None) -> "CompiledRows":
    """The passages that a game master searches, compiled once as the tools keep them."""
    from knowledge.models import LorePassage
    from retrieval.search import get_compiled_rows
    from worlds.audiences import GM

    def build() -> Any:
        rows = LorePassage.objects.filter(world=world).visible_to(GM).known_in(None, GM)
        rows = rows.filter(published=True)
        return rows.filter(metadata__contains=metadata) if metadata else rows

    return get_compiled_rows(("scale", world.pk, str(metadata)), build)


def print_times(label: str, times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    print(f"\n{label:24}{'questions':>10}{'p50':>9}{'p95':>9}{'p99':>9}{'max':>9}  ms")
    everything = {"all": list(itertools.chain.from_iterable(times.values())), **times}
    figures = {}
    for kind, durations in everything.items():
        p50, p95, p99 = np.percentile(durations, [50, 95, 99])
        row = {"p50": p50, "p95": p95, "p99": p99, "max": max(durations)}
        print(f"  {kind:22}{len(durations):10}" + "".join(f"{v:9.1f}" for v in row.values()))
        figures[kind] = {name: round(float(value), 2) for name, value in row.items()}
    return figures


def print_recall(questions: "Sequence[ScaledQuestion]", passage_count: int) -> dict[str, float]:
    """Print the share of the exact ten nearest passages that the vector leg finds, in the whole
    world and within one per cent of it."""
    from worlds.models import World

    world = World.objects.exclude(slug="world-0").get()
    some = questions[: min(RECALL_QUESTIONS, len(questions))]
    figures = {}
    for label, metadata in (("all", None), ("one per cent", ONE_WARD)):
        exact = nearest_ids(some, passage_count, metadata)
        found = [search_world(world, each.text, metadata=metadata, mode="vector") for each in some]
        shares = [
            len(exact_ids & set(ids)) / K for exact_ids, ids in zip(exact, found, strict=True)
        ]
        figures[label] = statistics.mean(shares)
        print(f"  recall@10 of the vector leg, {label}: {figures[label]:.3f}", flush=True)
    return figures


def nearest_ids(
    questions: "Sequence[ScaledQuestion]", passage_count: int, metadata: dict[str, Any] | None
) -> list[set[UUID]]:
    """Compare each question with every vector of the passages, which are generated once more."""
    asked = np.stack([each.vector for each in questions])
    best: list[list[tuple[float, UUID]]] = [[] for _question in questions]
    for number in range(passage_count // PART):
        part = generated_world().part(number)
        step = slice(metadata["ward"], None, 100) if metadata else slice(None)
        cosines, ids = asked @ part.vectors[step].astype(np.float32).T, part.ids[step]
        for place, row in enumerate(cosines):
            top = np.argpartition(-row, K)[:K]
            best[place] = sorted([*best[place], *((row[at], ids[at]) for at in top)], reverse=True)
            del best[place][K:]
    return [{id_ for _cosine, id_ in each} for each in best]


# --- writes


def measure_writes() -> dict[str, float]:
    """Measure what one more entry costs: the write, its vector, and the sweep that counts it."""
    from bench.scaled_world import ScaledEmbedder
    from knowledge.models import LorePassage
    from knowledge.schemas import LoreIn
    from knowledge.upsert import upsert_lore
    from retrieval.indexing import embed_pending
    from retrieval.indexing.upkeep import recount_changed, recount_outdated
    from worlds.models import World

    world = World.objects.exclude(slug="world-0").order_by("pk")[0]
    text = "A barge burned at the ferry of Ferrymark."
    entry = LoreIn(title="A barge burned", body=text, visibility="public", status="published")
    ScaledEmbedder.vectors |= dict.fromkeys(
        [text, f"A barge burned\n{text}"], next(iter(ScaledEmbedder.vectors.values()))
    )
    steps: dict[str, Callable[[], Any]] = {
        "write an entry": lambda: upsert_lore(world, entry),
        "embed it": lambda: embed_pending(LorePassage),
        "sweep: first of a process": lambda: recount_changed(LorePassage),
        "sweep": lambda: recount_changed(LorePassage),
        "daily check": lambda: recount_outdated(LorePassage),
    }
    return measure_steps(steps)


def measure_new_worlds() -> dict[str, float]:
    from worlds.models import World

    return measure_steps(
        {
            "create a world": lambda: World.objects.create(slug=f"new-{time.time_ns()}", name="N"),
        }
    )


def measure_steps(steps: dict[str, Callable[[], Any]]) -> dict[str, float]:
    figures = {}
    for name, function in steps.items():
        started = time.perf_counter()
        function()
        figures[name] = 1000 * (time.perf_counter() - started)
        print(f"  {name}: {figures[name]:.1f} ms", flush=True)
    return figures


@contextmanager
def importing(count: int, options: argparse.Namespace) -> Iterator[Callable[[], bool]]:
    """Run an import in another process; yield a function that tells whether it still runs."""
    first = options.passages // PART + int(time.time()) % 1_000_000  # parts that are new
    parts = f"{first}-{first + count // PART}"
    command = [sys.executable, "-m", "bench.scale", "--write-parts", parts]
    command += ["--passages", str(options.passages), "--worlds", str(options.worlds)]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    try:
        yield lambda: process.poll() is None
    finally:
        process.wait()
        print(f"  {count} passages imported in {time.perf_counter() - started:.0f} s")


def write_further_parts(database: str, parts: str) -> None:
    connect(database, migrate=False)
    from worlds.models import World

    world = World.objects.exclude(slug="world-0").order_by("pk")[0]
    first, end = map(int, parts.split("-"))
    for number in range(first, end):
        write_part(number, [world.pk], batch=64)


def print_sizes() -> dict[str, int]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        sizes = dict(cursor.fetchall())
        cursor.execute("SELECT pg_database_size(current_database())")
        sizes["the database"] = cursor.fetchone()[0]
    for name, size in sizes.items():
        print(f"  {name}: {size / 1e9:.2f} GB")
    return sizes


if __name__ == "__main__":
    main()
