"""Find game terms in a Russian or Korean question, and say what the English rules call them.

Russian is compared by stems, Korean by the beginnings of words (particles and verb endings follow), so inflected words
are found; which of several readings is meant is left to the search, each with its share of the weight.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db.models import Count, Max

from knowledge.models import GlossaryTerm
from retrieval.text import WORD, cut_ending, fold_name, has_hangul, is_cyrillic, snowball_stem

WEIGHT, LEAST = 1.0, 0.25
SHORTEST_JOINED = 3
"""Korean syllables from which on a name is looked for inside words too."""

STOP_WORDS = frozenset({"он", "они", "она", "ход"})
"""Names that are commoner as words of everyday speech: `они` is an ogre mage less often than `they`."""

KOREAN_ENDINGS = ("시키다", "시키기", "하다", "되다", "하기", "되기", "다", "기", "됨", "함")
"""Endings that make a verb or a noun of a name; the longest come first."""


@dataclass(frozen=True)
class TermMatch:
    """A term that the question holds, under which of its names, and how surely it is meant (0–1)."""

    term: str
    name: str
    weight: float


@dataclass
class Glossary:
    """The names of all terms, by the first part by which they are found."""

    names: dict[tuple[str, ...], list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    by_first: dict[str, list[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, term: str, name: str) -> None:
        parts = tuple(_name_parts(name))
        if not parts or fold_name(name) in STOP_WORDS:
            return
        if parts not in self.names:
            self.by_first[parts[0]].append(parts)
        self.names[parts].append((term, name))

    def find(self, question: str) -> list[TermMatch]:
        """Return the terms in `question`, surest first, each once."""
        folded = fold_name(question)
        best: dict[str, TermMatch] = {}
        for parts in self._held(folded):
            meant = self.names[parts]
            for term, name in meant:
                weight = (
                    WEIGHT
                    * min(1.0, 0.5 + 0.25 * len(parts))
                    / len({each for each, _name in meant}) ** 0.5
                )
                if term not in best or best[term].weight < weight:
                    best[term] = TermMatch(term, name, round(max(weight, LEAST), 3))
        return sorted(best.values(), key=lambda found: (-found.weight, found.term))

    def _held(self, folded: str) -> Iterable[tuple[str, ...]]:
        said = _question_parts(folded)
        joined = "".join(filter(has_hangul, folded))
        for first, candidates in self.by_first.items():
            korean = bool(has_hangul(first[:1]))
            if first in said or (korean and len(first) > 1 and first in joined):
                yield from (
                    parts
                    for parts in candidates
                    if _all_said(parts, said, joined if korean else "")
                )


def get_glossary(system_id: UUID | None) -> Glossary:
    """Return the glossary of a game system; read once, and again when its terms change."""
    if system_id is None:
        return Glossary()
    state = GlossaryTerm.objects.filter(system=system_id).aggregate(
        rows=Count("id"), last=Max("updated_at")
    )
    return _read(system_id, state["rows"], state["last"])


@lru_cache(maxsize=8)
def _read(system_id: UUID, _rows: int, _last: datetime | None) -> Glossary:
    glossary = Glossary()
    for term, names in GlossaryTerm.objects.filter(system=system_id).values_list("term", "names"):
        for name in names:
            glossary.add(term, name)
    return glossary


def _all_said(parts: tuple[str, ...], said: set[str], joined: str) -> bool:
    return all(part in said or (len(part) >= SHORTEST_JOINED and part in joined) for part in parts)


def _name_parts(name: str) -> list[str]:
    return [_stem(word) for word in WORD.findall(fold_name(name))]


def _question_parts(folded: str) -> set[str]:
    """Everything by which a name's part may be found: stems, and for Korean all beginnings of each word."""
    parts: set[str] = set()
    for word in WORD.findall(folded):
        if has_hangul(word[:1]):
            parts.update(word[:length] for length in range(1, len(word) + 1))
        else:
            parts.add(_stem(word))
    return parts


def _stem(word: str) -> str:
    if has_hangul(word[:1]):
        return cut_ending(word, KOREAN_ENDINGS, min_stem=1)
    return snowball_stem(word, "russian") if is_cyrillic(word[:1]) else word
