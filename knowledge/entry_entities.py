"""Entities of lore entries: which kinds of entry are one in the relation graph, and how the entity
follows the page of its thing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q
from django.dispatch import Signal
from django.utils.translation import gettext as _

from knowledge.graph.fact_store import keep_revelations
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind, SourceKind
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import free_slug, insert_nodes, lock_graph
from knowledge.models import Lore
from retrieval.errors import Conflict
from retrieval.text import fold_name, name_keys
from worlds.audiences import Visibility
from worlds.models import World

NODE_KINDS: dict[str, NodeKind] = {
    Lore.Kind.PLACE: NodeKind.LOCATION,
    Lore.Kind.FACTION: NodeKind.FACTION,
    Lore.Kind.BIOGRAPHY: NodeKind.CHARACTER,
    Lore.Kind.ITEM: NodeKind.ITEM,
    Lore.Kind.EVENT: NodeKind.EVENT,
    Lore.Kind.TIMELINE: NodeKind.EVENT,
    Lore.Kind.QUEST: NodeKind.QUEST,
}
"""The kind of entity of each kind of entry; entries of other kinds take no part in relations."""

AUDIENCE = ("visibility", "known_to")
ENTITY_FIELDS = {"slug", "kind", "title", "aliases", "status", "campaign", *AUDIENCE}
"""Fields of an entry on which its entity depends."""

OF_NPC = "npc:"
"""Begins the source of the entity of an NPC."""

entities_written = Signal()
"""Sent with `world` and `saved`, a list of `SavedEntry`, when the entities of entries are in step
with fields that were changed, within the transaction that holds the lock of the graph."""

Outcome = Literal["created", "changed", "unchanged"]


def has_entity(kind: str) -> bool:
    """Whether entries of this kind are entities. Those of a campaign are not: the graph is
    canon."""
    return kind in NODE_KINDS


def is_of_npc(node: GraphNode) -> bool:
    """Whether the entity follows an NPC, which knows more names than its biography."""
    return node.source_ref.startswith(OF_NPC)


@dataclass(frozen=True)
class EntityPage:
    """What an entity takes from the page of its thing. The first of the `names` is its name, the
    others are aliases. Without a `kind` no entity is made, and one that exists keeps its own."""

    world: World
    slug: str
    names: Sequence[str]
    kind: NodeKind | None
    lore_id: UUID | None = None
    visibility: str = Visibility.GM
    known_to: Sequence[str] = ()

    def values(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "name": self.names[0],
            "aliases": [name for name in dict.fromkeys(self.names[1:]) if name],
            "visibility": self.visibility,
            "known_to": sorted(self.known_to) if self.visibility != Visibility.GM else [],
        }
        if self.kind:
            values["kind"] = self.kind
        if self.lore_id:
            values["lore_id"] = self.lore_id
        return values


def page_of_entry(entry: Lore) -> EntityPage | None:
    """What the entity of a canon entry is like; None for an entry of a campaign. The name of a
    draft is the game master's alone, whoever will know the entry."""
    if entry.campaign_id:
        return None
    is_draft = entry.status == Lore.Status.DRAFT
    return EntityPage(
        world=entry.world,
        slug=entry.slug,
        names=(entry.title, *entry.aliases),
        kind=NODE_KINDS.get(entry.kind),
        lore_id=entry.pk,
        visibility=Visibility.GM if is_draft else entry.visibility,
        known_to=entry.known_to,
    )


def ensure_entity(entry: Lore) -> GraphNode | None:
    """Make the entity of an entry, or bring it in step; None for an entry that is none. Raises
    `Conflict` when its relations do not fit its kind. Call within a transaction."""
    page = page_of_entry(entry)
    if page is None:
        return None
    lock_graph(entry.world)
    return write_entity(page, EntityFinder.for_pages(entry.world, [page]).find(page))[0]


@dataclass
class EntityFinder:
    """Finds the entities of many pages, with one query. An entity of a page has its entry, or it
    has no entry, the same kind, and the slug or the name of the page."""

    by_lore: dict[UUID, list[GraphNode]] = field(default_factory=dict)
    by_slug: dict[str, GraphNode] = field(default_factory=dict)
    without_page: dict[str, list[GraphNode]] = field(default_factory=dict)

    @classmethod
    def for_pages(cls, world: World, pages: Iterable[EntityPage]) -> "EntityFinder":
        pages = list(pages)
        finder = cls()
        wanted = Q(lore__in=[page.lore_id for page in pages if page.lore_id])
        wanted |= Q(slug__in=[page.slug for page in pages])
        wanted |= Q(lore=None, keys__overlap=name_keys(*(page.names[0] for page in pages)))
        nodes: Any = GraphNode.objects.believed_now().in_world(world)
        for node in nodes.filter(wanted).order_by("pk"):
            finder.by_slug[node.slug] = node
            if node.lore_id:
                finder.by_lore.setdefault(node.lore_id, []).append(node)
            else:
                finder.without_page.setdefault(fold_name(node.name), []).append(node)
        return finder

    def find(self, page: EntityPage) -> GraphNode | None:
        nodes = self.by_lore.get(page.lore_id, []) if page.lore_id else []
        same_slug = [self.by_slug[page.slug]] if page.slug in self.by_slug else []
        same_name = self.without_page.get(fold_name(page.names[0]), [])
        free = [node for node in (*same_slug, *same_name) if node.lore_id is None]
        candidates = [node for node in (*nodes, *free) if node.kind == page.kind]
        # Of another kind by now; but the page of a place may be the biography of an NPC.
        candidates += [node for node in nodes if node.slug == page.slug and not is_of_npc(node)]
        return candidates[0] if candidates else None


def write_entity(
    page: EntityPage, node: GraphNode | None, *, source: SourceKind = SourceKind.LORE
) -> tuple[GraphNode | None, Outcome]:
    """Make the entity of a page, or change `node` into it. What the reveal log has opened stays
    open. Raises `Conflict` when the relations of `node` do not fit the new kind."""
    if node is None:
        if page.kind is None:
            return None, "unchanged"
        return make_entities(page.world, [page], source=source)[0], "created"
    changed = set_values(node, page.values())
    if not changed:
        return node, "unchanged"
    if "kind" in changed:
        _require_fitting(node)
    node.save(update_fields=[*changed, "keys"])
    return node, "changed"


def _require_fitting(node: GraphNode) -> None:
    """Raise `Conflict` when a fact about the entity does not fit its new kind. The database would
    say so at the end of the transaction only. Facts that texts state or stated, and retracted ones,
    go: what a text states is read again."""
    relations = Relations.load()
    facts = GraphEdge.objects.filter(Q(src=node) | Q(dst=node))
    gone = []
    for fact in facts:
        src_kind = node.kind if fact.src_id == node.pk else fact.src_kind
        dst_kind = node.kind if fact.dst_id == node.pk else fact.dst_kind
        if (src_kind, dst_kind) in relations.require(fact.relation_id).joins:
            continue
        is_read = fact.source_note and fact.source_ref.startswith("lore:") and not fact.edited_by
        if fact.believed_until is None and not is_read:
            text = _("It has relations that do not fit the new kind: end or retract them first.")
            raise Conflict(text)
        gone.append(fact.pk)
    GraphEdge.objects.filter(pk__in=gone).delete()


def make_entities(
    world: World, pages: Sequence[EntityPage], *, source: SourceKind = SourceKind.LORE
) -> list[GraphNode]:
    """Make the entities of pages that have none and that have a kind, in a few statements."""
    wanted = [page.slug for page in pages]
    nodes = GraphNode.objects.filter(world=world, slug__in=wanted)
    taken = set(nodes.values_list("slug", flat=True))
    new = []
    for page in pages:
        slug = page.slug if page.slug not in taken else free_slug(world, page.slug, also=taken)
        taken.add(slug)
        origin = {"source_kind": source, "source_ref": f"lore:{page.slug}"[:200]}
        new.append(GraphNode(world=world, slug=slug, **origin, **page.values()))
    insert_nodes(world, new)
    return new


def set_values(node: GraphNode, values: dict[str, Any]) -> set[str]:
    """Give `node` the values of its page, unsaved; return the names of those that differed."""
    guard = GraphNode(visibility=values["visibility"], known_to=values["known_to"])
    keep_revelations(node, guard)
    values = {**values, "visibility": guard.visibility, "known_to": guard.known_to}
    changed = {name for name, value in values.items() if getattr(node, name) != value}
    for name in changed:
        setattr(node, name, values[name])
    return changed


def make_missing_entities(world: World) -> int:
    """Make the entities of the canon entries that have none; return how many. Call within a
    transaction that holds the lock of the graph."""
    entries = list(Lore.objects.filter(world=world, campaign=None, kind__in=NODE_KINDS))
    for entry in entries:
        entry.world = world  # else each would read it
    pages = [page for entry in entries if (page := page_of_entry(entry))]
    finder = EntityFinder.for_pages(world, pages)
    return len(make_entities(world, [page for page in pages if finder.find(page) is None]))


@dataclass(frozen=True)
class SavedEntry:
    """An entry that was written, the names of the fields that differ from before, of a new one
    all, and its row of before, if it had one."""

    entry: Lore
    fields: Collection[str]
    old: Lore | None = None

    def page(self, node: GraphNode | None) -> EntityPage | None:
        """What the entity is to be like. The names that it had besides those of the entry stay."""
        page = page_of_entry(self.entry)
        if page is None or node is None:
            return page
        old_names = (self.old.title, self.old.slug, *self.old.aliases) if self.old else ()
        names = {*old_names, *page.names}
        return replace(page, names=(*page.names, *(n for n in node.aliases if n not in names)))


def keep_entities(world: World, saved: Sequence[SavedEntry]) -> None:
    """Make the entities of entries of one world that have none, and bring the others in step with
    the fields that were changed; those of NPCs follow their NPC. Raises `Conflict`, naming the
    entry. Call within a transaction that holds the lock of the graph."""
    saved = [each for each in saved if ENTITY_FIELDS & set(each.fields)]
    pages = {each.entry.pk: page for each in saved if (page := page_of_entry(each.entry))}
    finder = EntityFinder.for_pages(world, pages.values()) if pages else EntityFinder()
    missing: list[EntityPage] = []
    hidden: list[GraphNode] = []
    for each in saved:
        page = pages.get(each.entry.pk)
        node = finder.find(page) if page else None
        if page is None:
            continue
        if node is None:
            missing += [page] if page.kind else []
        elif not is_of_npc(node):
            hidden += _bring_in_step(each, node)
    GraphNode.objects.bulk_update(hidden, AUDIENCE)
    make_entities(world, missing)
    _hide_moved(world, [each.entry for each in saved if each.entry.campaign_id])
    if saved:
        entities_written.send(Lore, world=world, saved=saved)


def _bring_in_step(saved: SavedEntry, node: GraphNode) -> list[GraphNode]:
    """Save the entity, unless only its audience has changed: then return it, to be saved with
    others."""
    page = saved.page(node)
    assert page
    changed = set_values(copy(node), page.values())
    if changed <= set(AUDIENCE):
        set_values(node, page.values())
        return [node] if changed else []
    try:
        write_entity(page, node)
    except Conflict as problem:
        raise Conflict(f"{page.names[0]}: {problem.detail}") from problem
    return []


def _hide_moved(world: World, entries: Sequence[Lore]) -> None:
    """Hide the entities of entries that were moved from canon to a campaign: the entry may be
    hidden from the other campaigns, and the graph is canon."""
    nodes = GraphNode.objects.filter(world=world, lore__in=entries) if entries else []
    for node in nodes:
        if not is_of_npc(node):
            node.visibility, node.known_to = Visibility.GM, []
            node.save(update_fields=AUDIENCE)


def make_way(world: World, slugs: Mapping[str, UUID | None]) -> None:
    """Free the slugs of NPCs, whose entities go by them, from the entities of entries: that of the
    NPC's biography (the values) becomes the NPC's, that of a place gets another slug."""
    rows = GraphNode.objects.filter(Q(slug__in=slugs) | Q(lore__in=filter(None, slugs.values())))
    nodes = [n for n in rows.filter(world=world, believed_until=None) if not is_of_npc(n)]
    by_slug = {node.slug: node for node in nodes}
    people = {n.lore_id: n for n in nodes if n.kind == NodeKind.CHARACTER and n.lore_id}
    for slug, biography in slugs.items():
        taken, own = by_slug.get(slug), people.get(biography) if biography else None
        if taken and taken.kind != NodeKind.CHARACTER:
            _give_slug(taken, free_slug(world, slug))
            taken = None
        if own and taken is None and not rows.filter(world=world, slug=slug).exists():
            _give_slug(own, slug)


def step_aside(world: World, slugs: Collection[str]) -> None:
    """Free the slugs of NPCs that come back from the trash: what an entry got meanwhile goes, or
    gets another slug when facts are about it."""
    nodes = GraphNode.objects.filter(world=world, slug__in=slugs, believed_until=None)
    for node in nodes:
        if node.facts_from.exists() or node.facts_to.exists():
            _give_slug(node, free_slug(world, node.slug))
        else:
            node.delete()


def _give_slug(node: GraphNode, slug: str) -> None:
    node.slug = slug
    node.save(update_fields=["slug"])
