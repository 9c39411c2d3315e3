"""Quality of abstention: the shares of answerable and of unanswerable questions that get an answer.

Every question is asked over the memories of all sets ("of all") and over those of its own set ("of
its own").
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA, load_rows
from bench.statement_pairs import UNSEEN_QUESTIONS
from bench.trees import Boosting, logistic_sum
from memories.buckets.abstention import AnswerThreshold, Signs, signs
from memories.buckets.answer_check import MAX_MEMORIES
from memories.buckets.answer_signs import FALLING, RISING, signs_of_answer, signs_together
from memories.buckets.question_fit import Candidate, rank_candidates
from memories.similarity.pairs import LogisticSum, logit
from memories.similarity.trees import BoostedTrees
from retrieval.embedders import get_embedder
from retrieval.embedders.local import LocalEmbedder, WholeTextEmbedder

CANDIDATES = 100
LANGUAGES = ("en", "ru", "ko")
SETS = {
    "first": [("questions", "memories"), ("fresh", "fresh_memories")],
    "a": [("a", "a_memories")],
    "b": [("b", "b_memories")],
    "d": [("d", "d_memories")],
    "e": [("e", "e_memories")],
}
"""By author: files of questions, and of the memories that may answer them."""
BY_WORDS = ("first", "a", "b")
"""The authors to whom the weights of words alone are fitted: the questions of the others share so
few words with what answers them that a common word would count against an answer."""
TARGET_ANSWERED = 0.85
"""The share of a held-out author's answerable questions that the threshold has to answer."""
MAX_STRAY = 0.03
"""The largest share of any held-out author's questions on the wrong side of a bound beyond which no
model is asked."""
TRIED_LEAST = (0.2, 0.25, 0.3, 0.33, 0.37, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
"""Thresholds whose trade-off is printed."""
BOOSTING = Boosting(trees=400, depth=2, rate=0.3)


@dataclass(frozen=True)
class LabelledResult:
    """A question with its signs (those of the trees, those of the pairs, which are empty where the
    model of pairs was trained on the author, and those by words alone), and whether its answer is
    among the memories that a language model would get."""

    signs: dict[str, float]
    pairs: dict[str, float]
    bare: Signs
    answerable: bool
    has_answer: bool
    author: str
    pool: str
    language: str


def ask_all() -> list[LabelledResult]:
    """Ask every question of the labelled sets over both pools of memories."""
    sets = {
        author: load_pairs([files_of(*pair) for pair in pairs]) for author, pairs in SETS.items()
    }
    everything = [memory for _questions, memories in sets.values() for memory in memories]
    return [
        result
        for author, (questions, own) in sets.items()
        for pool, memories in (("of all", everything), ("of its own", own))
        for result in ask(questions, memories, author=author, pool=pool)
    ]


def ask_files(questions: Path, memories: Path) -> list[LabelledResult]:
    """Ask the questions of another set over its own memories."""
    asked = [
        {
            **row,
            "language": row.get("language") or row["lang"],
            "relevant_ids": row.get("relevant_ids", row.get("relevant")),
        }
        for row in load_rows(questions)
    ]
    return ask(asked, load_rows(memories), author=questions.parent.name, pool="of its own")


def ask(
    questions: list[dict[str, Any]], memories: list[dict[str, Any]], *, author: str, pool: str
) -> list[LabelledResult]:
    embedder = get_embedder("memory")
    stored = np.asarray(embedder.embed_document([memory["text"] for memory in memories]))
    query_vectors = np.asarray(embedder.embed_query([question["text"] for question in questions]))
    return [
        result_of(question, memories, cosines, author=author, pool=pool)
        for question, cosines in zip(questions, query_vectors @ stored.T, strict=True)
    ]


def result_of(
    question: dict[str, Any],
    memories: list[dict[str, Any]],
    cosines: Any,
    *,
    author: str,
    pool: str,
) -> LabelledResult:
    order = np.argsort(-cosines)[:CANDIDATES]
    seen = [Candidate(memories[place]["text"], float(cosines[place])) for place in order]
    words_only = [Candidate(memory["text"], None) for memory in memories]
    first = {
        memories[order[place]]["id"]
        for place in rank_candidates(question["text"], seen)[:MAX_MEMORIES]
    }
    is_unseen = author in UNSEEN_QUESTIONS or author not in SETS
    return LabelledResult(
        signs_of_answer(question["text"], seen),
        signs_together(question["text"], seen, by_trees=0.5) if is_unseen else {},
        signs(question["text"], words_only),
        question["answerable"],
        bool(first & set(question["relevant_ids"])),
        author,
        pool,
        question["language"],
    )


def files_of(questions: str, memories: str) -> tuple[Path, Path]:
    return DATA / f"abstention_{questions}.jsonl", DATA / f"abstention_{memories}.jsonl"


def load_pairs(
    pairs: Sequence[tuple[Path, Path]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [row for file, _ in pairs for row in load_rows(file)], [
        row for _, file in pairs for row in load_rows(file)
    ]


def fit(results: Sequence[LabelledResult], *, bare: bool = False) -> AnswerThreshold:
    """Return the threshold: with `bare`, logistic weights of the signs of words; the least support
    that `TARGET_ANSWERED` of the authors' questions reach, each author's by what was fitted to the
    others; and the bounds that suit the author whom they suit worst."""
    supports = supports_by_author(results, bare=bare)
    everybodys = np.concatenate([answerable for answerable, _others in supports.values()])
    lowest = min(np.quantile(answerable, MAX_STRAY) for answerable, _others in supports.values())
    highest = max(np.quantile(others, 1 - MAX_STRAY) for _answerable, others in supports.values())
    return replace(
        fit_weights(results) if bare else AnswerThreshold(bias=0.0, least=0.5),
        least=round(float(np.quantile(everybodys, 1 - TARGET_ANSWERED)), 2),
        lower=floor(lowest * 100) / 100,
        upper=ceil(highest * 100) / 100,
    )


def supports_by_author(
    results: Sequence[LabelledResult], *, bare: bool
) -> dict[str, tuple[Any, Any]]:
    """Return per author the supports of the answerable questions and of the others, by what was
    fitted to the other authors."""
    supports: dict[str, tuple[Any, Any]] = {}
    for author in dict.fromkeys(one.author for one in results):
        own = [one for one in results if one.author == author]
        others = [one for one in results if one.author != author]
        given = supports_of(own, fit_supports(others, bare=bare))
        yes = np.array([one.answerable for one in own])
        supports[author] = (given[yes], given[~yes])
    return supports


Supports = Callable[[Sequence[LabelledResult]], Any]


def supports_of(results: Sequence[LabelledResult], supports: Supports) -> Any:
    return np.asarray(supports(results))


def fit_supports(results: Sequence[LabelledResult], *, bare: bool) -> Supports:
    """Return what gives results their supports: by weights of words, or by trees and pairs."""
    if bare:
        weights = fit_weights(results)
        return lambda asked: [weights.support(one.bare) for one in asked]
    trees = BoostedTrees.of(fit_trees(results))
    return supports_together(trees, LogisticSum(**fit_together(results)))


def supports_together(trees: BoostedTrees, together: LogisticSum) -> Supports:
    """Return what weighs the trees and the pairs; without pairs the trees alone count."""

    def supports(asked: Sequence[LabelledResult]) -> Any:
        by_trees = trees.probabilities([[*one.signs.values()] for one in asked])
        return [
            together.probability({**one.pairs, "trees": logit(own)}) if one.pairs else own
            for one, own in zip(asked, by_trees, strict=True)
        ]

    return supports


def fit_together(results: Sequence[LabelledResult]) -> dict[str, Any]:
    """Fit the logistic sum to the authors whom the model of pairs has not seen, each author's trees
    fitted to the others."""
    rows, labels, weights = [], [], []
    for author in dict.fromkeys(one.author for one in results if one.pairs):
        own = [one for one in results if one.author == author]
        others = [one for one in results if one.author != author]
        trees = BoostedTrees.of(fit_trees(others or own))
        by_trees = trees.probabilities([[*one.signs.values()] for one in own])
        rows += [
            {**one.pairs, "trees": logit(tree)} for one, tree in zip(own, by_trees, strict=True)
        ]
        labels += [one.answerable for one in own]
        weights += [1 / len(own)] * len(own)
    return logistic_sum(rows, labels, weights)


def fit_trees(results: Sequence[LabelledResult]) -> dict[str, Any]:
    """Fit trees that respect `RISING` and `FALLING`. Each author counts the same."""
    names = [*results[0].signs]
    table = np.array([[*one.signs.values()] for one in results], dtype=float)
    labels = np.array([one.answerable for one in results], dtype=float)
    counts = Counter(one.author for one in results)
    weights = np.array([len(results) / len(counts) / counts[one.author] for one in results])
    order = [1 if name in RISING else -1 if name in FALLING else 0 for name in names]
    return {"signs": names, **BOOSTING.fit(table, labels, weights, order=order)}


def model_of(results: Sequence[LabelledResult]) -> dict[str, Any]:
    """Return what `answer_signs.json` holds. The former default is served by the same trees."""
    embedders = [LocalEmbedder.name, WholeTextEmbedder.name]
    return {"embedders": embedders, "together": fit_together(results), **fit_trees(results)}


def print_trade_off(results: Sequence[LabelledResult], *, bare: bool = False) -> None:
    """Print the effect of each threshold on held-out authors, and the share of questions that the
    bounds leave to a model."""
    supports, threshold = supports_by_author(results, bare=bare), fit(results, bare=bare)
    for least in TRIED_LEAST:
        shares = "  ".join(
            f"{author} {np.mean(yes >= least):.2f} / {np.mean(no >= least):.2f}"
            for author, (yes, no) in supports.items()
        )
        print(f"least {least:.2f}  answered / false recall  {shares}")
    for author, (yes, no) in supports.items():
        print(
            f"bounds {author}: lost below {threshold.lower} {np.mean(yes < threshold.lower):.3f}, "
            f"falsely recalled from {threshold.upper} {np.mean(no >= threshold.upper):.3f}; "
            f"left to a model: answerable {share_unclear(yes, threshold):.2f}, "
            f"others {share_unclear(no, threshold):.2f}"
        )


def share_unclear(supports: Any, fitted: AnswerThreshold) -> float:
    return float(np.mean([fitted.is_unclear(support) for support in supports]))


def fit_weights(results: Sequence[LabelledResult]) -> AnswerThreshold:
    from sklearn.linear_model import LogisticRegression

    names = list(vars(results[0].bare))
    table = np.array([[getattr(one.bare, name) for name in names] for one in results])
    model = LogisticRegression(C=1.0).fit(table, [one.answerable for one in results])
    weights = {
        name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)
    }
    return AnswerThreshold(bias=round(float(model.intercept_[0]), 3), least=0.5, **weights)


def print_held_out(results: Sequence[LabelledResult], *, bare: bool = False) -> None:
    """Print the result of each author's questions by what was fitted to the other authors, with one
    threshold for all."""
    least = fit(results, bare=bare).least
    for author in dict.fromkeys(one.author for one in results):
        others = fit_supports([one for one in results if one.author != author], bare=bare)
        for pool in ("of all", "of its own"):
            of_author = [one for one in results if (one.author, one.pool) == (author, pool)]
            name = f"{'words ' if bare else ''}{author} {pool}"
            print_report(name, of_author, others, least=least)


def print_report(
    name: str, results: Sequence[LabelledResult], supports: Supports, *, least: float
) -> None:
    for language in (*LANGUAGES, ""):
        some = [one for one in results if not language or one.language == language]
        support = supports_of(some, supports)
        yes = np.array([one.answerable for one in some])
        answer_share = np.mean([one.has_answer for one in some if one.answerable])
        print(
            f"abstention {name:<18} {language or 'all':<4} "
            f"answered {np.mean(support[yes] >= least):.3f}  "
            f"false recall {np.mean(support[~yes] >= least):.3f}  "
            f"{describe_curve(support, yes)}  "
            f"answer among the shown {answer_share:.3f}  ({len(some)})"
        )


def describe_curve(support: Any, yes: Any) -> str:
    """Describe the best threshold in hindsight, and the area under the curve of all thresholds."""
    tenth, most = np.quantile(support[~yes], 0.9), np.quantile(support[yes], 1 - TARGET_ANSWERED)
    area = np.mean(support[yes][:, None] > support[~yes][None, :])
    return (
        f"[area {area:.2f}; at a tenth falsely recalled "
        f"{np.mean(support[yes] > tenth):.2f} answered; "
        f"at {TARGET_ANSWERED:.2f} answered {np.mean(support[~yes] >= most):.2f} falsely recalled]"
    )
