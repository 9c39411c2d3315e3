"""Abstention, measured: are answerable questions answered, and is silence kept on the others?

Every question is asked of all memories of all sets together ("of all"), and of those of its own set ("of its own").
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled import DATA, rows
from memories import standalone  # noqa: F401  (sets Django up, before any model is imported)
from memories.buckets.abstaining import Seen, Signs, Threshold, signs
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


@dataclass(frozen=True)
class Asked:
    """A question with its signs (with vectors and without), and whether its answer stands among the first three."""

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


def ask(questions: list[dict[str, Any]], memories: list[dict[str, Any]], *, author: str, pool: str) -> list[Asked]:
    embedder = get_embedder("memory")
    stored = np.asarray(embedder.embed_document([memory["text"] for memory in memories]))
    asked = np.asarray(embedder.embed_query([question["text"] for question in questions]))
    return [
        _asked(question, memories, cosines, author=author, pool=pool)
        for question, cosines in zip(questions, asked @ stored.T, strict=True)
    ]


def _asked(question: dict[str, Any], memories: list[dict[str, Any]], cosines: Any, *, author: str, pool: str) -> Asked:
    order = np.argsort(-cosines)[:CANDIDATES]
    seen = [Seen(memories[place]["text"], float(cosines[place])) for place in order]
    words_only = [Seen(memory["text"], None) for memory in memories]
    first = {memories[place]["id"] for place in order[:3]}
    return Asked(
        signs(question["text"], seen, get_embedder("memory").embed_words), signs(question["text"], words_only),
        question["answerable"], bool(first & set(question["relevant_ids"])), author, pool, question["language"],
    )  # fmt: skip


def _files(questions: str, memories: str) -> tuple[Path, Path]:
    return DATA / f"abstention_{questions}.jsonl", DATA / f"abstention_{memories}.jsonl"


def _read(pairs: Sequence[tuple[Path, Path]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [row for file, _ in pairs for row in rows(file)], [row for _, file in pairs for row in rows(file)]


def fit(known: Sequence[Asked], *, bare: bool = False) -> Threshold:
    """Logistic weights of the signs, and the least support that `ANSWERED` of each author's questions reach, when the
    weights are those of the other authors."""
    threshold = _weights(known, bare=bare)
    unseen = [
        support for author in {one.author for one in known} for support in _of_answerable(known, author, bare=bare)
    ]
    return replace(threshold, least=round(float(np.quantile(unseen, 1 - ANSWERED)), 2))


def _of_answerable(known: Sequence[Asked], author: str, *, bare: bool) -> list[float]:
    others = _weights([one for one in known if one.author != author], bare=bare)
    return [others.support(_signs(one, bare)) for one in known if one.author == author and one.answerable]


def _weights(known: Sequence[Asked], *, bare: bool) -> Threshold:
    from sklearn.linear_model import LogisticRegression

    names = list(vars(known[0].signs))
    table = np.array([[getattr(_signs(one, bare), name) for name in names] for one in known])
    model = LogisticRegression(C=1.0).fit(table, [one.answerable for one in known])
    weights = {name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)}
    return Threshold(bias=round(float(model.intercept_[0]), 3), least=0.5, **weights)


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


def report(name: str, asked: Sequence[Asked], threshold: Threshold, *, bare: bool = False) -> None:
    for language in (*LANGUAGES, ""):
        some = [one for one in asked if not language or one.language == language]
        support = np.array([threshold.support(_signs(one, bare)) for one in some])
        yes = np.array([one.answerable for one in some])
        found = np.mean([one.found for one in some if one.answerable])
        print(
            f"abstention {name:<18} {language or 'all':<4} answered {np.mean(support[yes] >= threshold.least):.3f}  "
            f"false recall {np.mean(support[~yes] >= threshold.least):.3f}  {_curve(support, yes)}  "
            f"answer among first three {found:.3f}  ({len(some)})"
        )


def _curve(support: Any, yes: Any) -> str:
    """What a threshold drawn with hindsight could do, and the area under the curve of all thresholds."""
    tenth, most = np.quantile(support[~yes], 0.9), np.quantile(support[yes], 1 - ANSWERED)
    area = np.mean(support[yes][:, None] > support[~yes][None, :])
    return (
        f"[area {area:.2f}; at a tenth falsely recalled {np.mean(support[yes] > tenth):.2f} answered; "
        f"at {ANSWERED:.2f} answered {np.mean(support[~yes] >= most):.2f} falsely recalled]"
    )
