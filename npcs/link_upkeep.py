"""Links follow NPCs and their secrets, whoever saves or deletes them: engines, the admin, pages,
imports (docs/decisions/0040)."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from knowledge.mentions.store import forget_sources, resolve_again, save_links_of
from knowledge.mentions.upkeep import is_world_deleted
from npcs.links import NPCLinks, follow_npcs
from npcs.models import NPC, Secret


@receiver(post_save, sender=NPC)
def follow_npc(instance: NPC, **_signal: Any) -> None:
    follow_npcs([instance])


@receiver([post_save, post_delete], sender=Secret)
def follow_secret(instance: Secret, origin: Any = None, **_signal: Any) -> None:
    # A secret that goes with its NPC or world takes no links with it that stay.
    if origin is None or isinstance(origin, Secret):
        save_links_of(instance.world, NPCLinks.kind, [instance.npc_id])


@receiver(post_delete, sender=NPC)
def forget_npc(instance: NPC, origin: Any = None, **_signal: Any) -> None:
    if not is_world_deleted(origin):
        forget_sources(NPCLinks.kind, [instance.pk])
        resolve_again(instance.world, [instance.pk])
