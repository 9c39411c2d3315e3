"""Quality of abstention: the shares of answerable and of unanswerable questions that get an answer.

Every question is asked over the memories of all sets ("of all") and over those of its own set ("of
its own").
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA, load_rows
from memories.buckets.abstention import AnswerThreshold, Candidate, Signs, rank_candidates, signs
from memories.buckets.answer_check import MAX_MEMORIES
from retrieval.embedders import get_embedder

CANDIDATES = 100
LANGUAGES = ("en", "ru", "ko")
SETS = {
    "first": [("questions", "memories"), ("fresh", "fresh_memories")],
    "a": [("a", "a_memories")],
    "b": [("b", "b_memories")],
}
"""By author: files of questions, and of the memories that may answer them."""
TARGET_ANSWERED = 0.85
"""The share of a held-out author's answerable questions that the threshold has to answer."""
MAX_STRAY = 0.03
"""The largest share of any held-out author's questions on the wrong side of a bound beyond which no
model is asked."""
TRIED_LEAST = (0.2, 0.25, 0.3, 0.33, 0.37, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
"""Thresholds whose trade-off is printed."""


@dataclass(frozen=True)
class LabelledResult:
    """A question with its signs (with vectors and without), and whether its answer is among the
    memories that a language model would get."""

    signs: Signs
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
    return ask(
        load_rows(questions), load_rows(memories), author=questions.parent.name, pool="of its own"
    )


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
    return LabelledResult(
        signs(question["text"], seen, get_embedder("memory").embed_words),
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
    """Logistic weights of the signs; the least support that `ANSWERED` of the authors' questions
    reach, each author's with the weights of the others; and the bounds that suit the author whom
    they suit worst."""
    supports = supports_by_author(results, bare=bare)
    everybodys = np.concatenate([answerable for answerable, _others in supports.values()])
    lowest = min(np.quantile(answerable, MAX_STRAY) for answerable, _others in supports.values())
    highest = max(np.quantile(others, 1 - MAX_STRAY) for _answerable, others in supports.values())
    return replace(
        fit_weights(results, bare=bare),
        least=round(float(np.quantile(everybodys, 1 - TARGET_ANSWERED)), 2),
        lower=floor(lowest * 100) / 100,
        upper=ceil(highest * 100) / 100,
    )


def supports_by_author(
    results: Sequence[LabelledResult], *, bare: bool
) -> dict[str, tuple[Any, Any]]:
    """Return per author the supports of the answerable questions and of the others, by weights
    fitted to the other authors."""
    supports: dict[str, tuple[Any, Any]] = {}
    for author in dict.fromkeys(one.author for one in results):
        others = fit_weights([one for one in results if one.author != author], bare=bare)
        own = [
            (one.answerable, others.support(signs_of(one, bare)))
            for one in results
            if one.author == author
        ]
        supports[author] = (
            np.array([support for is_answerable, support in own if is_answerable]),
            np.array([support for is_answerable, support in own if not is_answerable]),
        )
    return supports


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


def fit_weights(results: Sequence[LabelledResult], *, bare: bool) -> AnswerThreshold:
    from sklearn.linear_model import LogisticRegression

    names = list(vars(results[0].signs))
    table = np.array([[getattr(signs_of(one, bare), name) for name in names] for one in results])
    model = LogisticRegression(C=1.0).fit(table, [one.answerable for one in results])
    weights = {
        name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)
    }
    return AnswerThreshold(bias=round(float(model.intercept_[0]), 3), least=0.5, **weights)


def signs_of(one: LabelledResult, bare: bool) -> Signs:
    return one.bare if bare else one.signs


def print_held_out(results: Sequence[LabelledResult], *, bare: bool = False) -> None:
    """Print the result of each author's questions with weights fitted to the other authors and one
    threshold for all."""
    least = fit(results, bare=bare).least
    for author in SETS:
        others = fit_weights([one for one in results if one.author != author], bare=bare)
        for pool in ("of all", "of its own"):
            of_author = [one for one in results if (one.author, one.pool) == (author, pool)]
            name = f"{'words ' if bare else ''}{author} {pool}"
            print_report(name, of_author, replace(others, least=least), bare=bare)


def print_report(
    name: str, results: Sequence[LabelledResult], threshold: AnswerThreshold, *, bare: bool = False
) -> None:
    for language in (*LANGUAGES, ""):
        some = [one for one in results if not language or one.language == language]
        support = np.array([threshold.support(signs_of(one, bare)) for one in some])
        yes = np.array([one.answerable for one in some])
        answer_share = np.mean([one.has_answer for one in some if one.answerable])
        print(
            f"abstention {name:<18} {language or 'all':<4} "
            f"answered {np.mean(support[yes] >= threshold.least):.3f}  "
            f"false recall {np.mean(support[~yes] >= threshold.least):.3f}  "
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
