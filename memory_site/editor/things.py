"""A thing of the world, as its page shows it: a lore entry, an NPC, and an entity of the relation
graph that are the same place, person or object."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode

from knowledge.entry_entities import NODE_KINDS, has_entity, is_of_npc
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.models import Lore
from knowledge.views import find_lore_of, lore_of
from npcs.models import NPC
from worlds.models import World
from worlds.pages import Viewer


@dataclass
class Thing:
    """Its rows, as far as there are any and the viewer may know of them. A thing has an entry or an
    NPC, or both."""

    world: World
    entry: Lore | None = None
    npc: NPC | None = None
    node: GraphNode | None = None

    @property
    def name(self) -> str:
        if self.npc:
            return self.npc.name
        return self.entry.title if self.entry else ""

    @property
    def aliases(self) -> list[str]:
        """The names of all its rows, without the one that is its title."""
        rows = [(self.npc.name, self.npc.aliases)] if self.npc else []
        rows += [(self.entry.title, self.entry.aliases)] if self.entry else []
        names = [name for title, aliases in rows for name in (*aliases, title)]
        return [name for name in dict.fromkeys(names) if name != self.name]

    @property
    def row(self) -> Lore | NPC:
        """The row whose visibility is the thing's."""
        row = self.entry or self.npc
        assert row
        return row

    @property
    def language(self) -> str:
        return self.row.language

    def address(self, page: str = "") -> str:
        """The address of the thing, or of its page `edit`, `history` or `delete`."""
        prefix = "npc" if self.npc else "lore-entry"
        name = f"{'npc' if self.npc else 'lore'}-{page}" if page else prefix
        row = self.npc or self.entry
        assert row
        url = reverse(name, args=[self.world.slug, row.slug])
        if isinstance(row, Lore) and row.campaign:
            url += "?" + urlencode({"campaign": row.campaign.slug})
        elif isinstance(row, Lore) and page:
            # A campaign may have an entry of the same slug, which would be read before canon.
            url += "?canon"
        return url

    @property
    def relation_address(self) -> str:
        """Where a relation of the thing is added; empty for what takes no part in relations."""
        if self.node:
            return reverse("relation-add", args=[self.world.slug, self.node.slug])
        entry = self.entry
        if entry is None or entry.campaign_id or not has_entity(entry.kind):
            return ""
        return reverse("lore-relation-add", args=[self.world.slug, entry.slug])


def find_entry(viewer: Viewer, slug: str, *, campaign: str = "", canon: bool = False) -> Lore:
    """Return the entry of this slug as the viewer knows it; for a game master, that of `campaign`
    (a slug) or of canon, if asked for. Raises Http404."""
    if not (campaign and viewer.is_gm):
        return find_lore_of(viewer, slug, canon=canon)
    rows = Lore.objects.in_world(viewer.world).filter(slug=slug, campaign__slug=campaign)
    rows = rows.select_related("campaign", "overrides", "custom_kind")
    entry: Lore = get_object_or_404(rows)
    return entry


def thing_of_entry(viewer: Viewer, entry: Lore) -> Thing:
    npc = None
    if entry.kind == Lore.Kind.BIOGRAPHY:
        people = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
        npc = people.filter(biography=entry).order_by("pk").first()
    return Thing(viewer.world, entry, npc, find_node(viewer, entry=entry, npc=npc))


def thing_of_npc(viewer: Viewer, npc: NPC) -> Thing:
    """The person with the entry that is about nobody else. The biography of some NPCs is the page
    of a place or a faction: that is a thing of its own."""
    entry = None
    if npc.biography_id:
        rows = lore_of(viewer).filter(kind=Lore.Kind.BIOGRAPHY)
        entry = rows.filter(pk=npc.biography_id).first()
    return Thing(viewer.world, entry, npc, find_node(viewer, entry=entry, npc=npc))


def find_node(viewer: Viewer, *, entry: Lore | None, npc: NPC | None) -> GraphNode | None:
    """Return the entity that the viewer may know of."""
    nodes: Any = View(viewer.world, viewer.audience).entities()
    node: GraphNode | None
    if npc:
        node = nodes.filter(slug=npc.slug, kind=NodeKind.CHARACTER).first()
        return node
    if entry is None or entry.campaign_id:
        return None
    rows = nodes.filter(Q(lore=entry) | Q(lore=None, slug=entry.slug)).order_by("pk")
    own = [each for each in rows if not is_of_npc(each) or entry.kind == Lore.Kind.BIOGRAPHY]
    kind = NODE_KINDS.get(entry.kind)
    # That of the entry's kind first: it may have been saved under another before.
    return min(own, key=lambda each: (each.kind != kind, each.slug != entry.slug), default=None)
