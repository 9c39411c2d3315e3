"""Precision and recall of `lore_assert` on statements about the demo world.

    python -m bench.fact_check [--half tuning|reporting|all] [--misses]

Loads the demo world's graph in a transaction that is rolled back. Do not fit on the reporting half.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from bench.scratch import connect

STATEMENTS = Path(__file__).parent / "data" / "statements.jsonl"
LABELS = ("true", "false", "unknown")

Verdicts = list[tuple[dict[str, str], str, str, float]]
"""(statement, result, reason, milliseconds)"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=["tuning", "reporting", "all"], default="reporting")
    parser.add_argument(
        "--misses", action="store_true", help="print every wrong answer (tuning half only)"
    )
    args = parser.parse_args()
    connect()
    rows = [json.loads(line) for line in STATEMENTS.read_text(encoding="utf-8").splitlines()]
    statements = [row for row in rows if args.half in ("all", row["half"])]
    print_report(answer_statements(statements), misses=args.misses and args.half == "tuning")


def answer_statements(rows: list[dict[str, str]]) -> Verdicts:
    """Return the answers that the game master of a fresh demo world gets."""
    from django.db import transaction

    from knowledge.fact_check.schemas import Assertion
    from knowledge.fact_check.tool import lore_assert
    from memory_site.demo.load import load_graph
    from memory_site.demo.world_files import read_world
    from worlds.callers import Caller
    from worlds.models import World

    verdicts: Verdicts = []
    with transaction.atomic():
        world = World.objects.create(slug="bench-fact-check", name="Ferrymark")
        load_graph(read_world(), world)
        for row in rows:
            begun = time.perf_counter()
            answer = lore_assert(Assertion(fact=row["text"]), Caller.gm(world))
            elapsed = 1000 * (time.perf_counter() - begun)
            verdicts.append((row, answer.result, answer.reason, elapsed))
        transaction.set_rollback(True)
    return verdicts


def print_report(verdicts: Verdicts, *, misses: bool) -> None:
    for languages in (("en", "ru", "ko"), ("en",), ("ru",), ("ko",)):
        some = [one for one in verdicts if one[0]["language"] in languages]
        print(
            f"{'+'.join(languages):10}",
            "  ".join(precision_and_recall(some, label) for label in LABELS),
            f"  n {len(some)}",
        )
    times = sorted(one[3] for one in verdicts)
    print(f"p50 {times[len(times) // 2]:.1f} ms  p95 {times[int(len(times) * 0.95)]:.1f} ms")
    for row, answer, reason, _ms in verdicts if misses else ():
        if answer != row["label"]:
            print(f"{row['id']} wanted {row['label']} got {answer}: {row['text']}  [{reason}]")


def precision_and_recall(verdicts: Verdicts, label: str) -> str:
    pairs = Counter((row["label"] == label, answer == label) for row, answer, *_rest in verdicts)
    right, given, there = (
        pairs[True, True],
        pairs[True, True] + pairs[False, True],
        pairs[True, True] + pairs[True, False],
    )
    precision = f"{right / given:.3f}" if given else "–"
    recall = f"{right / there:.3f}" if there else "–"
    return f"{label}: precision {precision} recall {recall}"


if __name__ == "__main__":
    main()
