"""Precision and recall of duplicate detection between memories: `python -m bench.dedup`.

On our own labelled pairs (bench/data/pairs.jsonl). The threshold was fitted on the tuning half;
report the figures of the reporting half. Also prints the result of vectors alone at their best
threshold.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.scratch import connect

PAIRS = Path(__file__).parent / "data" / "pairs.jsonl"


@dataclass(frozen=True)
class Pair:
    a: str
    b: str
    duplicate: bool
    kind: str
    language: str
    half: str
    cosine: float


@dataclass(frozen=True)
class Rates:
    correct: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.correct / max(self.correct + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.correct / max(self.correct + self.missed, 1)

    def __str__(self) -> str:
        rates = f"precision {self.precision:.3f}  recall {self.recall:.3f}"
        return f"{rates}  ({self.wrong} wrong, {self.missed} missed)"


def rates(pairs: list[Pair], same: Callable[[Pair], bool]) -> Rates:
    outcome = Counter((same(pair), pair.duplicate) for pair in pairs)
    return Rates(outcome[True, True], outcome[True, False], outcome[False, True])


def load_pairs() -> list[Pair]:
    from retrieval.embedders import get_embedder

    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    texts = sorted({text for row in rows for text in (row["a"], row["b"])})
    vectors = dict(zip(texts, get_embedder("memory").embed_document(texts), strict=True))
    keys = ("a", "b", "duplicate", "kind", "language", "half")
    return [
        Pair(**{key: row[key] for key in keys}, cosine=float(vectors[row["a"]] @ vectors[row["b"]]))
        for row in rows
    ]


def main() -> None:
    connect()
    from memories.similarity.compare import SAME_FROM, Verdict, compare_texts

    def same(pair: Pair) -> bool:
        verdict = compare_texts(pair.a, pair.b, similarity=pair.cosine)
        return verdict in (Verdict.EXACT, Verdict.NEAR)

    pairs = load_pairs()
    tuning, reporting = (
        [pair for pair in pairs if pair.half == half] for half in ("tuning", "reporting")
    )
    best = max(
        (n / 100 for n in range(50, 100)),
        key=lambda t: f1_of(rates(tuning, lambda pair: pair.cosine >= t)),
    )
    print(f"{len(pairs)} pairs, operating point {SAME_FROM}")
    print(f"tuning     {rates(tuning, same)}")
    print(f"reporting  {rates(reporting, same)}")
    for language in ("en", "ru", "ko"):
        some = [pair for pair in reporting if pair.language == language]
        print(f"  {language}       {rates(some, same)}")
    by_vectors = rates(reporting, lambda pair: pair.cosine >= best)
    print(f"vectors alone (cosine ≥ {best:.2f}), reporting: {by_vectors}")
    wrong = Counter(pair.kind for pair in reporting if same(pair) != pair.duplicate)
    print("errors by kind, reporting:", dict(wrong))


def f1_of(rates: Rates) -> float:
    return 2 * rates.precision * rates.recall / max(rates.precision + rates.recall, 1e-9)


if __name__ == "__main__":
    main()
