"""Recall of the vector index by size: `python -m bench.vector_recall [--sizes 100000,300000]`.

The vectors are those of the generated worlds (bench/scaled_world.py), without texts, in a table of
their own: to fill a world of that size takes ten times as long. Prints how near the vectors are to
each other beside real ones, the time of building, and for each `ef_search` the share of the exact
ten nearest that are returned, with the time and the CPU of a query.
"""

import argparse
import time
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.cpu_time import cpu_seconds
from bench.results import bench_folder, save_json
from bench.scaled_database import generated_world
from bench.scratch import connect

if TYPE_CHECKING:
    from retrieval.embedders import Vectors

QUESTIONS, K = 200, 10
EF_SEARCH = (40, 100, 200, 400, 800)
NEAREST = 20
"""Neighbours by which the intrinsic dimension is estimated."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100000")
    parser.add_argument("--m", type=int, default=16)
    parser.add_argument("--ef-construction", type=int, default=64)
    options = parser.parse_args()
    connect("memory37_vectors", migrate=False)
    real = np.random.default_rng(5).permutation(generated_world().real_vectors)
    print(f"real vectors: {density(real[:QUESTIONS], real[QUESTIONS:])}")
    figures = {}
    sizes = list(map(int, options.sizes.split(",")))
    questions = question_vectors(max(sizes))
    execute("CREATE EXTENSION IF NOT EXISTS vector")
    for size in sizes:
        seconds = fill_table(size, m=options.m, ef_construction=options.ef_construction)
        print(f"\n{size} vectors: {seconds}", flush=True)
        exact, about = nearest(questions, size)
        print(f"  {about}", flush=True)
        figures[size] = {str(ef): measure(questions, exact, ef) for ef in EF_SEARCH}
    save_json(bench_folder() / "vector_recall.json", figures)


def question_vectors(size: int) -> "Vectors":
    from bench.passage_counts import PART

    world, random = generated_world(), np.random.default_rng(4)
    step = max(size // PART // 10, 1)
    answers = [part[random.integers(PART)] for part in parts(size, step) for _n in range(20)]
    return np.stack([world.question_vector(random, answer) for answer in answers[:QUESTIONS]])


def parts(size: int, step: int = 1, first: int = 0) -> "Iterator[Vectors]":
    from bench.passage_counts import PART

    for number in range(first // PART, size // PART, step):
        yield part_vectors(number).astype(np.float32)


@cache
def part_vectors(number: int) -> Any:
    from bench.passage_counts import PART

    return generated_world().vectors(np.random.default_rng([73, number]), PART).astype(np.float16)


def fill_table(size: int, **options: int) -> dict[str, float]:
    """Write the vectors up to `size` and build the index, unless both are there; return the seconds
    of each."""
    index = "_".join(map(str, ("vectors", size, *options.values())))
    if execute("SELECT to_regclass(%s)", index).fetchone()[0]:
        return {}
    execute("CREATE TABLE IF NOT EXISTS vectors (id integer PRIMARY KEY, embedding halfvec(1280))")
    for (name,) in execute("SELECT indexname FROM pg_indexes WHERE indexname ~ '^vectors_[0-9]'"):
        execute(f"DROP INDEX {name}")
    started = time.perf_counter()
    write_vectors(size)
    written = time.perf_counter()
    execute("SET maintenance_work_mem = '2GB'")
    execute(
        f"CREATE INDEX {index} ON vectors USING hnsw (embedding halfvec_cosine_ops) WITH "
        f"({', '.join(f'{name} = {value}' for name, value in options.items())})"
    )
    return {"write": written - started, "index": time.perf_counter() - written}


def write_vectors(size: int) -> None:
    from django.db import connection
    from pgvector import HalfVector

    execute("DELETE FROM vectors WHERE id >= %s", size)
    (number,) = execute("SELECT count(*) FROM vectors").fetchone()
    for part in parts(size, first=number):
        with connection.cursor() as cursor, cursor.copy("COPY vectors FROM STDIN") as copy:
            for vector in part:
                copy.write_row((number, HalfVector(vector)))
                number += 1


def execute(statement: str, *values: Any) -> Any:
    from django.db import connection

    cursor = connection.cursor()
    cursor.execute(statement, values or None)
    return cursor


def nearest(questions: "Vectors", size: int) -> tuple[list[set[int]], str]:
    """Compare all; return the exact ten nearest of each question, and how near passages are."""
    from bench.passage_counts import PART

    best: list[list[tuple[float, int]]] = [[] for _question in questions]
    cosines = []
    for number, part in enumerate(parts(size)):
        for place, row in enumerate(questions @ part.T):
            top = np.argpartition(-row, K)[:K]
            both = [*best[place], *((row[at], number * PART + int(at)) for at in top)]
            best[place] = sorted(both, reverse=True)[:K]
        if number == 0:
            passages = part[:QUESTIONS]
        cosines.append(np.sort(passages @ part.T, axis=1)[:, -NEAREST - 1 :])
    near = np.sort(np.concatenate(cosines, axis=1), axis=1)[:, -NEAREST - 1 : -1]  # not itself
    return [{id_ for _cosine, id_ in each} for each in best], describe(near[:, ::-1])


def density(some: "Vectors", others: "Vectors") -> str:
    return describe(-np.sort(-(some @ others.T), axis=1)[:, :NEAREST])


def describe(cosines: "Vectors") -> str:
    """Describe the cosines of vectors and their nearest ones, best first: the median of the nearest
    one, and the intrinsic dimension (Levina and Bickel: by how the distance grows with the rank).
    """
    distances = np.sqrt(np.maximum(2 - 2 * cosines, 1e-6))
    growth = np.log(distances[:, -1:] / distances[:, :-1]).mean(axis=1)
    return (
        f"cosine of the nearest {np.median(cosines[:, 0]):.3f}, "
        f"intrinsic dimension {np.median(1 / growth):.1f}"
    )


def measure(questions: "Vectors", exact: list[set[int]], ef_search: int) -> dict[str, float]:
    from pgvector import HalfVector

    execute(f"SET hnsw.ef_search = {ef_search}")
    execute("SET hnsw.iterative_scan = strict_order")
    statement = f"SELECT id FROM vectors ORDER BY embedding <=> %s::halfvec LIMIT {K}"
    (pid,) = execute("SELECT pg_backend_pid()").fetchone()
    values = [HalfVector(vector) for vector in questions]
    for value in values:  # reads what is not in memory yet
        execute(statement, value)
    shares, times, cpu = [], [], cpu_seconds([pid])
    for value, ids in zip(values, exact, strict=True):
        started = time.perf_counter()
        found = {id_ for (id_,) in execute(statement, value).fetchall()}
        times.append(1000 * (time.perf_counter() - started))
        shares.append(len(found & ids) / K)
    figures = {
        "recall@10": float(np.mean(shares)),
        "p50": float(np.median(times)),
        "cpu": 1000 * (cpu_seconds([pid]) - cpu) / len(values),
    }
    print(
        f"  ef_search {ef_search:4}: { ({k: round(v, 3) for k, v in figures.items()}) }", flush=True
    )
    return figures


if __name__ == "__main__":
    main()
