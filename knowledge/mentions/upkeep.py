"""Links follow rows that are deleted, and entities that are saved, whoever does it.

Entries are saved by `knowledge.entry_store` alone, which writes their links itself. Deletions come
from the admin, cascades and erasure, so a signal is their one place (docs/decisions/0040).
"""

from collections.abc import Sequence
from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from knowledge.graph.models import GraphNode
from knowledge.graph.upsert import nodes_inserted
from knowledge.mentions.store import forget_sources, resolve_again
from knowledge.models import Lore, Rule
from worlds.models import World


def is_world_deleted(origin: Any) -> bool:
    """Whether the row goes with its world: then all links go, too."""
    return isinstance(origin, World) or getattr(origin, "model", None) is World


@receiver(post_delete, sender=Lore)
def forget_entry(instance: Lore, origin: Any = None, **_signal: Any) -> None:
    if not is_world_deleted(origin):
        forget_sources("lore", [instance.pk])
        resolve_again(instance.world, [instance.pk])


@receiver(post_delete, sender=Rule)
def forget_rule(instance: Rule, **_signal: Any) -> None:
    if instance.world_id:
        forget_sources("rule", [instance.pk])


@receiver(post_save, sender=GraphNode)
def follow_entity(instance: GraphNode, **_signal: Any) -> None:
    follow_entities(instance.world, [instance])


@receiver(nodes_inserted, sender=GraphNode)
def follow_entities(world: World, nodes: Sequence[GraphNode], **_signal: Any) -> None:
    names = [name for node in nodes for name in (node.name, node.slug, *node.aliases)]
    resolve_again(world, [node.pk for node in nodes], names)


@receiver(post_delete, sender=GraphNode)
def forget_entity(instance: GraphNode, origin: Any = None, **_signal: Any) -> None:
    if not is_world_deleted(origin):
        resolve_again(instance.world, [instance.pk])
