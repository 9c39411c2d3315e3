"""Which rules and lore entries a question names: exactly, by an alias, inflected, or misspelled."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, QuerySet

from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.models import Lore, Rule
from retrieval.search import CompiledRows
from retrieval.text import KnownName, NameIndex, NameMatch, name_keys, sound_keys
from worlds.audiences import Visibility
from worlds.models import World
from worlds.stored_names import index_of_names

LONGEST_NAME, MOST_WORDS = 80, 5
"""Only a question as short as this can be a misspelled name."""
LONGEST_QUESTION = 2000
"""Characters in which names are looked for; a longer text is a paste, not a question."""
RECHECK_SECONDS = 30
"""How long another process's changes to shared rules may go unnoticed."""
MATCHES = {"exact": "exact", "alias": "alias", "ending": "alias", "quoted": "alias"}
MATCHES |= {"part": "fuzzy", "fuzzy": "fuzzy"}
CERTAIN = ("exact", "alias", "ending", "quoted")


@dataclass(frozen=True)
class NamedRow:
    """A row that the question names; `score` is 1 when the question is nothing but its name."""

    id: UUID
    kind: str
    score: float
    name: str


@dataclass(frozen=True)
class SharedNames:
    """Names of the shared, public rules of a game system: equal for all callers, hence cached."""

    index: NameIndex
    stamp: tuple[Any, ...]
    checked_at: float


_shared: dict[UUID, SharedNames] = {}


def match_rules(
    rules: CompiledRows,
    own: CompiledRows,
    world: World,
    question: str,
    *,
    weight: float,
    answers: Callable[[], Mapping[UUID, UUID]],
) -> list[NamedRow]:
    """Return the rules of `rules` that `question` is the name of, else those that it mentions
    (scored `weight`). `own` are those of `rules` that are not shared by all worlds. The name of a
    rule that was replaced means the one that answers for it (`answers`)."""
    indexes = [shared_names(world.system_id)] if world.system_id else []
    indexes.append(name_index(own, question))
    return _match(indexes, lambda: name_index(rules, question), question, weight, answers)


def match_names(index: NameIndex, question: str, *, weight: float) -> list[NamedRow]:
    """The same for the rows of `index`, also by a part of a name (*Aldous* of Duke Aldous) in the
    question. Reads no others."""
    return _match([index], lambda: index, question, weight, counts=(*CERTAIN, "part"))


def name_index(rows: "QuerySet[Any] | CompiledRows", text: str) -> NameIndex:
    """Return an index of the names of `rows` that may occur in `text`."""
    return index_of_names(rows, text[:LONGEST_QUESTION], common=COMMON_WORDS)


def keys_of_entry(entry: Any) -> list[str]:
    """Return the `name_keys` to store with a rule or a lore entry. Rules are found by their sound
    through `translated_names`."""
    names = (entry.title, *entry.aliases)
    sounds = map(sound_keys, names) if isinstance(entry, Lore) else ()
    return sorted({*name_keys(*names)}.union(*sounds))


def shared_names(system_id: UUID) -> NameIndex:
    """Return the names of the system's shared rules; read again when their rows have changed."""
    names = _shared.get(system_id)
    if names and monotonic() - names.checked_at < RECHECK_SECONDS:
        return names.index
    shared = Rule.objects.filter(world=None, document__system=system_id)
    rules = shared.filter(visibility=Visibility.PUBLIC)
    stamp = tuple(rules.aggregate(Count("pk"), Max("updated_at")).values())
    if names and names.stamp == stamp:
        _shared[system_id] = replace(names, checked_at=monotonic())
        return names.index
    index = NameIndex(KnownName(*row) for row in rules.values_list("pk", "title", "aliases"))
    _shared[system_id] = SharedNames(index, stamp, monotonic())
    return index


def clear_shared_names() -> None:
    """Call when this process has written shared rules."""
    _shared.clear()


def _match(
    indexes: Sequence[NameIndex],
    all_names: Callable[[], NameIndex],
    question: str,
    weight: float,
    answers: Callable[[], Mapping[UUID, UUID]] = dict,
    counts: Collection[str] = CERTAIN,
) -> list[NamedRow]:
    """`counts` are the kinds of matches that count within a longer question."""
    text = question[:LONGEST_QUESTION]
    mentions = [mention for index in indexes for mention in index.mentions(text)]
    if mentions and (replaced := answers()):
        mentions = [
            replace(mention, matches=tuple(_with_answers(mention.matches, replaced)))
            for mention in mentions
        ]
    # A question that is nothing but a name, apart from punctuation, gets the rows of that name.
    length = len(question.strip(" .?!\"'«»"))
    whole = [
        each
        for each in mentions
        if len(each.text) >= length and all(map(_is_certain, each.matches))
    ]
    if whole:
        return best_of_each(_rows(match for mention in whole for match in mention.matches))
    matches = [match for mention in mentions for match in mention.matches]
    is_named = any(map(_is_certain, matches)) if "part" in counts else bool(matches)
    is_short = len(question) <= LONGEST_NAME and len(question.split()) <= MOST_WORDS
    if not is_named and is_short and (found := all_names().find(question)):
        return best_of_each(_rows(_with_answers(found, answers())))
    # A name that several rows have counts less for each of them.
    return best_of_each(
        replace(row, score=row.score * weight / len(mention.matches), kind=_kind_in_question(match))
        for mention in mentions
        for match in mention.matches
        if match.how in counts
        for row in _rows([match])
    )


def _with_answers(matches: Iterable[NameMatch], replaced: Mapping[UUID, UUID]) -> list[NameMatch]:
    """Return the matches with the rules that answer, each of them once."""
    best: dict[Any, NameMatch] = {}
    for match in matches:
        key = replaced.get(match.key, match.key)  # type: ignore[call-overload]  # hashable
        if key not in best or match.score > best[key].score:
            best[key] = replace(match, key=key)
    return list(best.values())


def best_of_each(rows: Iterable[NamedRow]) -> list[NamedRow]:
    """Return each row with its highest score."""
    best: dict[UUID, NamedRow] = {}
    for row in rows:
        if row.id not in best or row.score > best[row.id].score:
            best[row.id] = row
    return list(best.values())


def _is_certain(match: NameMatch) -> bool:
    return match.how in CERTAIN


def _kind_in_question(match: NameMatch) -> str:
    return "alias" if _is_certain(match) else MATCHES[match.how]


def _rows(matches: Iterable[NameMatch]) -> Iterable[NamedRow]:
    for match in matches:
        assert isinstance(match.key, UUID)
        yield NamedRow(match.key, MATCHES[match.how], match.score, match.name)
