"""Agent memory without a language model: sorting, intents, abstention. Prints the numbers of the reporting half.

python -m bench.agent_memory            # with the embedder of the settings
python -m bench.agent_memory --fit      # fit abstention to all questions but the fresh ones, print the line for it

The fresh sets are for reporting alone; of the intents the unseen one, since the fresh one has been fitted to since.
Everything else may be fitted to: its reporting half was looked at too often.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.labelled import DATA, rows
from bench.scratch import connect
from memories import standalone  # noqa: F401  (sets Django up, before any model is imported)
from memories.buckets.abstaining import Seen, Signs, Threshold, signs, threshold_for
from memories.buckets.cues import shipped
from retrieval.embedders import get_embedder

CANDIDATES = 100
HALVES = ("tuning", "reporting", "fresh")
APART = ("fresh", "unseen")
"""Halves in a file of their own."""
FALSE_RECALL = 0.08
"""Aimed at when the threshold is drawn: below the tenth that is allowed, since new questions will do worse."""


@dataclass(frozen=True)
class Judged:
    """One question with its signs, whether it has an answer, and whether that stands among the first three."""

    signs: Signs
    answerable: bool
    found: bool
    half: str
    language: str


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    right = Counter(wanted for wanted, got in pairs if wanted == got)
    wanted, got = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return sum(2 * right[label] / (wanted[label] + got[label]) for label in wanted) / len(wanted)


def sorting(file: str, label: str, table: str) -> None:
    judge: Callable[[str], str] = lambda text: shipped(table).judge(text).label  # noqa: E731
    for half in (*HALVES, "unseen"):
        path = DATA / (f"{file}_{half}.jsonl" if half in APART else f"{file}.jsonl")
        if not path.exists():
            continue
        pairs = [(row[label].lower(), judge(row["text"])) for row in rows(path, half=half)]
        accuracy = sum(wanted == got for wanted, got in pairs) / len(pairs)
        print(f"{table:<10} {half:<10} macro F1 {macro_f1(pairs):.3f}  accuracy {accuracy:.3f}  ({len(pairs)})")


def judged() -> list[Judged]:
    """Ask every question of everything that is remembered."""
    embedder = get_embedder("memory")
    memories = [row for name in ("memories", "fresh_memories") for row in rows(DATA / f"abstention_{name}.jsonl")]
    questions = [row for name in ("questions", "fresh") for row in rows(DATA / f"abstention_{name}.jsonl")]
    stored = np.asarray(embedder.embed_document([memory["text"] for memory in memories]))
    asked = np.asarray(embedder.embed_query([question["text"] for question in questions]))
    return [_judged(question, memories, cosines) for question, cosines in zip(questions, asked @ stored.T, strict=True)]


def _judged(question: dict[str, Any], memories: list[dict[str, Any]], cosines: Any) -> Judged:
    order = np.argsort(-cosines)[:CANDIDATES]
    seen = [Seen(memories[place]["text"], float(cosines[place])) for place in order]
    first = {memories[place]["id"] for place in order[:3]}
    told = signs(question["text"], seen, get_embedder("memory").embed_words)
    found = bool(first & set(question["relevant_ids"]))
    return Judged(told, question["answerable"], found, question["half"], question["language"])


def fit(questions: list[Judged]) -> Threshold:
    """Logistic weights of the signs, and the least support that keeps false recall at its aim in cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import RepeatedStratifiedKFold

    known = [one for one in questions if one.half != "fresh"]
    names = list(vars(known[0].signs))
    table = np.array([[getattr(one.signs, name) for name in names] for one in known])
    answerable = np.array([one.answerable for one in known])
    model = LogisticRegression(C=10.0).fit(table, answerable)
    unseen = []
    for learnt, held in RepeatedStratifiedKFold(n_splits=6, n_repeats=10, random_state=7).split(table, answerable):
        support = LogisticRegression(C=10.0).fit(table[learnt], answerable[learnt]).predict_proba(table[held])[:, 1]
        unseen += list(zip(support, answerable[held], strict=True))
    least = float(np.quantile([support for support, yes in unseen if not yes], 1 - FALSE_RECALL))
    kept = np.mean([support >= least for support, yes in unseen if yes])
    print(f"cross-validated: answered {kept:.3f} at false recall {FALSE_RECALL}")
    weights = {name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)}
    return Threshold(bias=round(float(model.intercept_[0]), 3), least=round(least, 2), **weights)


def abstention(questions: list[Judged], threshold: Threshold) -> None:
    for half in HALVES:
        for language in ("en", "ru", "ko", ""):
            some = [one for one in questions if one.half == half and (not language or one.language == language)]
            _print_rates(f"{half} {language or 'all'}", some, threshold)


def _print_rates(name: str, questions: list[Judged], threshold: Threshold) -> None:
    answered = [threshold.support(one.signs) >= threshold.least for one in questions]
    pairs = list(zip(questions, answered, strict=True))
    yes = [said for one, said in pairs if one.answerable]
    no = [said for one, said in pairs if not one.answerable]
    found = [one.found for one in questions if one.answerable]
    print(
        f"abstention {name:<14} answered {sum(yes) / len(yes):.3f}  false recall {sum(no) / len(no):.3f}  "
        f"answer among first three {sum(found) / len(found):.3f}  ({len(questions)})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    connect("memory37_agent_bench")
    sorting("events", "bucket", "buckets")
    sorting("intents", "intent", "intents")
    name = get_embedder("memory").name
    questions = judged()
    threshold = fit(questions) if options.fit else threshold_for(name)
    print(f'"{name}": {vars(threshold)}')
    abstention(questions, threshold)


if __name__ == "__main__":
    main()
