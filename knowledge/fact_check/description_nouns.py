"""The nouns that can stand for somebody or something without a name (`data/descriptions.yaml`)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from knowledge.fact_check.lexicon import load_yaml
from knowledge.fact_check.prose_words import stem_of
from knowledge.graph.models import NodeKind
from retrieval.text import fold_name, has_hangul, name_words

RELATIONS, TRADES = "relations", "trades"
RUSSIAN_VERB = re.compile(r"(?:лся|лась|лось|лись|ться|тся|ется|ится|ются|ятся)$")
"""`Женился` has the stem of `жена`."""
AFTER_NOUN = re.compile(
    r"\b(?:of|in|on|at|to|for|by|with|from|above|beneath|в|на|из|для|у|с|от|под|над)\b.*$"
)


@dataclass(frozen=True)
class Noun:
    """`claim` is what it says of the one it stands for, if it is one of a relation; else `kind` is
    that one's kind. `words` mean the same, in all languages. A trade is of whom has the relation
    `trade` to the only thing that the noun `of` describes: who owns the inn is the innkeeper."""

    words: tuple[str, ...]
    kind: str = ""
    claim: str = ""
    trade: str = ""
    of: str = ""


@cache
def _nouns() -> dict[str, tuple[Noun, ...]]:
    """Return the nouns by the stem of each of their words."""
    rows = dict(load_yaml("descriptions"))
    nouns = [Noun(_words(line), claim=claim) for claim, line in rows.pop(RELATIONS).items()]
    nouns += [
        Noun(_words(row["words"]), NodeKind.CHARACTER, trade=trade, of=row["of"])
        for row in rows.pop(TRADES)
        for trade in row["by"]
    ]
    nouns += [Noun(_words(line), kind=kind) for kind, lines in rows.items() for line in lines]
    found: dict[str, list[Noun]] = {}
    for noun in nouns:
        for stem in {stem for word in noun.words for stem in _stems(word)}:
            found.setdefault(stem, []).append(noun)
    return {stem: tuple(nouns) for stem, nouns in found.items()}


def _words(line: str) -> tuple[str, ...]:
    return tuple(fold_name(word) for word in line.replace("|", " ").split())


def nouns_of(word: str) -> tuple[Noun, ...]:
    """Return what a folded word may describe."""
    if RUSSIAN_VERB.search(word):
        return ()
    stems = _stems(word.removesuffix("'s").removesuffix("’s"))
    return tuple(dict.fromkeys(noun for stem in stems for noun in _nouns().get(stem, ())))


def _stems(word: str) -> list[str]:
    """Return the stem of a word, and that of its stem: of `остров` the stemmer cuts off a case
    ending that it does not have, of `острове` it does not."""
    stem = stem_of(word)
    return list(dict.fromkeys([stem, stem if has_hangul(stem) else stem_of(stem)]))


def calls(label: str, noun: Noun) -> bool:
    """Whether the label of a fact calls its subject so: `admiral of`, not `ship of the admiral`."""
    return bool(label) and has_noun([AFTER_NOUN.sub("", label.casefold())], noun)


def has_noun(texts: Iterable[str], noun: Noun) -> bool:
    """Whether one of the names or labels has the noun, in any of its words."""
    stems = {stem for word in noun.words for stem in _stems(word)}
    return any(
        not stems.isdisjoint(_stems(word.norm))
        or (has_hangul(word.norm) and word.norm.endswith(noun.words))
        for text in texts
        for word in name_words(text)
    )
