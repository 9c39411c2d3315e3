"""Which rules and lore entries a question names: whole, by an alias, in an inflected form, or
with a slip."""

from collections.abc import Callable, Iterable, Sequence
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

MOST_NAMES = 400
"""Names looked at closely, of those that share the beginning of a word with the question."""
LONGEST_NAME, MOST_WORDS = 80, 5
"""Only a question as short as this can be a name with a slip in it."""
RECHECK_SECONDS = 30
"""Seconds after which another process's changes to shared rules are noticed."""
MATCHES = {"exact": "exact", "alias": "alias", "ending": "alias", "part": "fuzzy", "fuzzy": "fuzzy"}
SURE = ("exact", "alias", "ending")
NEAR = """
SELECT id, title, aliases FROM ({rows}) AS row WHERE name_keys && string_to_array(%(keys)s, ' ')::varchar(16)[]
ORDER BY title, id LIMIT %(most)s
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
    """The names of a game system's shared, public rules: the same for every caller, so they are
    kept."""

    index: NameIndex
    stamp: tuple[Any, ...]
    checked: float


_shared: dict[UUID, SharedNames] = {}


def match_rules(
    rules: CompiledRows, own: CompiledRows, world: World, question: str, *, within: float
) -> list[NamedRow]:
    """Return the rules of `rules` that `question` is the name of, or that it mentions (scored
    `within`). `own` are those among them that are not shared by all worlds."""
    shared = [shared_names(world.system_id)] if world.system_id else []
    indexes = [*shared, name_index(own, question)]
    return _named(indexes, lambda: name_index(rules, question), question, within)


def match_rows(rows: CompiledRows, question: str, *, within: float) -> list[NamedRow]:
    """The same for any rows of rules or lore. Nothing outside them is looked at."""
    index = name_index(rows, question)
    return _named([index], lambda: index, question, within)


def exclude_shared(rules: "QuerySet[Any]") -> "QuerySet[Any]":
    return rules.exclude(world=None, visibility=Visibility.PUBLIC)


def name_index(rows: "QuerySet[Any] | CompiledRows", text: str) -> NameIndex:
    """Return an index of the names of `rows` that may stand in `text`."""
    rows = rows if isinstance(rows, CompiledRows) else CompiledRows(rows)
    columns, keys = ("id", "title", "aliases", "name_keys"), " ".join(query_keys(text[:2000]))
    return NameIndex(
        KnownName(*row) for row in rows.read(NEAR, columns, keys=keys, most=MOST_NAMES)
    )


def shared_names(system_id: UUID) -> NameIndex:
    kept = _shared.get(system_id)
    if kept and monotonic() - kept.checked < RECHECK_SECONDS:
        return kept.index
    rules = Rule.objects.filter(
        world=None, document__system=system_id, visibility=Visibility.PUBLIC
    )
    stamp = tuple(rules.aggregate(Count("pk"), Max("updated_at")).values())
    if kept and kept.stamp == stamp:
        _shared[system_id] = replace(kept, checked=monotonic())
        return kept.index
    index = NameIndex(KnownName(*row) for row in rules.values_list("pk", "title", "aliases"))
    _shared[system_id] = SharedNames(index, stamp, monotonic())
    return index


def clear_shared_names() -> None:
    """Called when shared rules were written by this process."""
    _shared.clear()


def _named(
    indexes: Sequence[NameIndex], all_names: Callable[[], NameIndex], question: str, within: float
) -> list[NamedRow]:
    mentions = [mention for index in indexes for mention in index.mentions(question[:2000])]
    whole = [
        match for mention in mentions if _covers(mention, question) for match in mention.matches
    ]
    if whole:
        return list(_rows(whole))
    if not mentions and len(question) <= LONGEST_NAME and len(question.split()) <= MOST_WORDS:
        return list(_rows(all_names().find(question)))
    return [
        replace(row, score=row.score * within / len(mention.matches), kind="alias")
        for mention in mentions
        for row in _rows([match for match in mention.matches if match.how in SURE])
    ]


def _covers(mention: Mention, question: str) -> bool:
    return len(mention.text) >= len(question.strip(" .?!\"'«»")) and all(
        each.how in SURE for each in mention.matches
    )


def _rows(matches: Iterable[NameMatch]) -> Iterable[NamedRow]:
    for match in matches:
        assert isinstance(match.key, UUID)
        yield NamedRow(match.key, MATCHES[match.how], match.score, match.name)
