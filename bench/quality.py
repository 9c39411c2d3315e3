"""Retrieval quality: `python -m bench.quality FOLDER… [--questions] [--only SET]`.

Every set is indexed by the product's own pipeline in a scratch database. Our legs and their fusion
are compared with baselines on the same words and vectors.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.datasets import Dataset, Question, load_datasets, sample_questions, with_adjacent_turns
from bench.metrics import MEASURES, mean_measures, measures_of
from bench.results import (
    QuestionResult,
    bench_folder,
    difference_table,
    quality_table,
    write_results,
)
from bench.scratch import connect

Scores = dict[str, list[tuple[Question, dict[str, float]]]]
LEGS = ("keyword leg", "vector leg")
REPORTED = (*LEGS, "fused, score", "fused, re-ranked", "the tool")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--questions", action="store_true", help="Also our own, about the SRD and the demo."
    )
    parser.add_argument("--only", action="append", help="Only these sets.")
    parser.add_argument(
        "--neighbours", action="store_true", help="Also dialogues with the turns around each turn."
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        help="At most so many questions of each set, evenly spaced.",
    )
    parser.add_argument("--json", type=Path, help="Write all figures to this file.")
    options = parser.parse_args()
    connect()
    table: dict[str, Scores] = {}
    for dataset in selected_datasets(options):
        table[dataset.name] = measure(dataset)
        print_report(dataset.name, table[dataset.name])
    if options.questions:
        from bench.own_questions import measure_own_questions

        for name, scores in measure_own_questions(options.sample):
            table[name] = scores
            print_report(name, scores)
    print_summary(table)
    save_and_print_intervals(table)
    if options.json:
        numbers = {
            name: {way: mean_measures(m for _q, m in rows) for way, rows in s.items()}
            for name, s in table.items()
        }
        options.json.write_text(json.dumps(numbers, indent=1))


def save_and_print_intervals(table: dict[str, Scores]) -> None:
    """Save what every ranker made of every question; print means and differences with their 95 %
    intervals."""
    from bench.peers import PEERS

    results = list(results_of(table))
    path = bench_folder() / "quality.jsonl"
    write_results(path, results)
    for measure in ("nDCG@10", "recall@10"):
        print(f"\n{quality_table(results, REPORTED, measure=measure)}")
    print(f"\n{difference_table(results, 'fused, score', [*LEGS, *PEERS])}\n\n{path}")


def results_of(table: dict[str, Scores]) -> Iterator[QuestionResult]:
    for name, scores in table.items():
        for ranker, rows in scores.items():
            for question, measures in rows:
                language, half = question.language, question.half
                yield QuestionResult(name, ranker, question.id, measures, language, half)


def selected_datasets(options: argparse.Namespace) -> Iterator[Dataset]:
    for folder in options.folders:
        for dataset in load_datasets(folder, set(options.only) if options.only else None):
            dataset = sample_questions(dataset, options.sample)
            yield dataset
            if options.neighbours and dataset.is_dialogue:
                yield with_adjacent_turns(dataset)


def measure(dataset: Dataset) -> Scores:
    """Ask every ranker every question; return the measures per ranker."""
    from bench.corpora import model_for, preset_for, shelve, tenant
    from bench.peers import Tenant
    from bench.rankers import ways

    keys = shelve(dataset, print_now)
    own, rows = preset_for(dataset), model_for(dataset).objects
    names = {scope: tenant(dataset, scope) for scope in dataset.scopes}
    asked = {
        scope: ways(Tenant(rows.filter(tenant=name), [name], own)) for scope, name in names.items()
    }
    scores: Scores = defaultdict(list)
    started = time.perf_counter()
    for question in dataset.questions:
        for name, way in asked[question.scope].items():
            ranked = [keys[id_] for id_ in way(question)]
            scores[name].append((question, measures_of(ranked, question.relevant)))
    seconds = time.perf_counter() - started
    print_now(f"{dataset.name}: {len(dataset.questions)} questions in {seconds:.0f} s")
    return scores


def print_report(name: str, scores: Scores) -> None:
    for label, rows_of in groups_of_questions(scores):
        print(f"\n{name}{label}")
        for way, rows in scores.items():
            means = mean_measures(values for question, values in rows if rows_of(question))
            print(f"  {way:26}" + "".join(f"{means[measure]:>11.4f}" for measure in MEASURES))


def groups_of_questions(scores: Scores) -> Iterator[tuple[str, Callable[[Question], bool]]]:
    questions = [question for question, _values in next(iter(scores.values()))]
    yield f" ({len(questions)} questions)   {', '.join(MEASURES)}", lambda _question: True
    for half in sorted({question.half for question in questions if question.half}):
        for language in sorted({question.language for question in questions}):
            yield f" / {half} / {language}", partial(is_of_group, half=half, language=language)


def is_of_group(question: Question, *, half: str, language: str) -> bool:
    return question.half == half and question.language == language


def print_summary(table: dict[str, Scores]) -> None:
    """Print nDCG@10 of the fused search beside the better leg, bm25s and both tsquery baselines."""
    titles = ("keyword", "vector", "fused", "- better", "- bm25s", "AND RRF", "OR RRF")
    print(f"\n{'nDCG@10':28}" + "".join(f"{title:>9}" for title in titles))
    for name, scores in table.items():
        print(f"{name:28}" + comparison_row(scores))
        reported = {
            way: [row for row in rows if row[0].half == "reporting"] for way, rows in scores.items()
        }
        if reported["fused, score"]:
            print(f"{name + ', reporting half':28}" + comparison_row(reported))


def comparison_row(scores: Scores) -> str:
    mean = {
        way: mean_measures(values for _question, values in rows)["nDCG@10"]
        for way, rows in scores.items()
    }
    keyword, vector, fused = mean["keyword leg"], mean["vector leg"], mean["fused, score"]
    row = [
        keyword,
        vector,
        fused,
        fused - max(keyword, vector),
        keyword - mean["bm25s, same words"],
    ]
    row += [mean["AND tsquery + dense, RRF"], mean["OR tsquery + dense, RRF"]]
    return "".join(f"{value:9.4f}" for value in row)


def print_now(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
