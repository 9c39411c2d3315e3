"""Precision and recall of duplicate detection between memories: `python -m bench.dedup`.

    python -m bench.dedup                # cross-validated on our own pairs
    python -m bench.dedup --fit          # fit to all of them, write same_statement.json
    python -m bench.dedup --ask FILE     # compare the pairs of another author, as shipped
    python -m bench.dedup --rules        # the rules alone on the labelled pairs

Our own pairs are those of bench/data/pairs.jsonl and those of two files of groups: of
duplicate_groups.txt (`1` a statement, `=` the same in other words, `~` another one in nearly the
same words) and of statement_groups.txt (see `bench.updates`). The folds keep a group together.

A statement in other words and another statement in nearly the same words (`=` with `~`) count a
quarter: two authors who are asked for pairs that are not the same write the latter beside the first
statement. A row of FILE has `id`, `a`, `b`, `duplicate`, `kind` and `lang`.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA
from bench.scratch import connect
from bench.trees import as_numbers
from bench.updates import load_groups

PAIRS, GROUPS = DATA / "pairs.jsonl", DATA / "duplicate_groups.txt"
FOLDS = 5
LEAST, LEAST_BY_RULES = 0.6, 0.5
OF_REWORDED, OF_OTHER_TRAITS = 0.25, 0.2
"""Weights of pairs that are not the same."""
TREES: dict[str, Any] = {
    "n_estimators": 300,
    "max_depth": 3,
    "learning_rate": 0.06,
    "subsample": 0.6,
    "max_features": 0.2,
    "min_samples_leaf": 3,
    "random_state": 0,
}


@dataclass(frozen=True)
class Pair:
    a: str
    b: str
    duplicate: bool
    language: str
    fold: int = 0
    kind: str = ""
    half: str = ""
    weight: float = 1.0
    cosine: float = 0.0


@dataclass(frozen=True)
class Rates:
    correct: float
    wrong: float
    missed: float

    @property
    def precision(self) -> float:
        return self.correct / max(self.correct + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.correct / max(self.correct + self.missed, 1)

    def __str__(self) -> str:
        rates = f"precision {self.precision:.3f}  recall {self.recall:.3f}"
        return f"{rates}  ({self.wrong:g} wrong, {self.missed:g} missed)"


def rates(pairs: Sequence[Pair], same: Callable[[Pair], bool]) -> Rates:
    outcome: Counter[tuple[bool, bool]] = Counter()
    for pair in pairs:
        outcome[same(pair), pair.duplicate] += 1
    return Rates(outcome[True, True], outcome[True, False], outcome[False, True])


def labelled_pairs() -> Iterator[Pair]:
    family_of: dict[str, int] = {}
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        a, b = row["a"], row["b"]
        # All pairs of one sentence are in one fold.
        family = family_of.get(a, family_of.get(b, len(set(family_of.values()))))
        family_of[a] = family_of[b] = family
        fold = family % FOLDS
        yield Pair(a, b, row["duplicate"], row["language"], fold, row["kind"], row["half"])


def grouped_pairs() -> Iterator[Pair]:
    groups = load_duplicate_groups()
    # Groups of three languages resemble each other in their order: folds are blocks of it.
    for group in groups:
        of_language = [each for each in groups if each["lang"] == group["lang"]]
        fold = FOLDS * of_language.index(group) // len(of_language)
        first, *others = group["="]
        for a, b in combinations(group["="], 2):
            yield Pair(a, b, True, group["lang"], fold)
        for other in group["~"]:
            yield Pair(first, other, False, group["lang"], fold, "~")
            for reworded in others:
                yield Pair(reworded, other, False, group["lang"], fold, "=~", weight=OF_REWORDED)
    for number, group in enumerate(load_groups()):
        language, fold = group["lang"], number % FOLDS
        yield Pair(group["1"], group["="], True, language, fold)
        for kind in "~>+-*/":
            if kind in group:
                weight = 1.0 if kind == "~" else OF_OTHER_TRAITS
                yield Pair(group["1"], group[kind], False, language, fold, kind, weight=weight)
                weight = OF_REWORDED if kind == "~" else OF_OTHER_TRAITS
                kinds = f"={kind}"
                yield Pair(group["="], group[kind], False, language, fold, kinds, weight=weight)


def load_duplicate_groups() -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    language = ""
    for line in GROUPS.read_text(encoding="utf-8").splitlines():
        kind, text = line[:1], line[2:]
        if kind == "#":
            language = text.removeprefix("lang ")
        elif kind == "1":
            groups.append({"lang": language, "=": [text], "~": []})
        else:
            groups[-1][kind].append(text)
    return groups


def with_cosines(pairs: Sequence[Pair]) -> list[Pair]:
    from retrieval.embedders import get_embedder

    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    vectors = dict(zip(texts, get_embedder("memory").embed_document(texts), strict=True))
    return [
        Pair(**{**vars(pair), "cosine": float(vectors[pair.a] @ vectors[pair.b])}) for pair in pairs
    ]


def signs_of(pairs: Sequence[Pair]) -> Any:
    from memories.similarity.compare import signs_of_comparison

    return np.array(
        [signs_of_comparison(pair.a, pair.b, similarity=pair.cosine) for pair in pairs], dtype=float
    )


def fit_trees(pairs: Sequence[Pair], signs: Any) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    labels, weights = [pair.duplicate for pair in pairs], [pair.weight for pair in pairs]
    return GradientBoostingClassifier(**TREES).fit(signs, labels, weights)


def print_held_out(pairs: Sequence[Pair]) -> None:
    """Print what several thresholds merge, and what the rules and the trees merge together."""
    from memories.similarity.compare import Verdict, compare_by_rules
    from memories.similarity.trees import BoostedTrees

    signs = signs_of(pairs)
    folds = np.array([pair.fold for pair in pairs])
    probabilities = np.zeros(len(pairs))
    for fold in range(FOLDS):
        training = [pair for pair in pairs if pair.fold != fold]
        trees = BoostedTrees.of(as_numbers(fit_trees(training, signs[folds != fold])))
        probabilities[folds == fold] = trees.probabilities(signs[folds == fold])
    merged = [
        compare_by_rules(pair.a, pair.b, similarity=pair.cosine) is Verdict.NEAR for pair in pairs
    ]
    sets: dict[str, Callable[[Pair], bool]] = {
        "groups, beside the first statement": lambda pair: pair.kind in ("", "~") and not pair.half,
        "groups, beside a rewording": lambda pair: pair.kind in ("", "=~") and not pair.half,
        "other traits of the subject": lambda pair: pair.kind.strip("=") in set(">+-*/") - {""},
        "labelled pairs": lambda pair: bool(pair.half),
    }
    for name, belongs in sets.items():
        for least in (0.4, 0.5, 0.6, 0.7):
            outcome: Counter[tuple[bool, bool]] = Counter()
            for pair, probability, by_rules in zip(pairs, probabilities, merged, strict=True):
                if belongs(pair):
                    needed = LEAST_BY_RULES if by_rules else LEAST
                    needed += least - LEAST
                    outcome[bool(probability >= needed), pair.duplicate] += 1
            counts = (outcome[True, True], outcome[True, False], outcome[False, True])
            print(f"from {least}: {name}: {Rates(*counts)} of {outcome.total()}")


def print_asked(path: Path, ids: str) -> None:
    """Print the figures of another author's pairs; `ids`: `even` or `odd` ones, or all."""
    from memories.similarity.compare import compare_texts
    from retrieval.embedders import get_embedder

    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    parity = {"even": (0,), "odd": (1,)}.get(ids, (0, 1))
    chosen = [row for row in rows if int(row["id"].rsplit("-", 1)[1]) % 2 in parity]
    pairs = with_cosines(
        [
            Pair(row["a"], row["b"], row["duplicate"], row["lang"], kind=row["kind"])
            for row in chosen
        ]
    )
    name = get_embedder("memory").name

    def same(pair: Pair) -> bool:
        return compare_texts(pair.a, pair.b, similarity=pair.cosine, embedder=name).is_same

    print(f"{ids} {rates(pairs, same)}")
    for language in ("en", "ru", "ko"):
        print(f"  {language} {rates([pair for pair in pairs if pair.language == language], same)}")
    wrong = Counter(pair.kind for pair in pairs if same(pair) != pair.duplicate)
    print("errors by kind:", dict(wrong))


def print_rules() -> None:
    """Print what the rules alone merge of the labelled pairs, and vectors alone."""
    from memories.similarity.compare import SAME_FROM, Verdict, compare_by_rules

    def same(pair: Pair) -> bool:
        return compare_by_rules(pair.a, pair.b, similarity=pair.cosine) is Verdict.NEAR

    pairs = with_cosines([*labelled_pairs()])
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
    by_vectors = rates(reporting, lambda pair: pair.cosine >= best)
    print(f"vectors alone (cosine ≥ {best:.2f}), reporting: {by_vectors}")


def f1_of(rates: Rates) -> float:
    return 2 * rates.precision * rates.recall / max(rates.precision + rates.recall, 1e-9)


def write_model(pairs: Sequence[Pair]) -> None:
    from memories.similarity.same_statement import MODEL_FILE
    from retrieval.embedders import get_embedder

    data = {
        "embedder": get_embedder("memory").name,
        "least": LEAST,
        "least_by_rules": LEAST_BY_RULES,
        **as_numbers(fit_trees(pairs, signs_of(pairs))),
    }
    MODEL_FILE.write_text(json.dumps(data) + "\n", encoding="utf-8")
    print(f"{len(pairs)} pairs, {len(data['value'])} trees in {MODEL_FILE}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--ask", type=Path)
    parser.add_argument("--ids", choices=("even", "odd", "all"), default="all")
    options = parser.parse_args()
    connect("memory37_dedup_bench")
    if options.ask:
        return print_asked(options.ask, options.ids)
    if options.rules:
        return print_rules()
    pairs = with_cosines([*labelled_pairs(), *grouped_pairs()])
    return write_model(pairs) if options.fit else print_held_out(pairs)


if __name__ == "__main__":
    main()
