"""Links follow NPCs and their secrets, whoever saves or deletes them one by one: the admin, pages,
cascades (docs/decisions/0040). `npcs.upsert` writes many at once and calls the same functions."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from knowledge.mentions.store import forget_sources, resolve_again
from knowledge.mentions.upkeep import is_world_deleted
from npcs.links import NPCLinks, follow_npcs, follow_secrets
from npcs.models import NPC, Secret


@receiver(post_save, sender=NPC)
def follow_npc(instance: NPC, **_signal: Any) -> None:
    follow_npcs([instance])


@receiver([post_save, post_delete], sender=Secret)
def follow_secret(instance: Secret, origin: Any = None, **_signal: Any) -> None:
    # A secret that goes with its NPC or world takes no links with it that stay.
    if origin is None or isinstance(origin, Secret):
        follow_secrets([instance])


@receiver(post_delete, sender=NPC)
def forget_npc(instance: NPC, origin: Any = None, **_signal: Any) -> None:
    if not is_world_deleted(origin):
        forget_sources(NPCLinks.kind, [instance.pk])
        resolve_again(instance.world, [instance.pk])
