"""Find game terms in a Russian or Korean question, and the words of the English rules for them.

Russian is compared by stems, Korean by the beginnings of words (particles and verb endings follow),
so inflected words are found. A name with several meanings gives each term its share of the weight.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db.models import Count, Max

from knowledge.glossary_term import GlossaryTerm
from retrieval.text import WORD, cut_ending, fold_name, has_hangul, is_cyrillic, word_stem

LEAST_WEIGHT = 0.25
SHORTEST_INSIDE = 3
"""Korean syllables from which on a name is also found inside and across words."""

# Names that are commoner as everyday words: `они` is an ogre mage less often than `they`.
STOP_WORDS = frozenset({"он", "они", "она", "ход"})

# Endings that make a verb or a noun of a name; the longest come first.
KOREAN_ENDINGS = ("시키다", "시키기", "하다", "되다", "하기", "되기", "다", "기", "됨", "함")
NOUN_ENDINGS = frozenset({"됨", "함"})
"""Endings that follow a noun. One syllable before them is no noun: `전함` is a ship."""

Parts = tuple[str, ...]


@dataclass(frozen=True)
class TermMatch:
    """A term in the question, and the name that matched; `weight` (0–1) is the certainty."""

    term: str
    name: str
    weight: float


class Glossary:
    """The terms of a game system. A name is found by its parts: the stems of its words."""

    def __init__(self) -> None:
        self.names: dict[Parts, list[tuple[str, str]]] = defaultdict(list)
        self.by_first: dict[str, list[Parts]] = defaultdict(list)

    def add(self, term: str, name: str) -> None:
        key = fold_name(name)
        parts = tuple(part_of(word) for word in WORD.findall(key))
        if not parts or key in STOP_WORDS:
            return
        if parts not in self.names:
            self.by_first[parts[0]].append(parts)
        self.names[parts].append((term, name))

    def find(self, question: str) -> list[TermMatch]:
        """Return the terms in `question`, most certain first, each once."""
        best: dict[str, TermMatch] = {}
        for parts in self._parts_in(fold_name(question)):
            meanings = len({term for term, _name in self.names[parts]})
            # A name of two or more words is certain, one word is three quarters of that. The root
            # of the number of meanings: two of them make each less likely, but not half as useful.
            weight = min(1.0, 0.5 + 0.25 * len(parts)) / meanings**0.5
            for term, name in self.names[parts]:
                if term not in best or best[term].weight < weight:
                    best[term] = TermMatch(term, name, round(max(weight, LEAST_WEIGHT), 3))
        return sorted(best.values(), key=lambda match: (-match.weight, match.term))

    def _parts_in(self, text: str) -> Iterator[Parts]:
        # What parts of names are compared with: stems, and all beginnings of each Korean word.
        parts_in_text: set[str] = set()
        for word in WORD.findall(text):
            if has_hangul(word[:1]):
                parts_in_text.update(word[:length] for length in range(1, len(word) + 1))
            else:
                parts_in_text.add(part_of(word))
        syllables = "".join(filter(has_hangul, text))
        for first, candidates in self.by_first.items():
            # Korean writers differ in where they put spaces: names are also sought across words.
            across = syllables if has_hangul(first[:1]) else ""
            if first not in parts_in_text and (len(first) == 1 or first not in across):
                continue
            for parts in candidates:
                rest = (part for part in parts if part not in parts_in_text)
                if all(len(part) >= SHORTEST_INSIDE and part in across for part in rest):
                    yield parts


def get_glossary(system_id: UUID | None) -> Glossary:
    """Return the glossary of a game system; it is cached until its terms change."""
    if system_id is None:
        return Glossary()
    terms = GlossaryTerm.objects.filter(system=system_id)
    state = terms.aggregate(rows=Count("id"), last=Max("updated_at"))
    return _read_glossary(system_id, state["rows"], state["last"])


# Number and latest change are part of the key, so a changed glossary is read again.
@lru_cache(maxsize=8)
def _read_glossary(system_id: UUID, _rows: int, _last: datetime | None) -> Glossary:
    glossary = Glossary()
    for term, names in GlossaryTerm.objects.filter(system=system_id).values_list("term", "names"):
        for name in names:
            glossary.add(term, name)
    return glossary


def part_of(word: str) -> str:
    """Return what a word is compared by."""
    if has_hangul(word[:1]):
        part = cut_ending(word, KOREAN_ENDINGS, min_stem=1)
        return word if len(part) == 1 and word[1:] in NOUN_ENDINGS else part
    return word_stem(word) if is_cyrillic(word[:1]) else word
