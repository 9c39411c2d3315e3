"""Results of benches: one JSON object a line, and tables of them with confidence intervals."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.metrics import bootstrap_interval


@dataclass(frozen=True)
class QuestionResult:
    """What one ranker made of one question."""

    dataset: str
    ranker: str
    question: str
    """The id of the question."""
    measures: Mapping[str, float]
    language: str = ""
    half: str = ""
    milliseconds: float = math.nan


def write_results(path: Path, results: Iterable[QuestionResult]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(each), ensure_ascii=False) for each in results)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_results(path: Path) -> Iterator[QuestionResult]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield QuestionResult(**json.loads(line))


def by_set_and_ranker(
    results: Iterable[QuestionResult],
) -> dict[str, dict[str, list[QuestionResult]]]:
    """Group by dataset, then ranker. Questions of a reporting half stand in a set of their own."""
    groups: dict[str, dict[str, list[QuestionResult]]] = defaultdict(lambda: defaultdict(list))
    for each in results:
        groups[each.dataset][each.ranker].append(each)
        if each.half == "reporting":
            groups[f"{each.dataset}, reporting"][each.ranker].append(each)
    return groups


def quality_table(
    results: Iterable[QuestionResult], rankers: Sequence[str], *, measure: str = "nDCG@10"
) -> str:
    """Return a Markdown table: the mean of `measure` of each ranker by set, with the half width of
    its 95 % interval."""
    rows = [[measure, "questions", *rankers], ["---"] * (len(rankers) + 2)]
    for dataset, by_ranker in by_set_and_ranker(results).items():
        some = next(iter(by_ranker.values()))
        cells = [mean_cell([q.measures[measure] for q in by_ranker.get(r, [])]) for r in rankers]
        rows.append([dataset, str(len(some)), *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def mean_cell(values: Sequence[float]) -> str:
    """The mean and half of its interval, as ".583 ± .04"."""
    if not values:
        return "–"
    low, high = bootstrap_interval(values)
    return f"{without_zero(f'{fmean(values):.3f}')} ± {without_zero(f'{(high - low) / 2:.2f}')}"


def without_zero(number: str) -> str:
    return number.removeprefix("0") if number.startswith("0.") else number


def difference_table(
    results: Iterable[QuestionResult],
    ours: str,
    others: Sequence[str],
    *,
    measure: str = "nDCG@10",
) -> str:
    """Return a Markdown table of `ours` minus each of the others on the same questions, with the
    95 % interval of the mean difference: one that does not hold 0 is a difference."""
    rows = [[f"{ours} minus", *others], ["---"] * (len(others) + 1)]
    for dataset, by_ranker in by_set_and_ranker(results).items():
        values = {
            ranker: {each.question: each.measures[measure] for each in rows}
            for ranker, rows in by_ranker.items()
        }
        rows.append([dataset, *(difference_cell(values, ours, other) for other in others)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def difference_cell(values: Mapping[str, Mapping[str, float]], ours: str, other: str) -> str:
    if ours not in values or other not in values:
        return "–"
    both = values[ours].keys() & values[other].keys()
    differences = [values[ours][id_] - values[other][id_] for id_ in sorted(both)]
    low, high = bootstrap_interval(differences)
    return f"{fmean(differences):+.3f} ({low:+.2f} … {high:+.2f})"


def time_table(times: Mapping[str, Sequence[float]]) -> str:
    """Return a Markdown table of p50, p95 and p99 in milliseconds."""
    rows = [["", "calls", "p50", "p95", "p99"], ["---"] * 5]
    for name, durations in times.items():
        cells = [f"{percentile(durations, share):.1f}" for share in (0.5, 0.95, 0.99)]
        rows.append([name, str(len(durations)), *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def bench_folder() -> Path:
    """Where results are saved."""
    from django.conf import settings

    folder: Path = settings.VAR_DIR / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def save_json(path: Path, figures: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")
