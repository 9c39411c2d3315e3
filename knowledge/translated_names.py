"""Rules whose English names a Russian or Korean question translates, transliterates or shortens.

Beside `name_matching`, which compares names as they are written: here a name is found although
nobody entered this translation of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Count, Max

from knowledge.glossary.name_search import (
    FoundTitle,
    KnownRule,
    NameSearch,
    title_words,
    word_key,
)
from knowledge.glossary.question_frames import name_in_question, without_values
from knowledge.glossary.terms import read_terms, read_variants, read_words
from knowledge.glossary_term import GlossaryTerm
from knowledge.models import Rule
from knowledge.name_matching import RECHECK_SECONDS, NamedRow
from retrieval.text import (
    dictionary_forms,
    fold_name,
    guess_language,
    is_cyrillic,
    text_forms,
    word_stem,
)
from worlds.audiences import Visibility
from worlds.models import World

MOST_RULES = 5_000
"""Rules of a world's own whose names are translated."""
CANDIDATES = 10
WHOLE, NEARLY, WITHIN = 1.0, 0.9, 0.5
"""Score of a rule: the question is a known name; is likely one; has one in a short sentence."""
SHORT = 4
"""Words up to which a question is likely to be nothing but a name."""


@dataclass(frozen=True)
class RuleNames:
    """The names of some rules; `ids` by the number of a rule in the search."""

    search: NameSearch
    ids: tuple[UUID, ...]
    stamp: tuple[Any, ...]
    checked_at: float


_shared: dict[UUID, RuleNames] = {}


def find_translated(world: World, question: str) -> list[NamedRow]:
    """Return the rules that `question` may name, the likeliest first. They are not narrowed by
    audience: the caller keeps those that it may show."""
    if guess_language(question) == "en":
        return []
    name = name_in_question(question)
    if not name.forms:
        return []
    best: dict[UUID, NamedRow] = {}
    for names in _names_of(world):
        for form in name.forms:
            for found in find_form(names.search, form):
                score = _score(found, name.is_whole, len(form.split()))
                row = NamedRow(names.ids[found.number], "fuzzy", score, found.title)
                if row.id not in best or best[row.id].score < score:
                    best[row.id] = row
    return sorted(best.values(), key=lambda row: -row.score)[:CANDIDATES]


def find_form(search: NameSearch, name: str) -> list[FoundTitle]:
    """Return the rules of one form of a name. A word for values at its end (`гоблин
    характеристики`) belongs to it only in a name that is known so."""
    found = search.find(name, limit=CANDIDATES)
    bare = without_values(name)
    if bare == name or (found and found[0].score == 1):
        return found
    return search.find(bare, limit=CANDIDATES)


def _score(found: FoundTitle, is_whole: bool, words: int) -> float:
    if found.score == 1:
        return WHOLE if is_whole else NEARLY
    weight = NEARLY if is_whole and words <= SHORT else WITHIN
    return weight * found.score


def _names_of(world: World) -> Iterator[RuleNames]:
    if world.system_id:
        yield _shared_names(world.system_id)
    own = Rule.objects.filter(world=world)
    state = own.aggregate(rows=Count("pk"), last=Max("updated_at"))
    if state["rows"]:
        yield _own_names(world.pk, state["rows"], state["last"])


def _shared_names(system_id: UUID) -> RuleNames:
    """Return the names of the system's shared rules; read again when they have changed."""
    names = _shared.get(system_id)
    if names and monotonic() - names.checked_at < RECHECK_SECONDS:
        return names
    rules = Rule.objects.filter(
        world=None, document__system=system_id, visibility=Visibility.PUBLIC
    )
    terms = GlossaryTerm.objects.filter(system=system_id)
    newest = ("pk", "updated_at")
    stamp = tuple(
        value
        for rows in (rules, terms)
        for value in rows.aggregate(count=Count(newest[0]), last=Max(newest[1])).values()
    )
    if names and names.stamp == stamp:
        _shared[system_id] = RuleNames(names.search, names.ids, stamp, monotonic())
        return _shared[system_id]
    entered = terms.values_list("term", "names")
    _shared[system_id] = _build(rules, stamp, entered)
    return _shared[system_id]


@lru_cache(maxsize=16)
def _own_names(world_id: UUID, rows: int, last: Any) -> RuleNames:
    return _build(Rule.objects.filter(world=world_id), (rows, last), ())


def clear_translated_names() -> None:
    """Call when this process has written shared rules."""
    _shared.clear()


def _build(
    rules: Any, stamp: tuple[Any, ...], entered: Iterable[tuple[str, list[str]]]
) -> RuleNames:
    known = bundled_names()
    by_entry: dict[frozenset[str], list[str]] = defaultdict(list)
    for term, names in entered:
        for key in title_keys(term):
            by_entry[key] += names
    rows = list(rules.order_by("pk").values_list("pk", "title", "aliases")[:MOST_RULES])
    entries = []
    for _pk, title, aliases in rows:
        names = [alias for alias in aliases if guess_language(alias) != "en"]
        for key in title_keys(title):
            names += [*known.get(key, ()), *by_entry.get(key, ())]
        entries.append(KnownRule(title, tuple(dict.fromkeys(names))))
    search = NameSearch(entries, word_meanings(), terms=chain(*known.values()))
    return RuleNames(search, tuple(pk for pk, _title, _aliases in rows), stamp, monotonic())


@cache
def bundled_names() -> Mapping[frozenset[str], tuple[str, ...]]:
    """The names of the glossary's files by the words of the English term."""
    names: dict[frozenset[str], dict[str, None]] = defaultdict(dict)
    for term in (*read_terms(), *read_variants()):
        for key in title_keys(term.term):
            for own in term.names.values():
                names[key].update(dict.fromkeys(own))
    return {key: tuple(own) for key, own in names.items()}


@cache
def word_meanings() -> Mapping[str, frozenset[str]]:
    """What English words a foreign word stands for, by the word list and by terms of one word."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for term in read_words():
        for own in term.names.values():
            for name in own:
                meanings[name].add(term.term)
    for term in (*read_terms(), *read_variants()):
        if len(words := title_words(term.term)) == 1:
            for own in term.names.values():
                for name in own:
                    if " " not in name and len(name) > 1:
                        meanings[name].add(words[0])
    return {name: frozenset(own) for name, own in meanings.items()}


def english_stems(word: str) -> frozenset[str]:
    """Return the stems of the English words that a word of any language stands for."""
    word = fold_name(word)
    if word.isascii():
        return frozenset({word_stem(word)})
    forms = dictionary_forms(word) or {word} if is_cyrillic(word) else text_forms(word)
    keys = (word_key(form) for form in forms)
    return frozenset().union(*(meanings_by_key().get(key, ()) for key in keys))


@cache
def meanings_by_key() -> Mapping[str, frozenset[str]]:
    stems: dict[str, set[str]] = defaultdict(set)
    for foreign, english in word_meanings().items():
        stems[word_key(foreign)].update(word_stem(fold_name(word)) for word in english)
    return {key: frozenset(own) for key, own in stems.items()}


def title_keys(title: str) -> list[frozenset[str]]:
    """Return the keys by which a title and a term are the same: their words in any order, with and
    without brackets (`Acid (vial)`), and what follows a colon (`Fighting Style: Defense`)."""
    bare = title.split("(")[0]
    keys = [title_words(title), title_words(bare), title_words(title.rsplit(":", 1)[-1])]
    return list(dict.fromkeys(frozenset(words) for words in keys if words))
