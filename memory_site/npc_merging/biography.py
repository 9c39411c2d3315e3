"""The entry about the merged NPC: a page about one person less, until the merge is undone."""

from knowledge.models import Lore
from knowledge.trash import restore_lore, trash_lore
from npcs.models import NPC, NPCMerge


def trash_biography(merge: NPCMerge, *, by: str) -> list[str]:
    """Move the entry that is about the merged NPC alone to the trash; return its id, if there is
    one. Players would read of two people. One that the kept NPC has taken over stays."""
    entry = merge.merged.biography
    if entry is None or entry.deleted_at or entry.kind != Lore.Kind.BIOGRAPHY:
        return []
    if NPC.with_trash.filter(biography=entry).exclude(pk=merge.merged_id).exists():
        return []
    trash_lore([entry], by=by)
    return [str(entry.pk)]


def put_biography_back(ids: list[str], *, by: str) -> None:
    """Restore the entry, unless somebody has done so, or has emptied the trash."""
    restore_lore(list(Lore.with_trash.filter(pk__in=ids).exclude(deleted_at=None)), by=by)
