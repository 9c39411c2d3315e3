"""Move NPCs to the trash, and restore them with their entities. Their secrets, dispositions and
ledger stay where they are and are hidden with them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from simple_history.utils import bulk_update_with_history

from knowledge.entry_entities import step_aside
from knowledge.entry_facts import complete_texts_about
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.trash import hide_node, show_node
from knowledge.graph.upsert import lock_graph
from knowledge.mentions.store import forget_sources, resolve_again
from npcs.dispositions import recompute_all_parties
from npcs.links import follow_npcs
from npcs.models import NPC, NPCMerge
from npcs.upsert import store_npcs
from retrieval.errors import Conflict
from worlds.models import World
from worlds.trash import TRASH_FIELDS


@transaction.atomic
def trash_npcs(npcs: Sequence[NPC], *, by: str, at: datetime | None = None) -> int:
    """Move live NPCs of one world to the trash, as of `at`, by default now; return how many."""
    world = npcs[0].world if npcs else None
    if world is None:
        return 0
    lock_graph(world)
    ids = [npc.pk for npc in npcs]
    rows = list(NPC.objects.select_for_update(no_key=True).filter(pk__in=ids, world=world))
    if not rows:
        return 0
    nodes = GraphNode.objects.believed_now().filter(
        world=world, kind=NodeKind.CHARACTER, slug__in=[npc.slug for npc in rows]
    )
    records = {node.slug: hide_node(node) for node in nodes}
    now = at or timezone.now()
    for npc in rows:
        npc.deleted_at, npc.deleted_by = now, by[:150]
        npc.trash_data = {"nodes": [records[npc.slug]] if npc.slug in records else []}
    _write(rows, by=by, reason="moved to the trash")
    forget_sources("npc", ids)
    resolve_again(world, ids)
    return len(rows)


def restore_npcs(npcs: Sequence[NPC], *, by: str) -> int:
    """Bring NPCs of one world back from the trash; return how many. Raises `Conflict` when
    another NPC has the slug now: reveals and episodes name NPCs by it."""
    world = npcs[0].world if npcs else None
    if world is None:
        return 0
    require_unmerged(npcs)
    with transaction.atomic():
        lock_graph(world)
        rows = NPC.with_trash.select_for_update(no_key=True).filter(pk__in=[npc.pk for npc in npcs])
        trashed = list(rows.filter(world=world).exclude(deleted_at=None))
        slugs = [npc.slug for npc in trashed]
        live = NPC.objects.filter(world=world, slug__in=slugs)
        if taken := live.values_list("slug", flat=True).first():
            raise Conflict(
                _("Another NPC has the id %(taken)s now: change or delete that one first.")
                % {"taken": taken}
            )
        if len(set(slugs)) < len(slugs):
            raise Conflict(_("Two of these NPCs have the same id: restore one of them."))
        step_aside(world, slugs)
        for npc in trashed:
            for record in npc.trash_data.get("nodes", []):
                show_node(record)
            npc.deleted_at, npc.deleted_by, npc.trash_data = None, "", {}
        _write(trashed, by=by, reason="restored from the trash")
        follow_npcs(trashed)
        complete_texts_about(world, [npc.pk for npc in trashed])
        # Faction and home may have been written meanwhile.
        store_npcs(trashed, reason="restored from the trash")
    # Episodes may have been retracted meanwhile. Outside the transaction: one party at a time.
    for npc in trashed:
        recompute_all_parties(npc)
    return len(trashed)


def require_unmerged(npcs: Sequence[NPC]) -> None:
    """Raise `Conflict` for an NPC whose merge stands: what belongs to it is with the other one."""
    merge = NPCMerge.objects.filter(merged__in=npcs, undone_at=None).select_related("kept").first()
    if merge:
        raise Conflict(
            _("This NPC was merged with %(name)s: undo the merge instead.")
            % {"name": merge.kept.name}
        )


def _write(rows: list[NPC], *, by: str, reason: str) -> None:
    note = f"{reason} by {by}"[:100]
    bulk_update_with_history(
        rows, NPC, list(TRASH_FIELDS), manager=NPC.with_trash, default_change_reason=note
    )


def trashed_npcs(world: World) -> Any:
    return NPC.with_trash.filter(world=world).exclude(deleted_at=None).order_by("-deleted_at")
