"""Read links: those of a text, those to a thing, and those that lead nowhere."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from knowledge.graph.models import GraphNode
from knowledge.link_models import Link
from knowledge.mentions.kinds import LinkedKind, LinkedThing, linked_kind, linked_kinds
from knowledge.mentions.names import NameTable, read_names
from knowledge.models import Lore
from worlds.audiences import GM, Audience
from worlds.models import World

MOST_BACKLINKS = 100
CANDIDATES = 5


@dataclass(frozen=True)
class Backlink:
    """A text that mentions a thing, with the words around its first mention there."""

    source: LinkedThing
    url: str
    excerpt: str
    secret: bool
    mentions: int


@dataclass(frozen=True)
class BrokenName:
    """A name that links use and nothing has, or several things have. `sources`: a few of the texts.
    `candidates`: things that it may mean."""

    name: str
    ambiguous: bool
    links: int
    sources: Sequence[tuple[LinkedThing, str]]
    candidates: Sequence[LinkedThing]


def links_of(kind: str, source_id: UUID) -> QuerySet[Link]:
    """The links in the texts of one row, in their order."""
    return Link.objects.filter(source_kind=kind, source_id=source_id).order_by("field", "position")


def rows_of_thing(entry: Lore) -> set[UUID]:
    """Return the ids of the rows that are one thing with `entry`: what it overrides, and its
    entities. Upper apps add theirs, such as the NPC of a biography."""
    nodes = GraphNode.objects.filter(lore=entry).values_list("pk", flat=True)
    return {entry.pk, *nodes, *({entry.overrides_id} if entry.overrides_id else ())}


def backlinks(
    world: World,
    ids: Collection[UUID],
    audience: Audience,
    *,
    kinds: Collection[str] | None = None,
    limit: int = MOST_BACKLINKS,
) -> list[Backlink]:
    """Return the texts that mention any of the rows `ids`, by title, as far as `audience` may know
    both the text and the mention in it. `kinds` narrows to these kinds of texts."""
    rows = Link.objects.filter(world=world, targets__overlap=list(ids))
    rows = rows.exclude(source_id__in=ids)
    result: list[Backlink] = []
    for kind in linked_kinds():
        if kinds is None or kind.kind in kinds:
            result += _backlinks_of_kind(kind, rows, world, audience, limit=limit)
    return sorted(result, key=lambda each: (each.source.title.casefold(), each.url))[:limit]


def _backlinks_of_kind(
    kind: LinkedKind, rows: "QuerySet[Link]", world: World, audience: Audience, *, limit: int
) -> Iterable[Backlink]:
    visible = kind.visible(rows.filter(source_kind=kind.kind), world, audience)
    ids = visible.order_by("source_id").values_list("source_id", flat=True).distinct()[:limit]
    links: dict[UUID, list[Link]] = {each: [] for each in ids}
    if not links:
        return
    for link in visible.filter(source_id__in=list(links)).order_by("position"):
        links[link.source_id].append(link)
    firsts = {source: _most_telling(each) for source, each in links.items()}
    excerpts = kind.excerpts(list(firsts.values()), audience)
    for thing in kind.things(world, audience, list(links)):
        first = firsts[thing.id]
        yield Backlink(
            source=thing,
            url=thing.url(world),
            excerpt=excerpts.get(first.pk, ""),
            secret=all(link.secret for link in links[thing.id]),
            mentions=len(links[thing.id]),
        )


def _most_telling(links: Sequence[Link]) -> Link:
    """The first link in the open, else the first with a text around it, else the first."""
    return next(
        (link for link in links if not link.secret),
        next((link for link in links if link.part), links[0]),
    )


def broken_names(world: World) -> QuerySet[Any]:
    """The names that lead nowhere or to several things, with the number of their links. The texts
    are not checked one by one: links of a deleted row are deleted with it."""
    broken = Link.objects.filter(world=world).exclude(state=Link.State.RESOLVED)
    names = broken.exclude(kind=Link.Kind.NAME).values("name", "folder", "state")
    return names.annotate(links=Count("pk")).order_by("-links", "name", "folder")


def broken_links(world: World, names: Sequence[dict[str, Any]]) -> list[BrokenName]:
    """Return some of `broken_names` with the texts that use them and the things they may mean. A
    fixed number of queries, whatever the number of names."""
    wanted = [each["name"] for each in names]
    rows = Link.objects.filter(world=world, name__in=wanted).exclude(kind=Link.Kind.NAME)
    links = rows.filter(~Q(state=Link.State.RESOLVED)).order_by("name", "source_id", "position")
    sources: dict[tuple[str, str, UUID], Link] = {}
    for link in links.iterator():
        sources.setdefault((link.name, link.folder, link.source_id), link)
    # As a text, so that misspelt names find theirs, too.
    table = read_names(world, wanted, text=" ".join(wanted))
    candidate_ids = {each["name"]: _candidates(table, each) for each in names}
    wanted_ids = {each for ids in candidate_ids.values() for each in ids}
    wanted_ids |= {link.source_id for link in sources.values()}
    things = _things(world, wanted_ids)
    return [
        BrokenName(
            name="/".join(filter(None, [each["folder"], each["name"]])),
            ambiguous=each["state"] == Link.State.AMBIGUOUS,
            links=each["links"],
            sources=[
                (things[link.source_id], link.raw)
                for (name, folder, _source), link in sources.items()
                if (name, folder) == (each["name"], each["folder"]) and link.source_id in things
            ],
            candidates=[things[i] for i in candidate_ids[each["name"]] if i in things],
        )
        for each in names
    ]


def _candidates(table: NameTable, broken: dict[str, Any]) -> list[UUID]:
    meaning = table.meaning((broken["folder"], broken["name"]))
    if meaning.groups:
        return [leading_row(group).id for group in meaning.groups]
    return table.similar(broken["name"], limit=CANDIDATES)


def _things(
    world: World, ids: Collection[UUID], audience: Audience = GM
) -> dict[UUID, LinkedThing]:
    """Return the things of these ids, whatever their kind: one query for each kind."""
    kinds = linked_kinds() if ids else ()
    return {each.id: each for kind in kinds for each in kind.things(world, audience, ids)}


def leading_row(group: Sequence[Any]) -> Any:
    """The row of a thing whose page shows it best: the NPC's, else the entry's, else the
    entity's."""
    order = ("npc", "lore", "entity")
    return min(group, key=lambda row: order.index(row.kind) if row.kind in order else len(order))


def find_thing(world: World, audience: Audience, kind: str, slug: str) -> LinkedThing | None:
    """Return the thing with this kind and slug, if `audience` may know of it."""
    source = linked_kind(kind)
    return source.find(world, audience, slug) if source else None
