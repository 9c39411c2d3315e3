"""What the search of the site found, as its page shows it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class SiteHit:
    """One row of the result page. `text` of what players do not see is shown when it is opened.
    `ref` is the slug or key by which a page about it is asked for."""

    title: str
    url: str
    score: float
    note: Any = ""
    text: str = ""
    language: str = ""
    secret: bool = False
    draft: bool = False
    replaces: str = ""
    is_named: bool = False
    ref: str = ""
    cosine: float | None = None
    """Of the question's vector and the passage's; None for a row found by its name alone."""
    words: float = 0.0
    """The BM25 score of the question's words in the passage."""
    name_score: float = 0.0
    """How far the question is a name of the row; 0 where it names nothing."""
    path: tuple[str, ...] = ()
    """The chapters above a rule; shown where titles are equal."""


@dataclass(frozen=True)
class KindOfHits:
    """The hits of one kind, best first. `relevance` orders the kinds: a name in the question comes
    before words of it, which come before a meaning."""

    kind: str
    label: Any
    hits: list[SiteHit]
    relevance: float


@dataclass
class SiteResults:
    """The kinds that have hits, the best first, and the search legs that were not available.
    `embedded` is the percentage of texts with a vector while the others wait for theirs.
    `is_answered` is False when the hits are only what comes nearest to the question."""

    kinds: list[KindOfHits] = field(default_factory=list)
    degraded: set[str] = field(default_factory=set)
    embedded: int | None = None
    is_answered: bool = True


def without_needless_paths(hits: Sequence[SiteHit]) -> list[SiteHit]:
    """Return the hits; only those with the title of another one keep their path. The id ends the
    path where titles and paths are equal."""
    titles = Counter(hit.title.casefold() for hit in hits)
    places = Counter((hit.title.casefold(), hit.path) for hit in hits)
    shown = []
    for hit in hits:
        title, path = hit.title.casefold(), hit.path
        if titles[title] == 1:
            path = ()
        elif path and places[title, path] > 1:
            path = (*path, hit.ref)
        shown.append(replace(hit, path=path))
    return shown
