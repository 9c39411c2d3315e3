"""Every canon entry of an import that is a place, a person, an item and the like is an entity of
the relation graph."""

from collections.abc import Iterable
from uuid import UUID

from knowledge.entry_entities import (
    EntityFinder,
    EntityPage,
    is_of_npc,
    make_entities,
    page_of_entry,
    write_entity,
)
from knowledge.graph.models import GraphNode, SourceKind
from knowledge.graph.upsert import lock_graph
from knowledge.models import Lore
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import Values, values_of
from retrieval.errors import Conflict
from worlds.models import World


class EntityWriter:
    """Makes the entities of entries, and remembers them by the ids of their entries."""

    def __init__(self, world: World, report: WriteReport) -> None:
        self.world, self.report = world, report
        self.nodes: dict[UUID, GraphNode] = {}

    def write(self, entries: Iterable[tuple[str, Lore]]) -> None:
        """Make or bring in step the entity of each entry; with each comes its place in the
        source."""
        pages: dict[UUID, tuple[str, EntityPage]] = {}
        for where, entry in entries:
            entry.world = self.world  # else each would read it
            page = page_of_entry(entry)
            if page and page.kind and entry.pk not in self.nodes:
                pages[entry.pk] = (where, page)
        if not pages:
            return
        lock_graph(self.world)
        finder = EntityFinder.for_pages(self.world, [page for _where, page in pages.values()])
        missing = {}
        for entry_id, (where, page) in pages.items():
            node = finder.find(page)
            if node is None:
                missing[entry_id] = (where, page)
            else:
                # An NPC writes its own entity, with more names than its biography has.
                self.nodes[entry_id] = node if is_of_npc(node) else self._update(where, page, node)
        made = make_entities(
            self.world, [page for _where, page in missing.values()], source=SourceKind.IMPORT
        )
        for (entry_id, (where, page)), node in zip(missing.items(), made, strict=True):
            self.nodes[entry_id] = node
            self._report(where, page, node, "created")

    def _update(self, where: str, page: EntityPage, old: GraphNode) -> GraphNode:
        before = values_of("entity", old)
        try:
            _node, outcome = write_entity(page, old)
        except Conflict as problem:
            self.report.note(where, problem.detail)
            # Values that were not saved must not look like stored ones.
            return GraphNode.objects.get(pk=old.pk)
        self._report(where, page, old, outcome, before=before if outcome == "changed" else None)
        return old

    def _report(
        self,
        where: str,
        page: EntityPage,
        node: GraphNode,
        outcome: str,
        *,
        before: Values | None = None,
    ) -> None:
        after = values_of("entity", node) if outcome != "unchanged" else None
        name = page.names[0]
        self.report.add(
            "entity", node, outcome, name=name, source=where, before=before, after=after
        )
