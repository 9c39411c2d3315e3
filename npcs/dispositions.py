"""The ledger of what NPCs think of parties. Every change is an entry; dispositions are folded from
it.

    shift(mira, by=-20, because=episode)
    correct(mira, party, by=5, reason="They apologised off screen.", made_by="anna")
    reverse(entry, reason="That was a mix-up of names.", made_by="anna")

Each function locks the party, writes entries and recomputes the dispositions they concern, in one
transaction (docs/dispositions.md).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.ingest import lock_party
from episodes.models import Episode
from npcs.change_states import check_ruling, state_of
from npcs.consequences import write_consequences
from npcs.large_changes import hold_large_changes, is_large
from npcs.models import (
    NPC,
    Axis,
    Disposition,
    DispositionChange,
    DispositionRules,
    OpinionChange,
)
from npcs.score import HIGHEST, LOWEST, FoldedScore, HasBase, ScoreChange, decay, fold
from retrieval.errors import Invalid
from worlds.models import Party

Kind = DispositionChange.Kind
# A shift may move by half of the scale of 200 points; a correction may cross all of it.
LARGEST_SHIFT = 100
LARGEST_CORRECTION = 200


@transaction.atomic
def shift(
    npc: NPC, *, by: int, because: Episode, axis: str = Axis.AFFECTION, reason: str = ""
) -> DispositionChange:
    """Change what `npc` thinks of the episode's party. A large change is held for the game
    master."""
    check_delta(by, LARGEST_SHIFT)
    # Under the lock: recomputing reads the whole ledger, and a second writer would overwrite the
    # result with one that lacks this entry.
    lock_party(because.party)
    entry = build_change(npc, because, by=by, axis=axis, reason=reason)
    hold_large_changes(because, [entry])
    entry.save(force_insert=True)
    if not entry.held:
        write_consequences([entry])
    recompute_dispositions(because.party, [npc.pk, *npcs_reached([entry.pk])])
    return entry


SAME_SCORE = 1e-6
"""Difference of two scores that only rounding makes."""


def build_change(
    npc: NPC, episode: Episode, *, by: int, axis: str, reason: str
) -> DispositionChange:
    """Return the unsaved entry, not held; without a reason, the first line of the episode is the
    reason."""
    return DispositionChange(
        npc=npc,
        party_id=episode.party_id,
        kind=Kind.EPISODE,
        axis=axis,
        delta=by,
        reason=reason or first_line(episode),
        episode=episode,
        episode_version=episode.version,
        in_world_at=episode.in_world_at,
        in_world_label=episode.in_world_label,
        happened_at=episode.happened_at,
    )


def first_line(episode: Episode) -> str:
    """The reason of a change for which the engine gives none."""
    return episode.text.strip().split("\n", 1)[0][:300] or episode.external_id


@transaction.atomic
def correct(
    npc: NPC,
    party: Party,
    *,
    by: int,
    reason: str,
    made_by: str,
    axis: str = Axis.AFFECTION,
    hold_if_large: bool = False,
) -> DispositionChange:
    """Write a game master's own change, with a reason. It counts at once; with `hold_if_large`, a
    change as large as an episode's that would be held waits for approval as well."""
    check_delta(by, LARGEST_CORRECTION)
    if axis not in Axis:
        raise Invalid(_("There is no axis %(axis)r.") % {"axis": axis[:80]}, candidates=list(Axis))
    if npc.world_id != party.world_id:
        raise Invalid(_("The NPC and the party are of different worlds."))
    lock_party(party)
    entry = DispositionChange.objects.create(
        npc=npc,
        party=party,
        kind=Kind.CORRECTION,
        axis=axis,
        delta=by,
        reason=require_reason(reason),
        held=hold_if_large and is_large(by),
        made_by=made_by,
        **latest_in_world_time(party),
    )
    recompute_dispositions(party, [npc.pk])
    return entry


@transaction.atomic
def set_score(
    npc: NPC, party: Party, *, to: int, reason: str, made_by: str, hold_if_large: bool = False
) -> DispositionChange:
    """Write the correction after which the score is `to`, from -100 to 100. Raises `Invalid` when
    it is that already, rounded to whole points."""
    if not LOWEST <= to <= HIGHEST:
        raise Invalid(
            _("A disposition is between %(lowest).0f and %(highest).0f, not %(to)s.")
            % {"lowest": LOWEST, "highest": HIGHEST, "to": to}
        )
    lock_party(party)
    rows = Disposition.objects.filter(npc=npc, party=party)
    stored = rows.values_list("score", "in_world_at").first()
    score = score_on(days_reached([party])[party.pk], npc, stored)
    if round(to - score) == 0:
        raise Invalid(_("The disposition is %(to)s already.") % {"to": to})
    return correct(
        npc,
        party,
        by=round(to - score),
        reason=reason,
        made_by=made_by,
        hold_if_large=hold_if_large,
    )


def score_on(today: float | None, npc: HasBase, stored: tuple[float, float | None] | None) -> float:
    """Return on the day `today` the score of a disposition of `npc`, from -100 to 100. `stored` are
    its score and the day of that; without them, what the NPC thinks of strangers."""
    if stored is None:
        return float(npc.base)
    score, day = stored
    return decayed_score(score, at=day, today=today, base=npc.base, half_life=npc.half_life)


def decayed_score(
    score: float, *, at: float | None, today: float | None, base: float, half_life: float | None
) -> float:
    """Return on the day `today` a score of the day `at`, from -100 to 100. `half_life` is the NPC's
    own, in in-world days; without one the site's counts."""
    days = 0.0 if at is None or today is None else today - at
    half_life = half_life or settings.DISPOSITION_HALF_LIFE or None
    return decay(score, base=float(base), days=days, half_life=half_life)


def reverse(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Take a change out of the sum, as if it had not been; `restore` brings it back."""
    return write_ruling(entry, Kind.REVERSAL, reason=reason, made_by=made_by)


def restore(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Bring back a change that was reversed or rejected."""
    return write_ruling(entry, Kind.RESTORATION, reason=reason, made_by=made_by)


def approve(entry: DispositionChange, *, reason: str = "", made_by: str) -> DispositionChange:
    """Let a held change count."""
    return write_ruling(entry, Kind.APPROVAL, reason=reason or _("Approved."), made_by=made_by)


def reject(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Keep a held change from counting."""
    return write_ruling(entry, Kind.REJECTION, reason=reason, made_by=made_by)


def reopen(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Let a change that was approved or rejected wait for the game master again."""
    return write_ruling(entry, Kind.REOPENING, reason=reason, made_by=made_by)


VERDICTS: dict[str, Callable[..., DispositionChange]] = {
    "approve": approve,
    "reject": reject,
    "reverse": reverse,
    "restore": restore,
    "reopen": reopen,
}
"""The rulings by the word that the API and the pages use."""


@transaction.atomic
def write_ruling(
    entry: DispositionChange, kind: Kind, *, reason: str, made_by: str
) -> DispositionChange:
    """Write a ruling about `entry`; raises NotInForce when its state does not allow this kind."""
    party, episode = lock_party(entry.party), lock_episode_of(entry)
    # Read again under the lock: another game master may have ruled meanwhile.
    current: Any = DispositionChange.objects.changes().with_ruling().filter(pk=entry.pk).first()
    if current is None:
        raise Invalid(_("Rulings are about changes, not about other rulings."))
    check_ruling(current, kind.value)
    ruling = DispositionChange.objects.create(
        npc_id=entry.npc_id,
        party=party,
        kind=kind,
        axis=entry.axis,
        about=entry,
        reason=require_reason(reason),
        made_by=made_by,
        **latest_in_world_time(party),
    )
    if is_first_to_count(current, ruling):
        write_consequences([entry])
    recompute_dispositions(party, [entry.npc_id, *npcs_reached([entry.pk])])
    if episode:
        episode.ruling_changed()
    return ruling


def lock_episode_of(entry: DispositionChange | OpinionChange) -> Episode | None:
    """Lock the episode of which the change is, if it is of one."""
    rows = Episode.objects.select_for_update(no_key=True, of=("self",))
    rows = rows.select_related("party", "world")
    return rows.filter(pk=entry.episode_id).first() if entry.episode_id else None


def is_first_to_count(entry: DispositionChange, ruling: DispositionChange) -> bool:
    """Whether `entry` waited and counts by `ruling` for the first time: what it causes is written
    then, and once."""
    allows = (Kind.APPROVAL, Kind.RESTORATION)
    if ruling.kind not in allows or not entry.held or entry.kind != Kind.EPISODE:
        return False
    return not entry.rulings.filter(kind__in=allows).exclude(pk=ruling.pk).exists()


def npcs_reached(causes: Iterable[int]) -> set[UUID]:
    """The NPCs whom the changes with these ids had consequences for."""
    rows = DispositionChange.objects.filter(cause__in=causes)
    return set(rows.values_list("npc_id", flat=True))


def recompute_dispositions(party: Party, npcs: Iterable[UUID]) -> list[Disposition]:
    """Fold the ledger anew for each of `npcs` and `party`; store it. The party must be locked."""
    columns = [
        "score",
        "axes",
        "trend",
        "changes",
        "pending",
        "in_world_at",
        "last_change",
        "updated_at",
    ]
    return Disposition.objects.bulk_create(
        fold_dispositions(party, npcs),
        update_conflicts=True,
        unique_fields=["npc", "party"],
        update_fields=columns,
    )


def find_wrong_dispositions(party: Party) -> list[Disposition]:
    """Return the stored dispositions to `party` that are not what the ledger says."""
    stored = {row.npc_id: row for row in Disposition.objects.filter(party=party)}
    told = {row.npc_id: row for row in fold_dispositions(party, stored)}
    names = ("changes", "pending", "last_change_id", "axes")
    return [
        row
        for npc, row in stored.items()
        if abs(row.score - told[npc].score) > SAME_SCORE
        or any(getattr(row, name) != getattr(told[npc], name) for name in names)
    ]


def fold_dispositions(party: Party, npcs: Iterable[UUID]) -> list[Disposition]:
    """Return what the ledger says of each of `npcs` and `party`, unsaved."""
    # Sorted, so that two transactions write rows in one order and cannot deadlock.
    npc_ids = sorted(set(npcs))
    entries: dict[UUID, list[Any]] = {npc_id: [] for npc_id in npc_ids}
    ledger = DispositionChange.objects.filter(npc__in=npc_ids, party=party).changes()
    for entry in ledger.with_ruling().in_order():
        entries[entry.npc_id].append(entry)
    rows, soft_ends = [], has_soft_ends(party.world_id)
    # NPCs in the trash as well: they come back with dispositions that are up to date.
    for npc in NPC.with_trash.filter(pk__in=npc_ids).order_by("pk"):
        by_state = [(state_of(entry), entry) for entry in entries[npc.pk]]
        effective = [entry for state, entry in by_state if state == "counts"]
        total = fold_ledger(npc, effective, soft_ends=soft_ends)
        rows.append(
            Disposition(
                npc=npc,
                party=party,
                score=total.score,
                axes=total.axes,
                trend=total.trend,
                in_world_at=total.in_world_at,
                changes=len(effective),
                pending=sum(state == "pending" for state, _entry in by_state),
                last_change=latest_in_world(effective),
                updated_at=timezone.now(),
            )
        )
    return rows


def fold_ledger(npc: NPC, entries: Sequence[Any], *, soft_ends: bool) -> FoldedScore:
    """Fold the entries that count, in their order. A correction counts in full, also near the ends
    of the scale: a game master's number is what it says."""
    changes = [
        ScoreChange(each.delta, each.axis, each.in_world_at, each.pk, each.kind == Kind.CORRECTION)
        for each in entries
    ]
    return fold(changes, base=npc.base, half_life=half_life_of(npc), soft_ends=soft_ends)


def has_soft_ends(world: UUID) -> bool:
    return DispositionRules.objects.filter(world=world, soft_ends=True).exists()


def latest_in_world(entries: Sequence[Any]) -> Any:
    """Return the last of `entries` in their order, but none of an earlier in-world day than one
    before it: what is told late of long ago is not the reason why somebody thinks so today. None
    without entries."""
    latest, day = None, None
    for entry in entries:
        if entry.in_world_at is None or day is None or entry.in_world_at >= day:
            latest = entry
        if entry.in_world_at is not None:
            day = entry.in_world_at if day is None else max(day, entry.in_world_at)
    return latest


def half_life_of(npc: NPC) -> float | None:
    """The NPC's own half-life in in-world days, else the site's; None: nothing is forgotten."""
    return npc.half_life or settings.DISPOSITION_HALF_LIFE or None


def recompute_all_parties(npc: NPC) -> None:
    """Recompute every disposition of `npc`, after a change of its base or half-life."""
    # One transaction for each party: locking all of them at once would block the world.
    for party in Party.objects.filter(dispositions__npc=npc).order_by("pk"):
        with transaction.atomic():
            recompute_dispositions(lock_party(party), [npc.pk])


def days_reached(parties: Iterable[Party]) -> dict[UUID, float | None]:
    """Return the latest in-world day that each party has reached, by its id, with one query."""
    rows = Party.objects.filter(pk__in=[party.pk for party in parties])
    return dict(rows.annotate(today=day_reached("pk")).values_list("pk", "today"))


def day_reached(party: str) -> Subquery:
    """The latest in-world day of the party at the path `party`, as an expression."""
    episodes = Episode.objects.filter(party=OuterRef(party), retracted_at=None)
    latest = episodes.filter(in_world_at__isnull=False).order_by("-in_world_at")
    return Subquery(latest.values("in_world_at")[:1])


def latest_in_world_time(party: Party) -> dict[str, Any]:
    """The latest in-world day that the party has reached, as the fields of `InWorldTime`."""
    episodes = party.episodes.filter(retracted_at=None, in_world_at__isnull=False)
    latest = episodes.order_by("-in_world_at").values_list("in_world_at", "in_world_label").first()
    day, label = latest or (None, "")
    return {"in_world_at": day, "in_world_label": label}


def check_delta(by: int, largest: int) -> None:
    if not 0 < abs(by) <= largest:
        raise Invalid(
            _("A change is from -%(largest)s to %(largest)s and never 0; this one is %(by)s.")
            % {"largest": largest, "by": by}
        )


def require_reason(reason: str) -> str:
    if not reason.strip():
        raise Invalid(_("A change of the ledger needs a reason."))
    return reason.strip()
