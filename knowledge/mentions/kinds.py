"""The kinds of rows that have linked texts, or names that links mean.

Apps above `knowledge` add kinds without being imported from here: `settings.LINKED_KINDS` lists the
classes (like `EPISODE_EFFECTS`, docs/decisions/0020).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.module_loading import import_string

from knowledge.link_models import Link
from worlds.audiences import Audience
from worlds.models import World


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A row that links can name. Rows with the same `root` are one thing: an NPC, the biography of
    it and its entity of the graph. A row with a `campaign` is part of its overlay. `also` are names
    that count like its own: those of the entry that it replaces, where that one is not read."""

    id: UUID
    kind: str
    slug: str
    name: str
    aliases: Sequence[str]
    root: UUID
    folder: str = ""
    campaign: UUID | None = None
    also: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LinkedThing:
    """A row as pages show it. `summary` is its first sentence, as far as the audience may know."""

    id: UUID
    kind: str
    slug: str
    title: str
    label: str
    summary: str = ""
    language: str = ""
    visibility: str = ""

    def url(self, world: World) -> str:
        """The address of its page."""
        if self.kind == "entity":
            return f"{reverse('graph', args=[world.slug])}?{urlencode({'around': self.slug})}"
        views = {"lore": "lore-entry", "npc": "npc", "episode": "episode", "rule": "rule"}
        return reverse(views[self.kind], args=[world.slug, self.slug])

    def card_url(self, world: World) -> str:
        return reverse("card", args=[world.slug, self.kind, self.slug])


@dataclass(frozen=True, slots=True)
class TextPart:
    """A row that carries the audience of a part of a text: a passage or a secret."""

    id: UUID
    text: str
    secret: bool
    audiences: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SourceText:
    """One text of a row. `hidden`: only game masters read it, whatever its blocks say. `parts` are
    the rows that cut it into audiences, in order. `with_names`: unlinked names count, too.
    `campaign`: the one whose overlay holds the text, where names mean its entries first."""

    source_id: UUID
    field: str
    text: str
    hidden: bool = False
    parts: Sequence[TextPart] = ()
    with_names: bool = False
    campaign: UUID | None = None


class LinkedKind(Protocol):
    """What one kind of rows does for links. Methods that take an audience return what it may know
    of; the queries of each are a fixed number."""

    kind: str
    has_names: bool
    """Whether links can mean rows of this kind."""

    def named_things(
        self, world: World, audience: Audience, *, keys: Collection[str], slugs: Collection[str]
    ) -> Iterable[NamedThing]:
        """Return the rows whose names may share a key with `keys`, or whose slug is among
        `slugs`."""

    def things(
        self, world: World, audience: Audience, ids: Collection[UUID]
    ) -> Iterable[LinkedThing]: ...

    def find(self, world: World, audience: Audience, slug: str) -> LinkedThing | None: ...

    def visible(
        self, links: "QuerySet[Link]", world: World, audience: Audience
    ) -> "QuerySet[Link]":
        """Narrow links whose source is of this kind to those that `audience` can read."""

    def excerpts(self, links: Sequence[Link], audience: Audience) -> dict[int, str]:
        """Return the text around each link, taken from what `audience` can read."""

    def texts(self, world: World, ids: Collection[UUID] | None = None) -> Iterator[SourceText]:
        """Return the texts of the rows with `ids`, or of all."""

    def campaigns(self, ids: Collection[UUID]) -> dict[UUID, UUID | None]:
        """Return the campaign of each of these rows, of those that have one."""

    def rewrite(
        self, world: World, ids: Collection[UUID], change: Callable[[str], str], *, reason: str
    ) -> int:
        """Apply `change` to every text of the rows and save those that changed, with their history
        and links; return how many."""

    def rename(self, world: World, ids: Collection[UUID], *, old: str, new: str) -> Any:
        """Rename the rows that are called `old`, which stays as an alias."""


@cache
def linked_kinds() -> tuple[LinkedKind, ...]:
    return tuple(import_string(path)() for path in settings.LINKED_KINDS)


def linked_kind(kind: str) -> LinkedKind | None:
    return next((each for each in linked_kinds() if each.kind == kind), None)
