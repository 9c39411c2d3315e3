"""What `[[` in the editor suggests: names of lore, people and entities, then entries by meaning."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _
from rapidfuzz import fuzz, process

from knowledge.graph.models import GraphNode, NodeKind
from knowledge.models import Lore
from knowledge.schemas import LoreQuestion
from knowledge.search import find_lore
from npcs.models import NPC
from retrieval.text import fold_name
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.models import World

MOST_NAMES = 20_000
"""Names read from each table; a world with more is completed from the first ones by title."""
SUGGESTIONS, BY_MEANING = 12, 5
LONGEST_QUERY = 120
SIMILAR = 80
"""From this similarity (0–100) on, a name is offered for a misspelt beginning."""

_fold = lru_cache(maxsize=100_000)(fold_name)


@dataclass(frozen=True)
class Suggestion:
    """`name` is linked; `alias` is the other name that fitted; `detail` says what it is."""

    name: str
    detail: str
    alias: str = ""


def suggest_names(world: World, written: str) -> list[Suggestion]:
    """Return what `written` may become, best first: the beginning of a name, the beginning of a
    word in it, any part of it, something similar. All of the world: for game masters alone."""
    query = fold_name(written[:LONGEST_QUERY])
    best: dict[str, tuple[int, int, Suggestion]] = {}
    names = [(suggestion, _fold(name)) for suggestion, name in _all_names(world)]
    fuzzy = _similar_names({name for _suggestion, name in names}, query)
    for number, (suggestion, folded_name) in enumerate(names):
        rank = _rank(folded_name, query, fuzzy)
        if rank is None:
            continue
        key = _fold(suggestion.name)
        # Of a lore entry, an NPC and an entity of one name the entry comes first, and stays.
        if key not in best or rank < best[key][0]:
            best[key] = (rank, best[key][1] if key in best else number, suggestion)
    ranked = sorted(best.values(), key=lambda each: (each[0], len(each[2].name), each[1]))
    return [suggestion for _rank, _number, suggestion in ranked[:SUGGESTIONS]]


def suggest_by_meaning(world: World, written: str) -> list[Suggestion]:
    """Return entries whose text fits the words, best first."""
    question = LoreQuestion(query=written[:LONGEST_QUERY], k=BY_MEANING)
    hits = find_lore(question, Caller(world, GM)).hits
    titles = dict.fromkeys(hit.title for hit in hits)
    return [Suggestion(title, _("by meaning")) for title in titles]


def _all_names(world: World) -> Iterator[tuple[Suggestion, str]]:
    """Yield (suggestion, name) for every name and alias, in three queries."""
    # Translated once, not for each of thousands of names.
    kinds = {value: str(label) for value, label in Lore.Kind.choices}
    node_kinds = {value: str(label) for value, label in NodeKind.choices}
    lore = Lore.objects.filter(world=world).order_by("title")
    people = NPC.objects.in_world(world).order_by("name")
    nodes = GraphNode.objects.filter(world=world).believed_now().order_by("name")
    person = _("NPC")
    tables: list[tuple[Any, Any]] = [
        (lore.values_list("title", "aliases", "kind"), lambda kind: kinds.get(kind, kind)),
        (people.values_list("name", "aliases", "role"), lambda role: role or person),
        (nodes.values_list("name", "aliases", "kind"), lambda kind: node_kinds.get(kind, kind)),
    ]
    for rows, label in tables:
        for name, aliases, kind in rows[:MOST_NAMES]:
            detail = label(kind)
            yield Suggestion(name, detail), name
            for alias in aliases:
                yield Suggestion(name, detail, alias), alias


def _similar_names(names: set[str], query: str) -> dict[str, float]:
    if len(query) < 3:
        return {}
    near = process.extract(
        query, names, scorer=fuzz.WRatio, limit=SUGGESTIONS, score_cutoff=SIMILAR
    )
    return {name: score for name, score, _key in near}


def _rank(name: str, query: str, fuzzy: dict[str, float]) -> int | None:
    """Return 0 for the best fit, None for none."""
    if name == query:
        return 0
    if name.startswith(query):
        return 1
    if f" {query}" in name:
        return 2
    if query in name:
        return 3
    return 4 + int(100 - fuzzy[name]) if name in fuzzy else None
