"""Merge two NPCs of one world, and undo that.

    merge = merge_npcs(mira, into=mira_voss, reason="The same woman.", by="anna")
    undo_merge(merge, by="anna")

One transaction each: all of it or nothing. The merged NPC is in the trash afterwards, so the merge
can be undone for as long as the trash keeps it (docs/people.md)."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.ingest import lock_party, retry_deadlocks
from knowledge.graph.upsert import lock_graph
from memories.witnesses.npc_merges import (
    lock_episodes,
    lock_memories,
    move_memories,
    put_memories_back,
)
from memory_site.npc_merging.biography import put_biography_back, trash_biography
from memory_site.npc_merging.facts import move_facts, put_facts_back
from memory_site.npc_merging.ledgers import (
    move_entries,
    parties_of,
    put_entries_back,
    recompute_both,
)
from memory_site.npc_merging.profile import empty_profile, fill_profile, may_show
from memory_site.npc_merging.references import PARTS
from npcs.models import NPC, NPCMerge
from npcs.trash import restore_npcs, trash_npcs
from retrieval.errors import Conflict, Invalid
from worlds.versions import require_version


@retry_deadlocks
def merge_npcs(
    merged: NPC,
    *,
    into: NPC,
    reason: str,
    by: str,
    with_profile: bool | None = None,
    expected_version: int | None = None,
) -> NPCMerge:
    """Make `merged` one with `into`, which keeps its id, its names and what its page says.

    `with_profile` fills in what the page of `into` lacks, and its other names; None: if everybody
    who knows `into` knows `merged`. Raises `Invalid` for one NPC, or two of two worlds,
    `Conflict` when somebody has deleted one of them meanwhile, and `StaleVersion` when another
    version of `into` than the expected one is stored."""
    if merged.pk == into.pk:
        raise Invalid(_("An NPC cannot be merged with itself."))
    if merged.world_id != into.world_id:
        raise Invalid(_("The two NPCs are of different worlds."))
    with transaction.atomic():
        # Parties, episodes and memories before the graph, as a version of an episode locks them.
        parties = [lock_party(party) for party in parties_of(merged, into)]
        episodes = lock_episodes(merged)
        lock_memories([merged, into], episodes)
        lock_graph(into.world)
        merge = NPCMerge(
            world=into.world,
            kept=lock_npc(into),
            merged=lock_npc(merged),
            reason=reason.strip(),
            made_by=by[:150],
        )
        require_version(merge.kept, expected_version)
        if with_profile is None:
            with_profile = may_show(merge.kept, merge.merged)
        merge.save(force_insert=True)
        moved: dict[str, Any] = {part.name: part.move(merge) for part in PARTS}
        moved["facts"] = move_facts(merge)
        move_entries(merge)
        trash_npcs([merge.merged], by=by)
        merge.kept.refresh_from_db()  # it may have learned something
        moved["profile"] = fill_profile(merge, with_shown=with_profile)
        moved["biography"] = trash_biography(merge, by=by)
        moved["memories"] = move_memories(merge, episodes)
        merge.moved = moved
        merge.save(update_fields=["moved"])
        recompute_both(merge, parties)
    return merge


def lock_npc(npc: NPC) -> NPC:
    # NO KEY: who writes an opinion of the NPC holds locks of memories, for which a merge waits.
    row = NPC.objects.select_for_update(no_key=True).filter(pk=npc.pk).first()
    if row is None:
        raise Conflict(_("Somebody has deleted one of the two NPCs meanwhile."))
    return row


@retry_deadlocks
def undo_merge(merge: NPCMerge, *, by: str) -> NPCMerge:
    """Make the merged NPC what it was, with its dispositions, facts, secrets and pictures. What was
    recorded of the kept NPC since stays with it. Raises `Conflict` when the merge was undone
    before, or the kept NPC was deleted or merged itself."""
    with transaction.atomic():
        both = list(NPC.with_trash.filter(pk__in=[merge.kept_id, merge.merged_id]))
        parties = [lock_party(party) for party in parties_of(*both)]
        episodes = lock_episodes(merge.merged, also=merge.moved["appearances"])
        lock_memories(both, episodes)
        lock_graph(merge.world)
        merge = NPCMerge.objects.select_for_update().get(pk=merge.pk)
        check_can_be_undone(merge)
        merge.undone_by, merge.undone_at = by[:150], timezone.now()
        merge.save(update_fields=["undone_by", "undone_at"])
        empty_profile(merge, merge.moved["profile"])
        # Its entity is there again before the facts about it are.
        restore_npcs([merge.merged], by=by)
        put_biography_back(merge.moved.get("biography", []), by=by)
        put_entries_back(merge)
        put_facts_back(merge, merge.moved["facts"])
        for part in reversed(PARTS):
            part.put_back(merge, merge.moved.get(part.name, []))
        put_memories_back(merge, merge.moved.get("memories", {}), episodes)
        recompute_both(merge, parties)
    return merge


def check_can_be_undone(merge: NPCMerge) -> None:
    if merge.undone_at:
        raise Conflict(_("This merge was undone before."))
    if merge.kept.deleted_at:
        text = _("%(name)s is in the trash or was merged itself: undo that first.")
        raise Conflict(text % {"name": merge.kept.name})
