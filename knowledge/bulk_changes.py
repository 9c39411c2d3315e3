"""Change many lore entries at once, in one transaction, and undo the last such change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.editing_models import BulkChange
from knowledge.entry_store import save_all
from knowledge.graph.upsert import lock_graph
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from knowledge.trash import restore_lore, trash_lore
from retrieval.errors import Conflict, Invalid
from worlds.audiences import Visibility
from worlds.models import Campaign, Reveal, World
from worlds.reveals import known_to_in_force, visibility_in_force

MOST_ENTRIES = 1_000
"""Entries of one bulk change: as many are written within seconds."""
CHANGED_FIELDS = (
    *("kind", "custom_kind_id", "status", "visibility", "known_to", "campaign_id"),
    *("overrides_id", "folder", "tags"),
)


@dataclass(frozen=True)
class BulkChangeRequest:
    """What to do to each entry; what is None stays."""

    what: str
    """In words, for the history and for whoever may undo it."""
    kind: str | None = None
    custom_kind: LoreKind | None = None
    status: str | None = None
    visibility: str | None = None
    audiences: tuple[str, ...] = ()
    """To whom the entries are revealed, with the visibility `revealed`."""
    campaign: Campaign | None = None
    is_canon: bool = False
    folder: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    is_deletion: bool = False

    def apply_to(self, entry: Lore) -> None:
        if self.kind is not None:
            entry.kind, entry.custom_kind = self.kind, self.custom_kind
        for name in ("status", "visibility", "folder"):
            if (value := getattr(self, name)) is not None:
                setattr(entry, name, value)
        if self.visibility == Visibility.REVEALED:
            entry.known_to = sorted({*entry.known_to, *self.audiences})
        campaign_id = self.campaign.pk if self.campaign else None
        if (self.campaign or self.is_canon) and entry.campaign_id != campaign_id:
            entry.campaign = self.campaign
            # What it overrode is canon of the other campaign's readers again.
            entry.overrides = None
        kept = [tag for tag in entry.tags if tag not in self.remove_tags]
        entry.tags = [*kept, *(tag for tag in self.add_tags if tag not in kept)]


class Undone(NamedTuple):
    """How many entries are as they were, and the titles of those changed again since."""

    restored: int
    skipped: list[str]


@transaction.atomic
def apply_change(
    world: World, ids: Sequence[UUID], change: BulkChangeRequest, *, user: Any
) -> BulkChange | None:
    """Change the entries, all or none; return the record, or None when nothing changed. Raises
    `Invalid` and `Conflict`."""
    if len(ids) > MOST_ENTRIES:
        raise Invalid(
            _("Choose at most %(count)s entries for one change.") % {"count": MOST_ENTRIES}
        )
    if change.visibility == Visibility.REVEALED and not change.audiences:
        raise Invalid(_("Choose at least one party or NPC to reveal the entries to."))
    lock_graph(world)
    entries = list(Lore.objects.select_for_update().filter(world=world, pk__in=ids))
    for entry in entries:
        entry.world = world  # else each entry would read it
    by = user.get_username()
    if change.is_deletion:
        rows = [{"id": str(entry.pk)} for entry in entries]
        changed = trash_lore(entries, by=by)
        reveals: list[str] = []
    else:
        rows, reveals = _change_fields(entries, change, by=by)
        changed = len(rows)
    if not changed:
        return None
    return BulkChange.objects.create(
        world=world,
        user=user,
        what=change.what[:400],
        is_deletion=change.is_deletion,
        rows=rows,
        reveals=reveals,
    )


def _change_fields(
    entries: list[Lore], change: BulkChangeRequest, *, by: str
) -> tuple[list[dict[str, Any]], list[str]]:
    before = {entry.pk: _stored_values(entry) for entry in entries}
    for entry in entries:
        change.apply_to(entry)
    outcomes = save_all(entries, reason=f"bulk change by {by}: {change.what}")
    changed = [
        entry for entry, outcome in zip(entries, outcomes, strict=True) if outcome == "changed"
    ]
    rows = [
        {"id": str(entry.pk), "version": entry.version, "before": before[entry.pk]}
        for entry in changed
    ]
    return rows, _log_reveals(entries, change.audiences, by=by)


def _stored_values(entry: Lore) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in CHANGED_FIELDS}
    return {name: str(v) if isinstance(v, UUID) else v for name, v in values.items()}


def _log_reveals(entries: list[Lore], audiences: Sequence[str], *, by: str) -> list[str]:
    """Write the reveals that are not in force yet to the log; `known_to` has them already."""
    ids = [entry.pk for entry in entries]
    in_force = Reveal.objects.filter(
        subject_kind="lore", subject_id__in=ids, undone_at=None, episode_ref=""
    )
    known = set(in_force.values_list("subject_id", "audience"))
    rows = [
        Reveal(
            world_id=entry.world_id,
            subject_kind="lore",
            subject_id=entry.pk,
            audience=audience,
            by=by,
        )
        for entry in entries
        for audience in audiences
        if (entry.pk, audience) not in known
    ]
    Reveal.objects.bulk_create(rows)
    return [str(row.pk) for row in rows]


def last_change(world: World, user: Any) -> BulkChange | None:
    """The user's last bulk change in the world, unless it is undone."""
    change = (
        BulkChange.objects.filter(world=world, user=user).order_by("-created_at", "-pk").first()
    )
    return change if change and change.undone_at is None else None


@transaction.atomic
def undo_change(change: BulkChange, *, by: str) -> Undone:
    """Give the entries back what they had before. Those that somebody changed since stay as they
    are. Raises `Conflict` when it was undone before."""
    now = timezone.now()
    lock_graph(change.world)
    rows = BulkChange.objects.filter(pk=change.pk, undone_at=None)
    if not rows.update(undone_at=now):
        raise Conflict(_("This change was undone before."))
    undo: Callable[..., Undone] = _restore_rows if change.is_deletion else _restore_fields
    return undo(change, by=by)


def _restore_rows(change: BulkChange, *, by: str) -> Undone:
    trashed = Lore.with_trash.filter(pk__in=[row["id"] for row in change.rows])
    return Undone(restore_lore(list(trashed), by=by), [])


def _restore_fields(change: BulkChange, *, by: str) -> Undone:
    stored = {row["id"]: row for row in change.rows}
    entries = Lore.objects.select_for_update().filter(pk__in=list(stored))
    revealed_since = _revealed_since(change)
    restored, skipped = [], []
    for entry in entries:
        entry.world = change.world
        row = stored[str(entry.pk)]
        if entry.version != row["version"]:
            skipped.append(entry.title)
            continue
        for name, value in row["before"].items():
            setattr(entry, name, value)
        restored.append(entry)
    _undo_reveals(change, restored)
    for entry in restored:
        if entry.pk in revealed_since:
            entry.known_to = known_to_in_force(entry, own=entry.known_to)
            entry.visibility = visibility_in_force(entry, own=entry.visibility)
    save_all(restored, reason=f"bulk change undone by {by}")
    return Undone(len(restored), sorted(skipped))


def _revealed_since(change: BulkChange) -> set[UUID]:
    """Return the entries that were revealed to somebody, or hidden again, since the change."""
    log = Reveal.objects.filter(subject_kind="lore", subject_id__in=[r["id"] for r in change.rows])
    later = Q(created_at__gt=change.created_at) | Q(undone_at__gt=change.created_at)
    return set(log.filter(later).values_list("subject_id", flat=True))


def _undo_reveals(change: BulkChange, entries: list[Lore]) -> None:
    log = Reveal.objects.filter(pk__in=change.reveals, undone_at=None)
    log.filter(subject_id__in=[entry.pk for entry in entries]).update(undone_at=timezone.now())
