"""Which rules and lore entries a question names: in full, by an alias, inflected, or with a
typo."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, QuerySet

from knowledge.models import Rule
from retrieval.search import CompiledRows
from retrieval.text import KnownName, Mention, NameIndex, NameMatch, query_keys
from worlds.audiences import Visibility
from worlds.models import World

MAX_CANDIDATES = 400
"""How many names that share the beginning of a word with the question are compared with it."""
MAX_TYPO_CHARS, MAX_TYPO_WORDS = 80, 5
"""Only a question as short as this can be a name with a typo."""
MAX_QUESTION_CHARS = 2000
RECHECK_SECONDS = 30
"""Seconds after which another process's changes to shared rules are noticed."""
MATCHES = {"exact": "exact", "alias": "alias", "ending": "alias", "part": "fuzzy", "fuzzy": "fuzzy"}
RELIABLE = ("exact", "alias", "ending")
CANDIDATES = """
SELECT id, title, aliases FROM ({rows}) AS row
WHERE name_keys && string_to_array(%(keys)s, ' ')::varchar(16)[]
ORDER BY title, id LIMIT %(limit)s
"""


@dataclass(frozen=True)
class NamedRow:
    """A row that the question names; `score` is 1 when the question is nothing but its name."""

    id: UUID
    kind: str
    score: float
    name: str


@dataclass(frozen=True)
class SharedNames:
    """The names of a game system's shared public rules, cached because they are the same for
    every caller. `stamp` is their number and latest change; `checked_at` is when it was last
    compared (monotonic seconds)."""

    index: NameIndex
    stamp: tuple[Any, ...]
    checked_at: float


_shared: dict[UUID, SharedNames] = {}


def match_rules(
    rules: CompiledRows, own: CompiledRows, world: World, question: str, *, within: float
) -> list[NamedRow]:
    """Return the rules of `rules` that `question` is the name of, or that it mentions (scored
    `within`). `own` are those among them that are not shared by all worlds."""
    shared = [shared_names(world.system_id)] if world.system_id else []
    indexes = [*shared, name_index(own, question)]
    return match_names(indexes, lambda: name_index(rules, question), question, within)


def match_rows(rows: CompiledRows, question: str, *, within: float) -> list[NamedRow]:
    """Do the same for any rows of rules or lore, by their own names only."""
    index = name_index(rows, question)
    return match_names([index], lambda: index, question, within)


def exclude_shared(rules: "QuerySet[Any]") -> "QuerySet[Any]":
    return rules.exclude(world=None, visibility=Visibility.PUBLIC)


def name_index(rows: "QuerySet[Any] | CompiledRows", text: str) -> NameIndex:
    """Return an index of the names of `rows` that `text` may contain."""
    rows = rows if isinstance(rows, CompiledRows) else CompiledRows(rows)
    columns = ("id", "title", "aliases", "name_keys")
    keys = " ".join(query_keys(text[:MAX_QUESTION_CHARS]))
    names = rows.read(CANDIDATES, columns, keys=keys, limit=MAX_CANDIDATES)
    return NameIndex(KnownName(*row) for row in names)


def shared_names(system_id: UUID) -> NameIndex:
    cached = _shared.get(system_id)
    if cached and monotonic() - cached.checked_at < RECHECK_SECONDS:
        return cached.index
    rules = Rule.objects.filter(
        world=None, document__system=system_id, visibility=Visibility.PUBLIC
    )
    stamp = tuple(rules.aggregate(Count("pk"), Max("updated_at")).values())
    if cached and cached.stamp == stamp:
        _shared[system_id] = replace(cached, checked_at=monotonic())
        return cached.index
    index = NameIndex(KnownName(*row) for row in rules.values_list("pk", "title", "aliases"))
    _shared[system_id] = SharedNames(index, stamp, monotonic())
    return index


def clear_shared_names() -> None:
    """Empty the cache, after this process wrote shared rules."""
    _shared.clear()


def match_names(
    indexes: Sequence[NameIndex], all_names: Callable[[], NameIndex], question: str, within: float
) -> list[NamedRow]:
    """Return the rows whose name is the whole question; else, for a short question that mentions
    none, rows with a similar name; else the rows that it mentions, an ambiguous mention sharing
    its score among its matches."""
    mentions = [
        mention for index in indexes for mention in index.mentions(question[:MAX_QUESTION_CHARS])
    ]
    whole = [
        match
        for mention in mentions
        if covers_question(mention, question)
        for match in mention.matches
    ]
    if whole:
        return list(named_rows(whole))
    is_short = len(question) <= MAX_TYPO_CHARS and len(question.split()) <= MAX_TYPO_WORDS
    if not mentions and is_short:
        return list(named_rows(all_names().find(question)))
    return [
        replace(row, score=row.score * within / len(mention.matches), kind="alias")
        for mention in mentions
        for row in named_rows(match for match in mention.matches if match.how in RELIABLE)
    ]


def covers_question(mention: Mention, question: str) -> bool:
    length = len(question.strip(" .?!\"'«»"))
    return len(mention.text) >= length and all(m.how in RELIABLE for m in mention.matches)


def named_rows(matches: Iterable[NameMatch]) -> Iterator[NamedRow]:
    for match in matches:
        assert isinstance(match.key, UUID)
        yield NamedRow(match.key, MATCHES[match.how], match.score, match.name)
