"""Fit and measure which relation the words beside two names mean.

    python -m bench.relation_phrases          # cross-validated on our own phrases
    python -m bench.relation_phrases --fit    # fit to all of them, write paraphrases.npz

The phrases (bench/data/relation_phrases.txt) stand under a claim of the lexicon and the kinds of
its two names: `# leads P F` for a person (P) who leads a faction (F); L is a place, I an item, E an
event. `none` are phrases that say something else of such a pair.

A kernel ridge regression on vectors and on the pieces of words, in which phrases about the same
kinds count twice. Its scores become probabilities by one steepness, the likeliest one in the
cross-validation. Stored are its weights by kinds.
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
RIDGE, FOLDS, STEEPNESS = 0.5, 5, 8.0
MUTUAL = ("none", "allied", "enemy", "knows", "married", "betrothed", "siblings")
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


def pieces_of(phrases: list[Phrase]) -> tuple[Any, Any]:
    """Return the pieces of the words of each phrase, a row of length 1, and how rare each is."""
    from knowledge.fact_check.paraphrases import PIECES, piece_counts

    rows = np.zeros((len(phrases), PIECES))
    for row, phrase in zip(rows, phrases, strict=True):
        columns, counts = piece_counts(phrase.text)
        row[columns] = counts
    rarity = np.log((1 + len(rows)) / (1 + (rows > 0).sum(0))) + 1
    rows *= rarity
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), rarity


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


def print_held_out(phrases: list[Phrase], features: Any) -> None:
    names = coarse(phrases)
    classes, targets = targets_of(names)
    kernel = (features @ features.T) * (1 + same_kinds(phrases))
    scores = np.zeros_like(targets)
    folds = np.random.default_rng(0).integers(0, FOLDS, len(phrases))
    for fold in range(FOLDS):
        rest, own = folds != fold, folds == fold
        found = solve(kernel[np.ix_(rest, rest)], targets[rest])
        scores[own] = kernel[np.ix_(own, rest)] @ found + targets[rest].mean(0)
    allowed = same_kinds(phrases) @ targets > 0
    powers = np.exp(STEEPNESS * scores) * allowed
    shares = powers / powers.sum(1, keepdims=True)
    guesses = np.array(classes)[shares.argmax(1)]
    right, best = guesses == np.array(names), shares.max(1)
    is_relation = guesses != "none"
    for language in ("en", "ru", "ko"):
        own = np.array([phrase.language == language for phrase in phrases])
        print(f"{language}: {own.sum()} phrases, right {right[own].mean():.2f}")
    relations = sum(name != "none" for name in names)
    for least in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        given = is_relation & (best >= least)
        found_share = (right & given).sum() / relations
        print(f"from {least}: precision {right[given].mean():.3f}, recall {found_share:.3f}")


def fit(phrases: list[Phrase], vectors: Any, pieces: Any, rarity: Any) -> dict[str, Any]:
    from retrieval.embedders import get_embedder

    names = coarse(phrases)
    classes, targets = targets_of(names)
    kernel = vectors @ vectors.T + pieces @ pieces.T
    found = solve(kernel * (1 + same_kinds(phrases)), targets)
    data: dict[str, Any] = {"embedder": get_embedder("lore").name, "steepness": STEEPNESS}
    data["rarity"] = rarity.astype(np.float16)
    for group in sorted({"".join(sorted(p.kinds)) for p in phrases}):
        own = [n for n, p in enumerate(phrases) if "".join(sorted(p.kinds)) == group]
        held = sorted({names[n] for n in own})
        columns = [classes.index(name) for name in held]
        for each in {group, group[::-1]}:
            data[f"{each}_classes"] = np.array([_turned(name, each, phrases) for name in held])
        weights, of_pieces = (
            (rows.T @ found + rows[own].T @ found[own])[:, columns] for rows in (vectors, pieces)
        )
        scale = np.abs(of_pieces).max() / 127
        data[f"{group}_weights"] = weights.astype(np.float16)
        data[f"{group}_pieces"] = np.round(of_pieces / scale).astype(np.int8)
        data[f"{group}_scale"] = np.float32(scale)
        data[f"{group}_shares"] = targets.mean(0)[columns].astype(np.float32)
    kinds = sorted({p.kinds for p in phrases} | {p.kinds[::-1] for p in phrases})
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
    pieces, rarity = pieces_of(phrases)
    if not options.fit:
        return print_held_out(phrases, np.hstack([vectors, pieces]))
    from knowledge.fact_check.paraphrases import FILE

    np.savez_compressed(FILE, **fit(phrases, vectors, pieces, rarity))
    print(f"{len(phrases)} phrases, {FILE.stat().st_size // 1000} kB in {FILE}")
    return None


if __name__ == "__main__":
    main()
