"""Precision and recall of duplicate detection between memories: `python -m bench.dedup`.

    python -m bench.dedup                # cross-validated: each author held out in turn
    python -m bench.dedup --fit          # fit to all of them, write same_statement.json
    python -m bench.dedup --ask FILE     # compare the pairs of another author, as shipped
    python -m bench.dedup --rules        # the rules alone on the labelled pairs

The pairs are those of bench/data/pairs.jsonl and of groups by several authors: of
duplicate_groups*.txt (`1` a statement, `=` the same in other words, `~` another one in nearly the
same words) and of statement_groups*.txt (see `bench.updates`). Beside them stand the texts of
an author's different groups that are nearest to one another (`x`), as other memories of a store
are. The labelled pairs are held out in five parts, everything else by author.

A statement in other words and another statement in nearly the same words (`=` with `~`) count
little: authors who are asked for pairs that are not the same write the latter beside the first
statement. A row of FILE has `id`, `a`, `b`, `duplicate`, `kind` and `lang`.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA
from bench.scratch import connect
from bench.statement_pairs import UNSEEN_DUPLICATES, UNSEEN_HALF, UNSEEN_STATEMENTS
from bench.trees import as_numbers, logistic_sum
from bench.updates import load_groups

PAIRS = DATA / "pairs.jsonl"
GROUPS = {
    "first": DATA / "duplicate_groups.txt",
    "d": DATA / "duplicate_groups_d.txt",
    "e": DATA / "duplicate_groups_e.txt",
}
"""By author; `first` are our own."""
STATEMENTS = {
    "first": DATA / "statement_groups.txt",
    "f": DATA / "statement_groups_f.txt",
}
PARTS = 5
LEAST, LEAST_BY_RULES = 0.45, 0.4
OF_REWORDED, OF_OTHER_TRAITS, OF_OTHER_GROUPS = 0.15, 0.5, 1.5
"""Weights of pairs that are not the same."""
OF_LABELLED = 2.0
"""Weight of the labelled pairs, which are few."""
NEAREST, SAME_TOPIC = 12, 0.75
"""Of other groups: so many for each text, below the cosine from which they may say the same."""
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
    fold: str = ""
    kind: str = ""
    half: str = ""
    weight: float = 1.0
    is_unseen: bool = False
    """Whether the model of pairs was trained on nothing of its author's."""
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
        fold = f"pairs {family % PARTS}"
        kind, half = row["kind"], row["half"]
        is_unseen = half == UNSEEN_HALF
        labels = (row["duplicate"], row["language"], fold, kind, half, OF_LABELLED, is_unseen)
        yield Pair(a, b, *labels)


def grouped_pairs() -> Iterator[Pair]:
    for author, file in GROUPS.items():
        for group in load_duplicate_groups(file):
            yield from pairs_of_rewordings(group, author)
    for author, file in STATEMENTS.items():
        for group in load_groups(file):
            yield from pairs_of_statements(group, author)


def pairs_of_rewordings(group: dict[str, Any], author: str) -> Iterator[Pair]:
    make = partial(Pair, language=group["lang"], fold=author, is_unseen=author in UNSEEN_DUPLICATES)
    first, *others = group["="]
    for a, b in combinations(group["="], 2):
        yield make(a, b, True)
    for other in group["~"]:
        yield make(first, other, False, kind="~")
        for reworded in others:
            yield make(reworded, other, False, kind="=~", weight=OF_REWORDED)


def pairs_of_statements(group: dict[str, str], author: str) -> Iterator[Pair]:
    make = partial(Pair, language=group["lang"], fold=author, is_unseen=author in UNSEEN_STATEMENTS)
    yield make(group["1"], group["="], True)
    for kind in "~>+-*/":
        if kind in group:
            weight = 1.0 if kind == "~" else OF_OTHER_TRAITS
            yield make(group["1"], group[kind], False, kind=kind, weight=weight)
            weight = OF_REWORDED if kind == "~" else OF_OTHER_TRAITS
            yield make(group["="], group[kind], False, kind=f"={kind}", weight=weight)


def load_duplicate_groups(file: Path) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    language = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, text = line[:1], line[2:]
        if kind == "#":
            language = text.removeprefix("lang ")
        elif kind == "1":
            groups.append({"lang": language, "=": [text], "~": []})
        else:
            groups[-1][kind].append(text)
    return groups


def pairs_of_other_groups() -> Iterator[Pair]:
    """Yield each text with the nearest ones of other groups in its language."""
    group_of: dict[str, Group] = {}
    for author, file in GROUPS.items():
        for number, group in enumerate(load_duplicate_groups(file)):
            is_unseen = author in UNSEEN_DUPLICATES
            for text in group["="] + group["~"]:
                group_of.setdefault(text, (group["lang"], author, number, is_unseen))
    for author, file in STATEMENTS.items():
        for number, each in enumerate(load_groups(file), start=1000):
            is_unseen = author in UNSEEN_STATEMENTS
            for kind in set(each) - {"lang", "?"}:
                group_of.setdefault(each[kind], (each["lang"], author, number, is_unseen))
    for language in ("en", "ru", "ko"):
        texts = sorted(text for text, (of, *_) in group_of.items() if of == language)
        yield from nearest_of_others(texts, group_of)


Group = tuple[str, str, int, bool]
"""Language, author, number, and whether the model of pairs has not seen the author."""


def nearest_of_others(texts: Sequence[str], group_of: Mapping[str, Group]) -> Iterator[Pair]:
    from memories.similarity.compare import MIN_COSINE_OF_SAME
    from retrieval.embedders import get_embedder

    vectors = np.asarray(get_embedder("memory").embed_document(list(texts)))
    seen: set[frozenset[str]] = set()
    for at, text in enumerate(texts):
        language, author, _, is_unseen = group = group_of[text]
        cosines = vectors @ vectors[at]
        for place in map(int, np.argsort(-cosines)[: 4 * NEAREST]):
            pair = frozenset((text, texts[place]))
            is_near = MIN_COSINE_OF_SAME <= cosines[place] < SAME_TOPIC
            other_group = group_of[texts[place]]
            # Two authors may have had the same idea; the groups of one author differ.
            is_other = other_group[:2] == group[:2] and other_group != group
            if is_near and is_other and pair not in seen:
                seen.add(pair)
                yield Pair(
                    *(text, texts[place], False, language, author, "x"),
                    weight=OF_OTHER_GROUPS,
                    is_unseen=is_unseen,
                )


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


def probabilities_by_trees(pairs: Sequence[Pair]) -> Any:
    """Return the probability of each pair by trees fitted to the other folds."""
    from memories.similarity.trees import BoostedTrees

    signs = signs_of(pairs)
    folds = np.array([pair.fold for pair in pairs])
    probabilities = np.zeros(len(pairs))
    for fold in sorted(set(folds)):
        training = [pair for pair in pairs if pair.fold != fold]
        trees = BoostedTrees.of(as_numbers(fit_trees(training, signs[folds != fold])))
        probabilities[folds == fold] = trees.probabilities(signs[folds == fold])
    return probabilities


def fit_together(pairs: Sequence[Pair], by_trees: Sequence[float]) -> dict[str, Any]:
    """Fit the logistic sum of trees and pairs to those pairs that the model of pairs has not seen,
    where the trees leave it open and nothing says plainly that they differ."""
    from memories.similarity.compare import may_be_reworded
    from memories.similarity.same_statement import SURELY_OTHER, signs_together

    chosen = [
        (pair, float(own))
        for pair, own in zip(pairs, by_trees, strict=True)
        if pair.is_unseen and own >= SURELY_OTHER and may_be_reworded(pair.a, pair.b)
    ]
    rows = [signs_together(pair.a, pair.b, by_trees=own) for pair, own in chosen]
    labels = [pair.duplicate for pair, _own in chosen]
    return logistic_sum(rows, labels, [pair.weight for pair, _own in chosen])


def print_held_out(pairs: Sequence[Pair]) -> None:
    """Print what several thresholds merge of what an author wrote, by trees fitted to the others'
    pairs, together with the rules; and of the labelled pairs. Of pairs that the model of pairs has
    not seen, also by both together, whose few weights are fitted to all of these."""
    from memories.similarity.compare import Verdict, compare_by_rules, may_be_reworded
    from memories.similarity.pairs import LogisticSum
    from memories.similarity.same_statement import SURELY_OTHER, signs_together

    by_trees = probabilities_by_trees(pairs)
    together = LogisticSum(**fit_together(pairs, by_trees))
    print(together)
    probabilities = np.array(by_trees)
    needed = np.zeros(len(pairs))
    for at, pair in enumerate(pairs):
        if compare_by_rules(pair.a, pair.b, similarity=pair.cosine) is Verdict.NEAR:
            needed[at] = LEAST_BY_RULES - LEAST
        elif not may_be_reworded(pair.a, pair.b):
            needed[at] = 1.0
        if pair.is_unseen and by_trees[at] >= SURELY_OTHER and needed[at] < 1:
            signs = signs_together(pair.a, pair.b, by_trees=float(by_trees[at]))
            probabilities[at] = together.probability(signs)
    unseen = np.array([pair.is_unseen for pair in pairs])
    sets: dict[str, Callable[[Pair], bool]] = {}
    for author in sorted({*GROUPS, *STATEMENTS}):
        sets[f"groups of {author}, beside the first statement"] = partial(is_of, author, "~")
        sets[f"groups of {author}, beside a rewording"] = partial(is_of, author, "=~")
    sets["other traits of the subject"] = lambda pair: pair.kind.strip("=") in (">", *"+-*/")
    sets["nearest of other groups"] = lambda pair: pair.kind == "x"
    sets["labelled pairs"] = lambda pair: bool(pair.half)
    for name, belongs in sets.items():
        own = np.array([belongs(pair) for pair in pairs]) & unseen
        labels = np.array([pair.duplicate for pair in pairs])[own]
        ways = {"by trees": by_trees, "together": probabilities}
        for (way, given), least in product(ways.items(), (0.35, 0.4, 0.45, 0.5, 0.6)):
            merged = (given >= needed + least)[own]
            counts = (merged & labels, merged & ~labels, ~merged & labels)
            print(f"{way} from {least}: {name}: {Rates(*map(np.sum, counts))} of {own.sum()}")


def is_of(author: str, kind: str, pair: Pair) -> bool:
    return pair.fold == author and pair.kind in ("", kind)


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
        "together": fit_together(pairs, probabilities_by_trees(pairs)),
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
    pairs = with_cosines([*labelled_pairs(), *grouped_pairs(), *pairs_of_other_groups()])
    return write_model(pairs) if options.fit else print_held_out(pairs)


if __name__ == "__main__":
    main()
