"""NPCs and the entries about them: they go to the trash in one act, and come back in one."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from knowledge.models import Lore
from knowledge.trash import restore_lore, trash_lore
from npcs.models import NPC
from npcs.trash import restore_npcs, trash_npcs


@transaction.atomic
def trash_together(npcs: Sequence[NPC], entries: Sequence[Lore], *, by: str) -> None:
    """Move all of them to the trash, with one time, by which `restore_together` knows the act."""
    now = timezone.now()
    trash_npcs(npcs, by=by, at=now)
    trash_lore(entries, by=by, at=now)


def restore_together(row: Lore | NPC, *, by: str) -> None:
    """Bring `row` back from the trash, with what went there in the same act: of an entry the NPCs
    that it is about, of an NPC its entry. Raises `Conflict` as `restore_npcs` does."""
    if isinstance(row, NPC):
        npcs = [row]
        entries = list(Lore.with_trash.filter(npcs=row, deleted_at=row.deleted_at))
    else:
        npcs = list(NPC.with_trash.filter(biography=row, deleted_at=row.deleted_at))
        entries = [row]
    # Not in one transaction: restoring NPCs locks one party after the other.
    restore_npcs(npcs, by=by)
    restore_lore(entries, by=by)
