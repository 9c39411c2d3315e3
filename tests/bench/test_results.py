"""Intervals and tables of the benches."""

import math
from pathlib import Path

import numpy as np
import pytest

from bench.metrics import bootstrap_interval
from bench.results import (
    QuestionResult,
    difference_table,
    percentile,
    quality_table,
    read_results,
    write_results,
)


def result(question: str, ranker: str, value: float, half: str = "") -> QuestionResult:
    return QuestionResult("ferry", ranker, question, {"nDCG@10": value}, half=half)


RESULTS = [
    result("one", "words", 0.2),
    result("two", "words", 0.4, half="reporting"),
    result("two", "fused", 0.9, half="reporting"),
    result("one", "fused", 0.8),
]


def test_the_interval_of_equal_values_is_that_value() -> None:
    assert bootstrap_interval([0.5] * 20) == (0.5, 0.5)


def test_no_value_has_no_interval() -> None:
    assert all(math.isnan(bound) for bound in bootstrap_interval([]))


def test_nineteen_of_twenty_intervals_hold_the_true_mean() -> None:
    random = np.random.default_rng(1)
    samples = (random.beta(2, 3, size=60) for _sample in range(200))
    bounds = [bootstrap_interval(list(sample), draws=300) for sample in samples]
    share = np.mean([low <= 0.4 <= high for low, high in bounds])
    assert 0.90 <= share <= 0.98


def test_more_questions_make_a_narrower_interval() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 1000
    width_of_few, width_of_many = (high - low for low, high in map(bootstrap_interval, (few, many)))
    # The error of a mean of 20 halves is 0.11; its 95 % interval is 1.96 times that to each side.
    assert width_of_few == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(20), rel=0.1)
    assert width_of_many == pytest.approx(width_of_few / 10, rel=0.1)


def test_a_table_has_a_row_for_each_set_and_for_its_reporting_half() -> None:
    lines = quality_table(RESULTS, ["words", "fused", "unknown"]).splitlines()
    assert lines[2].startswith("| ferry | 2 | .300 ± ")
    assert lines[2].endswith("| – |")
    assert lines[3].startswith("| ferry, reporting | 1 | .400 ± .00 | .900 ± .00")


def test_rankers_are_compared_question_by_question() -> None:
    # Both questions gain: whichever are drawn, the difference is no accident.
    row = difference_table(RESULTS, "fused", ["words"]).splitlines()[2]
    assert row == "| ferry | +0.550 (+0.50 … +0.60) |"


def test_the_percentile_is_a_value_that_was_measured() -> None:
    values = list(range(1, 101))
    assert [percentile(values, share) for share in (0.5, 0.99, 1.0)] == [50, 99, 100]
    assert percentile([7.0], 0.99) == 7.0


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_results(tmp_path / "bench" / "quality.jsonl", [result("하나", "words", 0.25)])
    (row,) = read_results(tmp_path / "bench" / "quality.jsonl")
    assert (row.question, row.ranker, row.measures) == ("하나", "words", {"nDCG@10": 0.25})
    assert math.isnan(row.milliseconds)
