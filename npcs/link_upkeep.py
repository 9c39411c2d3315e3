"""Links and consequences follow NPCs and their secrets, whoever saves or deletes them one by one:
the admin, pages, cascades (docs/decisions/0040). `npcs.upsert` writes many at once and calls the
same functions. Faction and home of NPCs follow the entries that they name."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.db.models.signals import post_delete, post_save, pre_delete
from django.dispatch import receiver

from episodes.ingest import lock_party
from knowledge.entry_entities import SavedEntry, entities_written
from knowledge.mentions.store import forget_sources, resolve_again
from knowledge.mentions.upkeep import is_world_deleted
from knowledge.models import Lore
from npcs.dispositions import recompute_dispositions
from npcs.field_facts import FIELD_COLUMNS, write_field_facts
from npcs.field_links import npcs_without_entry
from npcs.links import NPCLinks, follow_npcs, follow_secrets
from npcs.models import NPC, DispositionChange, Secret
from npcs.upsert import store_npcs
from worlds.models import Party, World

NAMES = {"title", "slug", "aliases", "campaign"}


@receiver(entities_written, sender=Lore)
def follow_named_entries(world: World, saved: Sequence[SavedEntry], **_signal: Any) -> None:
    """Complete the NPCs whose faction or home is an entry that was written or renamed, and the
    facts of those whose entry has become a faction or a place."""
    canon = [each for each in saved if each.entry.campaign_id is None]
    if named := [each.entry for each in canon if NAMES & set(each.fields)]:
        store_npcs(npcs_without_entry(world, named), reason="the entry of a name was written")
    changed = [each.entry for each in canon if each.old and {"kind", "campaign"} & set(each.fields)]
    if changed:
        rows: Any = NPC.objects.filter(world=world).select_related("world")
        npcs = rows.filter(Q(faction_lore__in=changed) | Q(home_lore__in=changed))
        write_field_facts(world, dict.fromkeys(npcs, FIELD_COLUMNS))


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


@receiver(pre_delete, sender=NPC)
def note_consequences(instance: NPC, origin: Any = None, **_signal: Any) -> None:
    """Note whom changes of the NPC had consequences for: those go with the NPC."""
    instance.reached = []  # type: ignore[attr-defined]
    if not is_world_deleted(origin):
        rows = DispositionChange.objects.filter(cause__npc=instance).exclude(npc=instance)
        pairs = rows.order_by("party").values_list("party", "npc").distinct()
        instance.reached = list(pairs)  # type: ignore[attr-defined]


@receiver(post_delete, sender=NPC)
def take_consequences(instance: NPC, **_signal: Any) -> None:
    for party, npc in getattr(instance, "reached", ()):
        recompute_dispositions(lock_party(Party.objects.get(pk=party)), [npc])
