"""Other projects' stores beside ours: `python -m bench.peer_packages [FOLDER] [--sets locomo]`.

Chroma, LlamaIndex, LangChain, Haystack, mem0 and bm25s come from PyPI into an environment of the
benches (`requirements-bench.txt`), and get the passages, vectors and questions that our search has.
Quality: the questions about the rules, and evaluation sets of FOLDER. Speed: p50 at `--passages`
generated ones. Embedding is not measured: everybody is given the vector of the question.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.datasets import Question, load_datasets, sample_questions
from bench.metrics import measures_of
from bench.results import (
    QuestionResult,
    bench_folder,
    difference_table,
    quality_table,
    time_table,
    write_results,
)
from bench.scratch import connect

if TYPE_CHECKING:
    from bench.peers import Tenant

REQUIREMENTS = Path(__file__).parent.parent / "requirements-bench.txt"
SETS = ("locomo", "xquad_ru")
OURS = "Memory37"
DEPTH = 20
"""Passages asked for: an entry of the rules may have several."""
READY = "ready\n"
"""What the process of the stores prints when it waits for a question."""


@dataclass(frozen=True)
class Task:
    """Questions to one tenant, and the key of each passage that answers are given by."""

    dataset: str
    tenant: "Tenant"
    keys: dict[Any, str]
    questions: list[Question]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="Folders of evaluation sets.")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--sample", type=int, default=0, help="Questions of each set, 0 for all.")
    parser.add_argument("--passages", type=int, default=100_000, help="0: no speed.")
    parser.add_argument("--no-quality", action="store_true", help="Speed alone.")
    parser.add_argument("--stores", nargs="*", default=[], help="Only these.")
    options = parser.parse_args()
    if options.passages:
        # In a process of its own, which has another embedder.
        command = ["bench.peer_speed", str(options.passages), *options.stores]
        subprocess.run([sys.executable, "-m", *command], check=True)
    if options.no_quality:
        return
    connect()
    results = [
        result for task in tasks_of(options) for result in measure_task(task, options.stores)
    ]
    path = bench_folder() / "peers.jsonl"
    write_results(path, results)
    rankers = list(dict.fromkeys(result.ranker for result in results))
    for measure in ("nDCG@10", "recall@10"):
        print(f"\n{quality_table(results, rankers, measure=measure)}")
    print(f"\n{difference_table(results, OURS, [name for name in rankers if name != OURS])}")
    times = defaultdict(list)
    for result in results:
        times[result.ranker].append(result.milliseconds)
    print(f"\n{time_table(times)}\n\n{path}")


def tasks_of(options: argparse.Namespace) -> Iterator[Task]:
    """Load and embed the rules and the sets as `bench.quality` does; yield what is asked."""
    from bench.corpora import model_for, preset_for, shelve, tenant
    from bench.own_questions import FOLDER, load_rules_and_demo, question_from, rule_tenant
    from bench.peers import Tenant
    from worlds.models import World

    load_rules_and_demo()
    lines = (FOLDER / "srd_en.queries.jsonl").read_text().splitlines()
    questions = [question_from(json.loads(line)) for line in lines]
    keys, rules = rule_tenant(World.objects.get(slug=questions[0].meta["world"]))
    step = -(-len(questions) // options.sample) if options.sample else 1
    yield Task("SRD, English", rules, keys, questions[::step])
    for folder in options.folders:
        for dataset in load_datasets(folder, set(options.sets)):
            dataset = sample_questions(dataset, options.sample)
            keys = shelve(dataset, print)
            for scope in dataset.scopes:
                name = tenant(dataset, scope)
                rows = model_for(dataset).objects.filter(tenant=name)
                asked = [each for each in dataset.questions if each.scope == scope]
                if asked:
                    there = Tenant(rows, [name], preset_for(dataset))
                    yield Task(dataset.name, there, keys, asked)


def measure_task(task: Task, stores: list[str]) -> Iterator[QuestionResult]:
    from bench.rankers import ways
    from retrieval.embedders import get_embedder

    vectors = get_embedder(task.tenant.domain).embed_query([each.text for each in task.questions])
    rows = list(task.tenant.rows.exclude(embedding=None).only("text", "context", "embedding"))
    folder = bench_folder() / "peers"
    export(
        folder,
        ids=[str(row.pk) for row in rows],
        texts=[row.indexed_text for row in rows],
        vectors=np.array([row.embedding for row in rows], dtype=np.float16),
        questions=[(each.id, each.text) for each in task.questions],
        question_vectors=vectors,
    )
    ask = ways(task.tenant, limit=DEPTH)["fused, score"]
    ask(task.questions[0])
    with running_stores(folder, stores, depth=DEPTH) as ask_stores:
        for place, question in enumerate(task.questions):
            started = time.perf_counter()
            ids = ask(question)
            milliseconds = 1000 * (time.perf_counter() - started)
            ask_stores(place)
            yield scored(task, OURS, question, [task.keys[id_] for id_ in ids], milliseconds)
    questions = {question.id: question for question in task.questions}
    by_text = {str(id_): key for id_, key in task.keys.items()}
    for line in read_rankings(folder):
        ranked = [by_text[id_] for id_ in line["ids"]]
        question = questions[line["question"]]
        yield scored(task, line["store"], question, ranked, line["milliseconds"])


def scored(
    task: Task, ranker: str, question: Question, ranked: list[str], milliseconds: float
) -> QuestionResult:
    measures = measures_of(list(dict.fromkeys(ranked)), question.relevant)
    language, half = question.language, question.half
    return QuestionResult(task.dataset, ranker, question.id, measures, language, half, milliseconds)


# --- the other environment


def export(
    folder: Path,
    *,
    ids: list[str],
    texts: list[str],
    vectors: Any,
    questions: list[tuple[str, str]],
    question_vectors: Any,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("texts", zip(ids, texts, strict=True)), ("questions", questions)):
        lines = (json.dumps({"id": id_, "text": text}) for id_, text in rows)
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "question_vectors.npy", question_vectors)


@contextmanager
def running_stores(
    folder: Path, stores: list[str], *, depth: int
) -> Iterator[Callable[[int], None]]:
    """Fill the stores with what `export` wrote. Yield a function that asks each of them a question,
    given its place; afterwards `read_rankings` returns the answers."""
    script = Path(__file__).parent / "peer_stores.py"
    variables = {**os.environ, "PEERS_DATABASE": peers_database(), "PEERS_K": str(depth)}
    variables.pop("PYTHONPATH", None)
    command = list(map(str, (environment_python(), script, folder, *stores)))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout

        def wait() -> None:
            assert process.stdout
            for line in process.stdout:
                if line == READY:
                    return
                print(line, end="", flush=True)
            raise RuntimeError("The stores ended. What they wrote is above.")

        def ask(place: int) -> None:
            assert process.stdin
            process.stdin.write(f"{place}\n")
            process.stdin.flush()
            wait()

        wait()
        yield ask
        process.stdin.close()


def read_rankings(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / "rankings.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def environment_python() -> Path:
    """Return the Python of the benches' own environment, which is made at the first use."""
    folder = bench_folder() / "environment"
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    wanted = REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Installing the packages of {REQUIREMENTS.name} …", flush=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        stamp.write_text(wanted)
    return python


def peers_database() -> str:
    """Return the address of a database of the same server, for the stores alone."""
    from django.db import connection
    from psycopg.conninfo import conninfo_to_dict

    connection.ensure_connection()
    name = "memory37_peers"
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if not cursor.fetchone():
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    parts = conninfo_to_dict(connection.connection.info.dsn)
    wanted = {key: parts[key] for key in ("host", "port", "user") if parts.get(key)}
    return " ".join(f"{key}={value}" for key, value in {**wanted, "dbname": name}.items())


if __name__ == "__main__":
    main()
