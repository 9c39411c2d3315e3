"""Which rules and lore entries a question names: whole, by an alias, in an inflected form, or with a slip."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, QuerySet

from knowledge.models import Rule
from retrieval.names import Entry, Match, Mention, NameIndex, query_keys
from worlds.audiences import Visibility
from worlds.models import World

MOST_NAMES = 400
"""Names looked at closely, of those that share the beginning of a word with the question."""
LONGEST_NAME, MOST_WORDS = 80, 5
"""Only a question as short as this can be a name with a slip in it."""
LOOK_AGAIN = 30
"""Seconds after which another process's changes to shared rules are noticed."""
MATCHES = {"exact": "exact", "alias": "alias", "ending": "alias", "part": "fuzzy", "fuzzy": "fuzzy"}
SURE = ("exact", "alias", "ending")


@dataclass(frozen=True)
class NamedRow:
    """A row that the question names; `score` is 1 when the question is nothing but its name."""

    id: UUID
    kind: str
    score: float
    name: str


@dataclass(frozen=True)
class SharedNames:
    """The names of a game system's shared, public rules: the same for every caller, so they are kept."""

    index: NameIndex
    stamp: tuple[Any, ...]
    checked: float


_shared: dict[UUID, SharedNames] = {}


def named_rules(rules: "QuerySet[Any]", world: World, question: str, *, within: float) -> list[NamedRow]:
    """Return the rules of `rules` that `question` is the name of, or that it mentions (scored `within`)."""
    kept = [shared_names(world.system_id)] if world.system_id else []
    rest = rules.exclude(world=None, visibility=Visibility.PUBLIC)
    return _named([*kept, index_of(rest, question)], rules, question, within)


def named_rows(rows: "QuerySet[Any]", question: str, *, within: float) -> list[NamedRow]:
    """The same for any queryset of rules or lore. Nothing outside the queryset is looked at."""
    return _named([index_of(rows, question)], rows, question, within)


def index_of(rows: "QuerySet[Any]", text: str) -> NameIndex:
    near = rows.filter(name_keys__overlap=query_keys(text[:2000])).values_list("pk", "title", "aliases")
    return NameIndex(Entry(*row) for row in near[:MOST_NAMES])


def shared_names(system_id: UUID) -> NameIndex:
    kept = _shared.get(system_id)
    if kept and monotonic() - kept.checked < LOOK_AGAIN:
        return kept.index
    rules = Rule.objects.filter(world=None, document__system=system_id, visibility=Visibility.PUBLIC)
    stamp = tuple(rules.aggregate(Count("pk"), Max("updated_at")).values())
    if kept and kept.stamp == stamp:
        _shared[system_id] = replace(kept, checked=monotonic())
        return kept.index
    index = NameIndex(Entry(*row) for row in rules.values_list("pk", "title", "aliases"))
    _shared[system_id] = SharedNames(index, stamp, monotonic())
    return index


def forget_shared_names() -> None:
    """Called when shared rules were written by this process."""
    _shared.clear()


def _named(indexes: Sequence[NameIndex], rows: "QuerySet[Any]", question: str, within: float) -> list[NamedRow]:
    mentions = [mention for index in indexes for mention in index.mentions(question[:2000])]
    whole = [match for mention in mentions if _covers(mention, question) for match in mention.matches]
    if whole:
        return list(_rows(whole))
    if not mentions and len(question) <= LONGEST_NAME and len(question.split()) <= MOST_WORDS:
        return list(_rows(index_of(rows, question).find(question)))
    return [
        replace(row, score=row.score * within / len(mention.matches), kind="alias")
        for mention in mentions
        for row in _rows([match for match in mention.matches if match.how in SURE])
    ]


def _covers(mention: Mention, question: str) -> bool:
    return len(mention.text) >= len(question.strip(" .?!\"'«»")) and all(each.how in SURE for each in mention.matches)


def _rows(matches: Iterable[Match]) -> Iterable[NamedRow]:
    for match in matches:
        assert isinstance(match.key, UUID)
        yield NamedRow(match.key, MATCHES[match.how], match.score, match.name)
