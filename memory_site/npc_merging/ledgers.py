"""The ledgers of two NPCs as one: entries of the merged NPC go over to the kept one.

The ledgers are append-only. Their triggers let nothing change but whose an entry is, and that only
while `moving_entries` says so; which entries went over is kept by `MergedEntry`."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from npcs.dispositions import recompute_dispositions
from npcs.models import (
    NPC,
    Appearance,
    Disposition,
    DispositionChange,
    MergedEntry,
    NPCMerge,
    OpinionChange,
)
from worlds.models import Party

BATCH = 1000
Side = MergedEntry.Side


@contextmanager
def moving_entries() -> Iterator[None]:
    """Let the transaction give entries of the ledgers to another NPC."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memory37.merge', 'on', true)")
        yield
        cursor.execute("SELECT set_config('memory37.merge', '', true)")


def parties_of(*npcs: NPC) -> list[Party]:
    """The parties of which any of the NPCs has entries or a disposition, or at an episode of which
    it was, by id: in the order in which they are to be locked."""
    has_entries = Q(pk__in=DispositionChange.objects.filter(npc__in=npcs).values("party"))
    has_row = Q(pk__in=Disposition.objects.filter(npc__in=npcs).values("party"))
    was_there = Q(pk__in=Appearance.objects.filter(npc__in=npcs).values("episode__party"))
    return list(Party.objects.filter(has_entries | has_row | was_there).order_by("pk"))


def move_entries(merge: NPCMerge) -> None:
    """Give the kept NPC every entry of the merged one. What each of the two thinks of the other
    stays where it is: nobody has an opinion of themselves."""
    kept, merged = merge.kept, merge.merged
    changes = DispositionChange.objects.filter(npc=merged)
    own = OpinionChange.objects.filter(npc=merged).exclude(other=kept)
    about = OpinionChange.objects.filter(other=merged).exclude(npc=kept)
    rows = [MergedEntry(merge=merge, change_id=pk) for pk in _ids(changes)]
    rows += [MergedEntry(merge=merge, opinion_id=pk, side=Side.NPC) for pk in _ids(own)]
    rows += [MergedEntry(merge=merge, opinion_id=pk, side=Side.OTHER) for pk in _ids(about)]
    MergedEntry.objects.bulk_create(rows, batch_size=BATCH)
    give_entries(merge, to=kept)


def put_entries_back(merge: NPCMerge) -> None:
    """Give the entries that went over back, with the rulings about them since. What was recorded
    of the kept NPC since stays with it."""
    give_entries(merge, to=merge.merged)


def give_entries(merge: NPCMerge, *, to: NPC) -> None:
    entries = MergedEntry.objects.filter(merge=merge)
    changes = entries.filter(change__isnull=False).values("change")
    with moving_entries():
        ledger = DispositionChange.objects
        ledger.filter(Q(pk__in=changes) | Q(about__in=changes)).update(npc=to)
        for side in Side.values:
            opinions = entries.filter(side=side, opinion__isnull=False).values("opinion")
            rows = OpinionChange.objects.filter(Q(pk__in=opinions) | Q(about__in=opinions))
            rows.update(**{side: to})


def recompute_both(merge: NPCMerge, parties: Collection[Party]) -> None:
    """Fold the ledgers of both NPCs anew. A disposition without any entry is none. The parties
    must be locked."""
    for party in parties:
        with_entries: set[UUID] = set(
            DispositionChange.objects.filter(
                party=party, npc__in=[merge.kept_id, merge.merged_id]
            ).values_list("npc", flat=True)
        )
        rows = Disposition.objects.filter(party=party, npc__in=[merge.kept_id, merge.merged_id])
        rows.exclude(npc__in=with_entries).delete()
        recompute_dispositions(party, with_entries)


def _ids(rows: Any) -> list[int]:
    return list(rows.order_by("pk").values_list("pk", flat=True))
