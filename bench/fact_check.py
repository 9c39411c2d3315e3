"""Precision and recall of `lore_assert` on statements about two worlds.

    python -m bench.fact_check [--half tuning|…|third_author|fourth_author|fifth_author_even|…_odd]
    python -m bench.fact_check --set DIR [--parity even|odd]  # world.json, statements.jsonl

`tuning` and `reporting` speak of the demo world, the others of it and of a second world, those of
the fifth author of a third one. Those of the third, fourth and fifth author are by people who had
seen neither the patterns nor the other statements; what SEEN names has been worked on since. Loads
the worlds in a transaction that is rolled back. Do not fit on the others: `--misses` prints nothing
for them.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from bench.scratch import connect
from bench.statement_worlds import LABELLED_WORLDS, last_day_of, load_statement_world

DATA = Path(__file__).parent / "data"
STATEMENTS = DATA / "statements.jsonl"
TWO_WORLDS = DATA / "statements_two_worlds.jsonl"
THIRD_AUTHOR = DATA / "statements_third_author.jsonl"
FOURTH_AUTHOR = DATA / "statements_fourth_author.jsonl"
FIFTH_AUTHOR = DATA / "statements_fifth_author.jsonl"
SIXTH_AUTHOR = DATA / "statements_sixth_author.jsonl"
LATER_AUTHORS = [
    DATA / f"statements_{which}_author.jsonl" for which in ("eighth", "ninth", "tenth")
]
SETS = (
    STATEMENTS,
    TWO_WORLDS,
    THIRD_AUTHOR,
    FOURTH_AUTHOR,
    FIFTH_AUTHOR,
    SIXTH_AUTHOR,
    *LATER_AUTHORS,
)
SEEN = (
    "tuning",
    "development",
    "third_author",
    "fourth_author",
    "fifth_author_even",
    "sixth_author_even",
    "ninth_author_even",
    "tenth_author_even",
)
HALVES = (
    *SEEN,
    "reporting",
    "held_out",
    "fifth_author_odd",
    "sixth_author_odd",
    "eighth_author_even",
    "eighth_author_odd",
    "ninth_author_odd",
    "tenth_author_odd",
)
LABELS = ("true", "false", "unknown")

Verdicts = list[tuple[dict[str, str], str, str, float]]
"""(statement, result, reason, milliseconds)"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--set", type=Path, help="a folder with world.json and statements.jsonl")
    parser.add_argument("--parity", choices=("even", "odd"), help="of the ids of --set")
    parser.add_argument("--misses", action="store_true", help="print every wrong answer")
    parser.add_argument("--now", action="store_true", help="ask on the last day of the world's now")
    args = parser.parse_args()
    connect()
    rows = read_set(args.set, args.parity) if args.set else read_statements(args.half)
    verdicts = answer_statements(rows, is_now=args.now)
    may_show = args.parity == "even" if args.set else args.half in SEEN
    print_report(verdicts, misses=args.misses and may_show)


def read_set(folder: Path, parity: str | None) -> list[dict[str, str]]:
    """Return the statements of a folder, and make its world known by the slug that they have."""
    lines = (folder / "statements.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    LABELLED_WORLDS.update({row["world"]: folder / "world.json" for row in rows})
    return [
        row
        for row in rows
        if parity in (None, ("even", "odd")[int(row["id"].rpartition("-")[2]) % 2])
    ]


def read_statements(half: str) -> list[dict[str, str]]:
    lines = [line for path in SETS for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in map(json.loads, lines) if row["half"] == half]


def answer_statements(rows: list[dict[str, str]], *, is_now: bool = False) -> Verdicts:
    """Return the answers that the game master of a freshly loaded world gets. `is_now`: the
    question says which day it is, where the world of the set has one."""
    from django.db import transaction

    from knowledge.fact_check.schemas import Assertion
    from knowledge.fact_check.tool import lore_assert
    from worlds.callers import Caller

    verdicts: Verdicts = []
    with transaction.atomic():
        slugs = sorted({row.get("world", "ferrymark") for row in rows})
        callers = {slug: Caller.gm(load_statement_world(slug)) for slug in slugs}
        for row in rows:
            begun = time.perf_counter()
            slug = row.get("world", "ferrymark")
            at = last_day_of(slug) if is_now else None
            answer = lore_assert(Assertion(fact=row["text"], at=at), callers[slug])
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
    for kind in sorted({row["kind"] for row, *_rest in verdicts if "kind" in row}):
        some = [one for one in verdicts if one[0].get("kind") == kind]
        print(f"{kind:10}", "  ".join(precision_and_recall(some, label) for label in LABELS))
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
