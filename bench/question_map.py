"""The linear map of questions (`memories/search/question_map.py`): how well it finds memories of an
author whom it was not fitted to, and its fit to all: `python -m bench.question_map [--write]`.

Fitted to the answerable questions of `bench.abstention` in three languages and to pairs of a
memory and a question in quite other words (`question_pairs_*.jsonl`), by gradient descent on the
cross entropy of the right memory among all memories of its language; the map is drawn to the
identity, because there are far fewer questions than coefficients. Own words and short memories are
asked once more at the end: nothing is fitted to them.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.labelled_sets import DATA, load_rows, own_memory_sets
from bench.metrics import measures_of

Floats = NDArray[np.floating[Any]]

STEPS, RATE, MOMENTUM = 50, 0.3, 0.9
SHARPNESS = 20.0
"""Of the softmax over cosines."""
TO_IDENTITY = 0.03
RANK = 128
PAIRS = "question_pairs_*.jsonl"
"""By two authors a language; the language is part of the name."""
MEASURED = ("ru", "ko")
"""The languages whose questions are mapped. English pairs are fitted to as well."""


@dataclass(frozen=True)
class Pairs:
    """The vectors of questions and of memories in one language, and which memories answer which
    question, in rows that sum to 1."""

    author: str
    language: str
    questions: Floats
    memories: Floats
    answers: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the map of all authors.")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    import django

    django.setup()
    sets = [pairs for author, rows in authors() for pairs in embed(author, *rows)]
    names = list(dict.fromkeys(pairs.author for pairs in sets))
    for name in names:
        factors = low_rank(fit([pairs for pairs in sets if pairs.author != name]))
        own = [pairs for pairs in sets if pairs.author == name]
        print_figures(name, own, *factors)
    factors = low_rank(fit(sets))
    if options.write:
        from memories.search.question_map import PATH

        left, right = (factor.astype(np.float16) for factor in factors)
        np.savez_compressed(PATH, left=left, right=right)
    for dataset in own_memory_sets():
        scopes = [pairs for language in MEASURED for pairs in of_dataset(dataset, language)]
        print_figures(dataset.name, scopes, *factors)


def authors() -> list[tuple[str, tuple[Any, Any]]]:
    """Return the questions and the memories of each author."""
    from bench.abstention import SETS, files_of, load_pairs

    asked = [
        (name, load_pairs([files_of(*pair) for pair in pairs])) for name, pairs in SETS.items()
    ]
    return [*asked, *((path.stem, written_pairs(path)) for path in sorted(DATA.glob(PAIRS)))]


def written_pairs(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    language, rows = path.stem.split("_")[2], load_rows(path)
    questions = [
        {"text": row["question"], "relevant_ids": [row["id"]], "answerable": True} for row in rows
    ]
    memories = [{"id": row["id"], "text": row["memory"]} for row in rows]
    return [each | {"language": language} for each in questions], [
        each | {"language": language} for each in memories
    ]


def embed(author: str, questions: Any, memories: Any) -> list[Pairs]:
    """Return the answerable questions of each language with the memories of that language."""
    return [
        pairs_of(
            author,
            language,
            [
                (row["text"], row["relevant_ids"])
                for row in questions
                if row["language"] == language and row["answerable"]
            ],
            [(row["id"], row["text"]) for row in memories if row["language"] == language],
        )
        for language in ("en", "ru", "ko")
        if any(row["language"] == language for row in questions)
    ]


def of_dataset(dataset: Any, language: str) -> list[Pairs]:
    """Return one `Pairs` for each scope: a question is asked within its own."""
    asked = [question for question in dataset.questions if question.meta["lang"] == language]
    return [
        pairs_of(
            f"{dataset.name} {scope}",
            language,
            [(each.text, each.relevant) for each in asked if each.scope == scope],
            [(each.id, each.text) for each in dataset.documents if each.scope == scope],
        )
        for scope in dict.fromkeys(question.scope for question in asked)
    ]


def pairs_of(
    author: str, language: str, questions: Sequence[Any], memories: Sequence[tuple[str, str]]
) -> Pairs:
    answers = np.array(
        [[id_ in relevant for id_, _text in memories] for _text, relevant in questions], np.float32
    )
    return Pairs(
        author,
        language,
        vectors([text for text, _relevant in questions], op="query"),
        vectors([text for _id, text in memories], op="document"),
        answers / answers.sum(axis=1, keepdims=True),
    )


def vectors(texts: Sequence[str], *, op: str) -> Floats:
    """Return the parts of USE and e5, English texts read as those in other scripts are."""
    from retrieval.embedders.local import OTHER_SHARES, embed_e5, embed_use

    not_latin = np.zeros(len(texts), dtype=bool)
    parts = {
        "use": embed_use(list(texts), not_latin),
        "e5": embed_e5(list(texts), not_latin, op=op),
    }
    rows = [part * np.sqrt(OTHER_SHARES[op][name]) for name, part in parts.items()]
    return np.hstack(rows).astype(np.float32)


def fit(sets: Sequence[Pairs]) -> Floats:
    """Return the map, shape (parts, parts): the vector of a question is multiplied by it."""
    by_language = [joined(sets, each) for each in dict.fromkeys(pairs.language for pairs in sets)]
    count = sum(len(questions) for questions, _memories, _answers in by_language)
    identity = np.eye(by_language[0][0].shape[1], dtype=np.float32)
    found, speed = identity.copy(), np.zeros_like(identity)
    for _step in range(STEPS):
        slope = 2 * TO_IDENTITY * (found - identity)
        for questions, memories, answers in by_language:
            guessed = softmax(SHARPNESS * questions @ found @ memories.T)
            slope += SHARPNESS * questions.T @ ((guessed - answers) @ memories) / count
        speed = MOMENTUM * speed - RATE / (2 * TO_IDENTITY + 4) * slope
        found = found + speed
    return found


def joined(sets: Sequence[Pairs], language: str) -> tuple[Floats, Floats, Floats]:
    """Return the pairs of all authors in one language, each beside the memories of all."""
    chosen = [pairs for pairs in sets if pairs.language == language]
    widths = [len(pairs.memories) for pairs in chosen]
    starts = np.cumsum([0, *widths[:-1]])
    rows = []
    for pairs, start in zip(chosen, starts, strict=True):
        row = np.zeros((len(pairs.questions), sum(widths)), dtype=np.float32)
        row[:, start : start + len(pairs.memories)] = pairs.answers
        rows.append(row)
    return (
        np.vstack([pairs.questions for pairs in chosen]),
        np.vstack([pairs.memories for pairs in chosen]),
        np.vstack(rows),
    )


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def low_rank(found: Floats) -> tuple[Floats, Floats]:
    """Return the two factors of what the map adds to the identity."""
    left, sizes, right = np.linalg.svd(found - np.eye(len(found), dtype=np.float32))
    return left[:, :RANK] * sizes[:RANK], right[:RANK]


def print_figures(name: str, sets: Sequence[Pairs], left: Floats, right: Floats) -> None:
    """Print how often the answer is first, and nDCG@10, without the map and with it."""
    for language in MEASURED:
        chosen = [pairs for pairs in sets if pairs.language == language]
        if not chosen:
            continue
        ways = {
            "before": [measure(pairs, pairs.questions) for pairs in chosen],
            "after": [
                measure(pairs, pairs.questions + pairs.questions @ left @ right) for pairs in chosen
            ],
        }
        shown = [
            f"{np.mean([first for first, _gain in rows]):.3f} "
            f"({np.mean([gain for _first, gain in rows]):.3f})"
            for rows in ([row for each in parts for row in each] for parts in ways.values())
        ]
        count = sum(len(pairs.questions) for pairs in chosen)
        print(f"{name} {language} ({count}): {' → '.join(shown)}", flush=True)


def measure(pairs: Pairs, questions: Floats) -> list[tuple[float, float]]:
    """Return for each question whether its answer is first, and its nDCG@10."""
    order = np.argsort(-questions @ pairs.memories.T, axis=1, kind="stable")[:, :10]
    rows = []
    for best, answers in zip(order, pairs.answers, strict=True):
        relevant = frozenset(map(str, np.flatnonzero(answers)))
        gain = measures_of([str(place) for place in best], relevant)["nDCG@10"]
        rows.append((float(answers[best[0]] > 0), gain))
    return rows


if __name__ == "__main__":
    main()
