"""Abstention, measured: are answerable questions answered, and is silence kept on the others?

Every question is asked of all memories of all sets together ("of all"), and of those of its own set ("of its own").
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled import DATA, rows
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
"""By author: files of questions and of the memories they are asked of."""
ANSWERED = 0.85
"""Of the answerable questions of a held-out author so many are to be answered; how many others are, is reported."""
STRAY = 0.03
"""Of no held-out author more than this share lies on the wrong side of a bound beyond which no model is asked."""
TRIED = (0.2, 0.25, 0.3, 0.33, 0.37, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
"""Least supports whose trade-off is printed."""


@dataclass(frozen=True)
class Asked:
    """A question with its signs (with vectors and without), and whether its answer stands among those that a
    language model would be shown."""

    signs: Signs
    bare: Signs
    answerable: bool
    found: bool
    author: str
    pool: str
    language: str


def ask_all() -> list[Asked]:
    """Ask every question of the labelled sets twice."""
    sets = {author: _read([_files(*pair) for pair in pairs]) for author, pairs in SETS.items()}
    everything = [memory for _questions, memories in sets.values() for memory in memories]
    return [
        asked
        for author, (questions, own) in sets.items()
        for pool, memories in (("of all", everything), ("of its own", own))
        for asked in ask(questions, memories, author=author, pool=pool)
    ]


def ask_files(questions: Path, memories: Path) -> list[Asked]:
    """Ask questions of a set that stands elsewhere, of its memories."""
    return ask(rows(questions), rows(memories), author=questions.parent.name, pool="of its own")


def ask(
    questions: list[dict[str, Any]], memories: list[dict[str, Any]], *, author: str, pool: str
) -> list[Asked]:
    embedder = get_embedder("memory")
    stored = np.asarray(embedder.embed_document([memory["text"] for memory in memories]))
    asked = np.asarray(embedder.embed_query([question["text"] for question in questions]))
    return [
        _asked(question, memories, cosines, author=author, pool=pool)
        for question, cosines in zip(questions, asked @ stored.T, strict=True)
    ]


def _asked(
    question: dict[str, Any],
    memories: list[dict[str, Any]],
    cosines: Any,
    *,
    author: str,
    pool: str,
) -> Asked:
    order = np.argsort(-cosines)[:CANDIDATES]
    seen = [Candidate(memories[place]["text"], float(cosines[place])) for place in order]
    words_only = [Candidate(memory["text"], None) for memory in memories]
    first = {
        memories[order[place]]["id"]
        for place in rank_candidates(question["text"], seen)[:MAX_MEMORIES]
    }
    return Asked(
        signs(question["text"], seen, get_embedder("memory").embed_words),
        signs(question["text"], words_only),
        question["answerable"],
        bool(first & set(question["relevant_ids"])),
        author,
        pool,
        question["language"],
    )


def _files(questions: str, memories: str) -> tuple[Path, Path]:
    return DATA / f"abstention_{questions}.jsonl", DATA / f"abstention_{memories}.jsonl"


def _read(pairs: Sequence[tuple[Path, Path]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [row for file, _ in pairs for row in rows(file)], [
        row for _, file in pairs for row in rows(file)
    ]


def fit(known: Sequence[Asked], *, bare: bool = False) -> AnswerThreshold:
    """Logistic weights of the signs; the least support that `ANSWERED` of the authors' questions reach, each author's
    with the weights of the others; and the bounds that suit the author whom they suit worst."""
    supports = _unseen(known, bare=bare)
    everybodys = np.concatenate([answerable for answerable, _others in supports.values()])
    lowest = min(np.quantile(answerable, STRAY) for answerable, _others in supports.values())
    highest = max(np.quantile(others, 1 - STRAY) for _answerable, others in supports.values())
    return replace(
        _weights(known, bare=bare),
        least=round(float(np.quantile(everybodys, 1 - ANSWERED)), 2),
        lower=floor(lowest * 100) / 100,
        upper=ceil(highest * 100) / 100,
    )


def _unseen(known: Sequence[Asked], *, bare: bool) -> dict[str, tuple[Any, Any]]:
    """Of each author the supports of the answerable questions and of the others, with the weights of the other
    authors."""
    found = {}
    for author in dict.fromkeys(one.author for one in known):
        others = _weights([one for one in known if one.author != author], bare=bare)
        own = [
            (one.answerable, others.support(_signs(one, bare)))
            for one in known
            if one.author == author
        ]
        found[author] = tuple(
            np.array([support for yes, support in own if yes is wanted]) for wanted in (True, False)
        )
    return found


def trade_off(known: Sequence[Asked], *, bare: bool = False) -> None:
    """Print what each least support does to authors held out, and how many questions the bounds leave to a model."""
    supports, fitted = _unseen(known, bare=bare), fit(known, bare=bare)
    for least in TRIED:
        shares = "  ".join(
            f"{author} {np.mean(yes >= least):.2f} / {np.mean(no >= least):.2f}"
            for author, (yes, no) in supports.items()
        )
        print(f"least {least:.2f}  answered / false recall  {shares}")
    for author, (yes, no) in supports.items():
        print(
            f"bounds {author}: lost below {fitted.lower} {np.mean(yes < fitted.lower):.3f}, falsely recalled from "
            f"{fitted.upper} {np.mean(no >= fitted.upper):.3f}; left to a model: answerable "
            f"{_between(yes, fitted):.2f}, others {_between(no, fitted):.2f}"
        )


def _between(supports: Any, fitted: AnswerThreshold) -> float:
    return float(np.mean([fitted.is_unclear(support) for support in supports]))


def _weights(known: Sequence[Asked], *, bare: bool) -> AnswerThreshold:
    from sklearn.linear_model import LogisticRegression

    names = list(vars(known[0].signs))
    table = np.array([[getattr(_signs(one, bare), name) for name in names] for one in known])
    model = LogisticRegression(C=1.0).fit(table, [one.answerable for one in known])
    weights = {
        name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)
    }
    return AnswerThreshold(bias=round(float(model.intercept_[0]), 3), least=0.5, **weights)


def _signs(one: Asked, bare: bool) -> Signs:
    return one.bare if bare else one.signs


def held_out(known: Sequence[Asked], *, bare: bool = False) -> None:
    """Print how each author's questions fare with weights that the other authors' have taught, and one least support
    for all."""
    least = fit(known, bare=bare).least
    for author in SETS:
        others = _weights([one for one in known if one.author != author], bare=bare)
        for pool in ("of all", "of its own"):
            of_author = [one for one in known if (one.author, one.pool) == (author, pool)]
            name = f"{'words ' if bare else ''}{author} {pool}"
            report(name, of_author, replace(others, least=least), bare=bare)


def report(
    name: str, asked: Sequence[Asked], threshold: AnswerThreshold, *, bare: bool = False
) -> None:
    for language in (*LANGUAGES, ""):
        some = [one for one in asked if not language or one.language == language]
        support = np.array([threshold.support(_signs(one, bare)) for one in some])
        yes = np.array([one.answerable for one in some])
        found = np.mean([one.found for one in some if one.answerable])
        print(
            f"abstention {name:<18} {language or 'all':<4} answered {np.mean(support[yes] >= threshold.least):.3f}  "
            f"false recall {np.mean(support[~yes] >= threshold.least):.3f}  {_curve(support, yes)}  "
            f"answer among the shown {found:.3f}  ({len(some)})"
        )


def _curve(support: Any, yes: Any) -> str:
    """What a threshold drawn with hindsight could do, and the area under the curve of all thresholds."""
    tenth, most = np.quantile(support[~yes], 0.9), np.quantile(support[yes], 1 - ANSWERED)
    area = np.mean(support[yes][:, None] > support[~yes][None, :])
    return (
        f"[area {area:.2f}; at a tenth falsely recalled {np.mean(support[yes] > tenth):.2f} answered; "
        f"at {ANSWERED:.2f} answered {np.mean(support[~yes] >= most):.2f} falsely recalled]"
    )
