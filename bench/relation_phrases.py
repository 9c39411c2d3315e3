"""Fit and measure which relation the words beside two names mean.

    python -m bench.relation_phrases          # cross-validated on our own phrases
    python -m bench.relation_phrases --fit    # fit to all of them, write paraphrases.npz

The phrases (bench/data/relation_phrases.txt) stand under a claim of the lexicon and the kinds of
its two names: `# leads P F` for a person (P) who leads a faction (F); L is a place, I an item, E an
event. `none` are phrases that say something else of such a pair.

A kernel ridge regression, in which phrases about the same kinds count twice. Stored are its weights
by kinds.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA
from bench.scratch import connect

PHRASES = DATA / "relation_phrases.txt"
RIDGE, FOLDS = 0.5, 10
MUTUAL = ("none", "allied", "enemy", "knows", "married", "betrothed")
ARTICLES = re.compile(r"\b(?:the|an?) ")


@dataclass(frozen=True)
class Phrase:
    """A phrase with slots: M0 is whom the claim is about. `kinds` of the names in their order."""

    text: str
    language: str
    kinds: str
    name: str


def read_phrases(path: Path = PHRASES) -> list[Phrase]:
    phrases, claim, a, b = [], "", "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            claim, a, b = line[1:].split()
        elif line:
            language, text = line.split("\t")
            phrases.append(_phrase(claim, (a, b), language, text))
    return phrases


def _phrase(claim: str, kinds: tuple[str, str], language: str, text: str) -> Phrase:
    from knowledge.fact_check.paraphrases import mask_names
    from retrieval.text import fold_name

    plain = fold_name(text.replace("{a}", "Qaq").replace("{b}", "Qbq")).replace("—", " ")
    plain = " ".join(ARTICLES.sub("", plain).split())
    slotted = re.sub(r"qaq", "M0_", plain)
    slotted = re.sub(r"qbq", "M1_", slotted)
    is_first = slotted.find("M0") < slotted.find("M1")
    order = "".join(kinds if is_first else kinds[::-1])
    is_turned = kinds[0] != kinds[1] or claim not in MUTUAL
    name = claim if is_first or not is_turned or claim == "none" else f"{claim}:second"
    return Phrase(mask_names(slotted, kinds, language), language, order, name)


def vectors_of(phrases: list[Phrase]) -> Any:
    from knowledge.fact_check.paraphrases import weigh_parts
    from retrieval.embedders import get_embedder

    rows = get_embedder("lore").embed_query([phrase.text for phrase in phrases])
    return np.stack([weigh_parts(row) for row in rows]).astype(np.float64)


def same_kinds(phrases: list[Phrase]) -> Any:
    kinds = np.array(["".join(sorted(phrase.kinds)) for phrase in phrases])
    return kinds[:, None] == kinds[None, :]


def coarse(phrases: list[Phrase]) -> list[str]:
    """Return the class of each phrase; of names of different kinds the order says nothing."""
    return [
        each.name if each.kinds[0] == each.kinds[1] else each.name.partition(":")[0]
        for each in phrases
    ]


def solve(kernel: Any, targets: Any) -> Any:
    return np.linalg.solve(kernel + RIDGE * np.eye(len(kernel)), targets - targets.mean(0))


def targets_of(names: list[str]) -> tuple[list[str], Any]:
    classes = sorted(set(names))
    return classes, np.array([[name == each for each in classes] for name in names], float)


def print_held_out(phrases: list[Phrase], vectors: Any) -> None:
    names = coarse(phrases)
    classes, targets = targets_of(names)
    kernel = (vectors @ vectors.T) * (1 + same_kinds(phrases))
    scores = np.zeros_like(targets)
    folds = np.arange(len(phrases)) % FOLDS
    for fold in range(FOLDS):
        rest, own = folds != fold, folds == fold
        found = solve(kernel[np.ix_(rest, rest)], targets[rest])
        scores[own] = kernel[np.ix_(own, rest)] @ found + targets[rest].mean(0)
    allowed = same_kinds(phrases) @ targets > 0
    scores[~allowed] = -1
    guesses = np.array(classes)[scores.argmax(1)]
    right, best = guesses == np.array(names), scores.max(1)
    is_relation = guesses != "none"
    for language in ("en", "ru", "ko"):
        own = np.array([phrase.language == language for phrase in phrases])
        print(f"{language}: {own.sum()} phrases, right {right[own].mean():.2f}")
    relations = sum(name != "none" for name in names)
    for least in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        given = is_relation & (best >= least)
        found_share = (right & given).sum() / relations
        print(f"from {least}: precision {right[given].mean():.3f}, recall {found_share:.3f}")


def fit(phrases: list[Phrase], vectors: Any) -> dict[str, Any]:
    from retrieval.embedders import get_embedder

    names = coarse(phrases)
    classes, targets = targets_of(names)
    same = same_kinds(phrases)
    found = solve((vectors @ vectors.T) * (1 + same), targets)
    data: dict[str, Any] = {"embedder": get_embedder("lore").name}
    kinds = sorted({p.kinds for p in phrases} | {p.kinds[::-1] for p in phrases})
    for each in kinds:
        own = [n for n, p in enumerate(phrases) if sorted(p.kinds) == sorted(each)]
        weights = vectors.T @ found + vectors[own].T @ found[own]
        held = sorted({names[n] for n in own})
        columns = [classes.index(name) for name in held]
        data[f"{each}_classes"] = np.array([_turned(name, each, phrases) for name in held])
        data[f"{each}_weights"] = weights[:, columns].astype(np.float16)
        data[f"{each}_shares"] = targets.mean(0)[columns].astype(np.float32)
    return {**data, "kinds": np.array(kinds)}


def _turned(name: str, kinds: str, phrases: list[Phrase]) -> str:
    """Return the class with whether its `a` is the second name of such a pair."""
    if kinds[0] == kinds[1] or name == "none":
        return name
    is_first = any(
        p.kinds == (kinds if p.name == name else kinds[::-1])
        for p in phrases
        if p.name.partition(":")[0] == name and sorted(p.kinds) == sorted(kinds)
    )
    return name if is_first else f"{name}:second"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    connect("memory37_phrases_bench")
    phrases = read_phrases()
    vectors = vectors_of(phrases)
    if not options.fit:
        return print_held_out(phrases, vectors)
    from knowledge.fact_check.paraphrases import FILE

    np.savez_compressed(FILE, **fit(phrases, vectors))
    print(f"{len(phrases)} phrases, {FILE.stat().st_size // 1000} kB in {FILE}")
    return None


if __name__ == "__main__":
    main()
