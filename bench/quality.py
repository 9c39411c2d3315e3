"""How good is what is found: `python -m bench.quality FOLDER… [--questions] [--only SET]`.

Every set goes through the product's own pipeline into a scratch database; our legs and their fusion stand beside what
others do with the same words and vectors. Nothing is written but the scratch database.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.datasets import Dataset, Question, datasets_in, sampled, with_neighbours
from bench.scoring import MEASURES, averaged, measured
from bench.scratch import connect

Scores = dict[str, list[tuple[Question, dict[str, float]]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--questions", action="store_true", help="Also our own, about the SRD and the demo."
    )
    parser.add_argument("--only", action="append", help="Only these sets.")
    parser.add_argument(
        "--neighbours", action="store_true", help="Also talk with the turns around each turn."
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        help="At most so many questions of each set, evenly spread.",
    )
    parser.add_argument("--json", type=Path, help="Write all numbers here too.")
    options = parser.parse_args()
    connect()
    table: dict[str, Scores] = {}
    for dataset in _sets(options):
        table[dataset.name] = measure(dataset)
        report(dataset.name, table[dataset.name])
    if options.questions:
        from bench.own_questions import measure_own

        for name, scores in measure_own():
            table[name] = scores
            report(name, scores)
    summary(table)
    if options.json:
        numbers = {
            name: {way: averaged(m for _q, m in rows) for way, rows in s.items()}
            for name, s in table.items()
        }
        options.json.write_text(json.dumps(numbers, indent=1))


def _sets(options: argparse.Namespace) -> Iterator[Dataset]:
    for folder in options.folders:
        for dataset in datasets_in(folder, set(options.only) if options.only else None):
            dataset = sampled(dataset, options.sample)
            yield dataset
            if options.neighbours and dataset.talk:
                yield with_neighbours(dataset)


def measure(dataset: Dataset) -> Scores:
    """Ask every question in every way; return the measures per way."""
    from bench.peers import Tenant
    from bench.shelves import model_for, preset_for, shelve, tenant
    from bench.ways import ways

    keys = shelve(dataset, _say)
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
            scores[name].append((question, measured(ranked, question.relevant)))
    _say(
        f"{dataset.name}: {len(dataset.questions)} questions in {time.perf_counter() - started:.0f} s"
    )
    return scores


def report(name: str, scores: Scores) -> None:
    for label, rows_of in _parts(scores):
        print(f"\n{name}{label}")
        for way, rows in scores.items():
            means = averaged(values for question, values in rows if rows_of(question))
            print(f"  {way:26}" + "".join(f"{means[measure]:>11.4f}" for measure in MEASURES))


def _parts(scores: Scores) -> Iterator[tuple[str, Callable[[Question], bool]]]:
    questions = [question for question, _values in next(iter(scores.values()))]
    yield f" ({len(questions)} questions)   {', '.join(MEASURES)}", lambda _question: True
    for half in sorted({question.half for question in questions if question.half}):
        for language in sorted({question.language for question in questions}):
            yield (
                f" / {half} / {language}",
                lambda q, h=half, lang=language: q.half == h and q.language == lang,
            )


def summary(table: dict[str, Scores]) -> None:
    """Print the bar: fused against the better leg and against both tsquery peers."""
    titles = ("keyword", "vector", "fused", "- better", "- bm25s", "AND RRF", "OR RRF")
    print(f"\n{'nDCG@10':28}" + "".join(f"{title:>9}" for title in titles))
    for name, scores in table.items():
        print(f"{name:28}" + _compared(scores))
        reported = {
            way: [row for row in rows if row[0].half == "reporting"] for way, rows in scores.items()
        }
        if reported["fused, score"]:
            print(f"{name + ', reporting half':28}" + _compared(reported))


def _compared(scores: Scores) -> str:
    mean = {
        way: averaged(values for _question, values in rows)["nDCG@10"]
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


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
