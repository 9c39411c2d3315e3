"""Which things a name in a link means: by title or slug, else by an alias, else by an inflected
form. Misspelt names mean nothing here: a wrong link is worse than a broken one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from uuid import UUID

from knowledge.mentions.kinds import NamedThing, linked_kinds
from retrieval.text import (
    KnownName,
    NameIndex,
    fold_name,
    query_keys,
    slugify,
    spelled_keys,
    text_phrase_keys,
)
from worlds.audiences import GM, Audience
from worlds.models import World

Name = tuple[str, str]
"""The folder and the name of a link; the folder is often empty."""

folded = lru_cache(50_000)(fold_name)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The things that a name means: each a group of rows that are one thing. One group: the link is
    resolved; several: it is ambiguous."""

    groups: Sequence[Sequence[NamedThing]] = ()
    how: Literal["name", "alias"] = "name"

    @property
    def ids(self) -> list[UUID]:
        """All rows meant, with the entries that they are pages of."""
        rows = [thing for group in self.groups for thing in group]
        return sorted({each for thing in rows for each in (thing.id, thing.root)})


class NameTable:
    """Names of a world, read once for many links."""

    def __init__(self, things: Iterable[NamedThing]) -> None:
        self.things = list({thing.id: thing for thing in things}.values())
        self._by_name: dict[str, list[NamedThing]] = defaultdict(list)
        self._by_alias: dict[str, list[NamedThing]] = defaultdict(list)
        for thing in self.things:
            for name in set(map(folded, (thing.name, thing.slug, *thing.also))):
                self._by_name[name].append(thing)
            for alias in set(map(folded, thing.aliases)):
                self._by_alias[alias].append(thing)
        self._index: NameIndex | None = None
        self._parts: NameIndex | None = None

    @property
    def index(self) -> NameIndex:
        """An index of inflected forms, made only when a plain look-up fails."""
        if self._index is None:
            names = (KnownName(x.id, x.name, [*x.aliases, *x.also]) for x in self.things)
            self._index = NameIndex(names, parts=False)
        return self._index

    def similar(self, name: str, *, limit: int) -> list[UUID]:
        """Return the rows that `name` may be meant for: misspelt, or a part of their name."""
        if self._parts is None:
            self._parts = NameIndex(KnownName(x.id, x.name, x.aliases) for x in self.things)
        return [m.key for m in self._parts.find(name, limit=limit) if isinstance(m.key, UUID)]

    def things_named(self, name: str) -> list[list[NamedThing]]:
        """Return the rows of each thing that has exactly this name, as its own or as an alias."""
        key = folded(name)
        rows = [*self._by_name.get(key, ()), *self._by_alias.get(key, ())] if key else []
        return rows_by_thing({row.id: row for row in rows}.values())

    def meaning(self, name: Name, *, campaign: UUID | None = None) -> Meaning:
        """Return what `name` means in a text of `campaign`, or in one of canon."""
        folder, text = name
        key = folded(text)
        if not key:
            return Meaning()
        if rows := self._by_name.get(key):
            return Meaning(group_rows(rows, folder=folder, campaign=campaign))
        if rows := self._by_alias.get(key):
            return Meaning(group_rows(rows, folder=folder, campaign=campaign), "alias")
        ids = {match.key for match in self.index.find_spelled(text)}
        rows = [thing for thing in self.things if thing.id in ids]
        return Meaning(group_rows(rows, folder=folder, campaign=campaign), "alias")


def read_names(
    world: World,
    names: Collection[str],
    *,
    audience: Audience = GM,
    text: str = "",
    misspelt: bool = True,
    parts: bool = True,
) -> NameTable:
    """Return the names of the world that `names` may mean or that may occur in `text`, as far as
    `audience` may know them: one query for each kind. Without `misspelt` those alone that the text
    holds as they are spelled, without `parts` those that it holds whole, which are far fewer in a
    large world."""
    spans = text_phrase_keys(text)
    keys = {*spans.whole, *(key for name in names for key in spelled_keys(name))}
    if parts:
        keys |= set(spans.parts)
    if misspelt:
        keys |= set(query_keys(text))
    slugs = {slugify(name) for name in names} - {""}
    things = [
        thing
        for kind in linked_kinds()
        if kind.has_names and (keys or slugs)
        for thing in kind.named_things(world, audience, keys=keys, slugs=slugs)
    ]
    return NameTable(things)


def group_rows(
    rows: Sequence[NamedThing], *, folder: str = "", campaign: UUID | None = None
) -> list[list[NamedThing]]:
    """Return the rows of each thing together. What `campaign` has goes before canon, and canon
    before what other campaigns add, a thing with a text before a bare entity of the graph, and a
    named folder decides between equal names."""

    groups = rows_by_thing(rows, campaign=campaign)
    preferences: tuple[Callable[[list[NamedThing]], bool], ...] = (
        lambda group: any(campaign and row.campaign == campaign for row in group),
        lambda group: not all(row.campaign for row in group),
        lambda group: any(row.kind != "entity" for row in group),
        lambda group: any(is_in_folder(row, folder) for row in group),
    )
    for is_better in preferences:
        groups = [group for group in groups if is_better(group)] or groups
    return groups


def rows_by_thing(
    rows: Iterable[NamedThing], *, campaign: UUID | None = None
) -> list[list[NamedThing]]:
    """Group the rows that are one thing; of its entries that of `campaign` comes first."""

    def order(row: NamedThing) -> tuple[bool, bool, bool]:
        is_own = campaign is not None and row.campaign == campaign
        return row.kind != "lore", not is_own, row.campaign is not None

    by_root: dict[UUID, list[NamedThing]] = defaultdict(list)
    roots_by_slug: dict[str, UUID] = {}
    for row in sorted(rows, key=order):
        # An entity or NPC of an entry's slug is that entry, even if nobody has joined them.
        root = row.root
        if row.kind == "lore":
            roots_by_slug.setdefault(row.slug, root)
        elif root == row.id:
            root = roots_by_slug.setdefault(row.slug, root)
        by_root[root].append(row)
    return list(by_root.values())


def is_in_folder(row: NamedThing, folder: str) -> bool:
    """Whether the row's folder is `folder` or ends with it, as a path."""
    own, asked = (path.strip("./").casefold() for path in (row.folder, folder))
    return bool(asked) and f"/{own}".endswith(f"/{asked}")
