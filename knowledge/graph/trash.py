"""Entities of rows in the trash: hidden from every query, and shown again as they were."""

from typing import Any

from django.db.models import F

from knowledge.graph.models import GraphNode
from worlds.trash import Trashable

HIDDEN_SLUG = "in-trash-{}"


def hide_node(node: GraphNode) -> dict[str, Any]:
    """Hide the entity with all its facts; return what `show_node` needs."""
    record = {"node": str(node.pk), "slug": node.slug}
    # An entity that was believed for no time is seen at none: neither now nor in a view of the
    # past. Its slug is free for another one meanwhile.
    GraphNode.objects.filter(pk=node.pk).update(
        believed_until=F("believed_from"), slug=HIDDEN_SLUG.format(node.pk.hex)
    )
    return record


def show_node(record: dict[str, Any]) -> None:
    """Show the entity again, under its old slug if that is still free."""
    node = GraphNode.objects.filter(pk=record["node"]).first()
    if node is None:
        return
    same_slug = GraphNode.objects.filter(world=node.world_id, slug=record["slug"])
    slug = f"{record['slug'][:80]}-{node.pk.hex[-8:]}" if same_slug.exists() else record["slug"]
    GraphNode.objects.filter(pk=node.pk).update(believed_until=None, slug=slug)


class TrashedWithEntities(Trashable):
    """A row whose entities are hidden with it; `trash_data["nodes"]` are their records."""

    class Meta:
        abstract = True

    def delete_for_good(self) -> None:
        nodes = [record["node"] for record in self.trash_data.get("nodes", [])]
        super().delete_for_good()
        GraphNode.objects.filter(pk__in=nodes).exclude(believed_until=None).delete()
