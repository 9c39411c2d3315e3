"""What NPCs think of parties. Every change is an entry of the ledger; what stands is folded from
it.

    shift(mira, by=-20, because=episode)
    correct(mira, party, by=5, reason="They apologised off screen.", made_by="anna")
    reverse(entry, reason="That was a mix-up of names.", made_by="anna")

Each locks the party, writes entries and folds the pairs they touch anew, in one transaction
(docs/dispositions.md).
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from episodes.ingest import lock_party
from episodes.models import Episode
from npcs.models import NPC, Axis, Disposition, DispositionChange
from npcs.score import FoldedScore, ScoreChange, decay, fold
from retrieval.errors import Conflict, Invalid
from worlds.models import Party

Kind = DispositionChange.Kind
LARGEST_SHIFT = 100
LARGEST_CORRECTION = 200


class NotInForce(Conflict):
    code, title = "not_in_force", "The change does not count as it is"


@transaction.atomic
def shift(
    npc: NPC, *, by: int, because: Episode, axis: str = Axis.AFFECTION, reason: str = ""
) -> DispositionChange:
    """Move what `npc` thinks of the episode's party. A large swing is held for the game master."""
    check_delta(by, LARGEST_SHIFT)
    lock_party(because.party)
    entry = build_change(npc, because, by=by, axis=axis, reason=reason)
    entry.save(force_insert=True)
    recompute_dispositions(because.party, [npc.pk])
    return entry


def build_change(
    npc: NPC, episode: Episode, *, by: int, axis: str, reason: str
) -> DispositionChange:
    return DispositionChange(
        npc=npc,
        party_id=episode.party_id,
        kind=Kind.EPISODE,
        axis=axis,
        delta=by,
        reason=reason or first_sentence(episode.text) or episode.external_id,
        held=is_large(by),
        episode=episode,
        episode_version=episode.version,
        in_world_at=episode.in_world_at,
        in_world_label=episode.in_world_label,
        happened_at=episode.happened_at,
    )


@transaction.atomic
def correct(
    npc: NPC, party: Party, *, by: int, reason: str, made_by: str, axis: str = Axis.AFFECTION
) -> DispositionChange:
    """A game master's own change, with a reason."""
    check_delta(by, LARGEST_CORRECTION)
    if npc.world_id != party.world_id:
        raise Invalid("The NPC and the party are of different worlds.")
    lock_party(party)
    entry = DispositionChange.objects.create(
        npc=npc,
        party=party,
        kind=Kind.CORRECTION,
        axis=axis,
        delta=by,
        reason=require_reason(reason),
        made_by=made_by,
        **latest_in_world_time(party),
    )
    recompute_dispositions(party, [npc.pk])
    return entry


def reverse(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Take a change out of the sum, as if it had not been; `restore` brings it back."""
    return write_ruling(entry, Kind.REVERSAL, reason=reason, made_by=made_by)


def restore(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Bring back a change that was reversed or rejected."""
    return write_ruling(entry, Kind.RESTORATION, reason=reason, made_by=made_by)


def approve(entry: DispositionChange, *, reason: str = "", made_by: str) -> DispositionChange:
    """Let a held change count."""
    return write_ruling(entry, Kind.APPROVAL, reason=reason or "Approved.", made_by=made_by)


def reject(entry: DispositionChange, *, reason: str, made_by: str) -> DispositionChange:
    """Let a held change never count."""
    return write_ruling(entry, Kind.REJECTION, reason=reason, made_by=made_by)


STATES = {
    Kind.REVERSAL: ("counts",),
    Kind.RESTORATION: ("reversal", "rejection"),
    Kind.APPROVAL: ("pending",),
    Kind.REJECTION: ("pending",),
}
"""In which state a change can be ruled on."""


def state_of(entry: Any) -> str:
    """`counts`, `pending`, `reversal`, `rejection` or `replaced`, for an entry read
    `with_ruling()`.
    """
    if not entry.is_current:
        return "replaced"
    if entry.ruling in (Kind.REVERSAL, Kind.REJECTION):
        return str(entry.ruling)
    return "pending" if entry.held and entry.ruling is None else "counts"


@transaction.atomic
def write_ruling(
    entry: DispositionChange, kind: Kind, *, reason: str, made_by: str
) -> DispositionChange:
    party = lock_party(entry.party)
    current: Any = DispositionChange.objects.changes().with_ruling().filter(pk=entry.pk).first()
    if current is None:
        raise Invalid("Rulings are about changes, not about other rulings.")
    if (state := state_of(current)) not in STATES[kind]:
        wanted = " or ".join(STATES[kind])
        raise NotInForce(
            f"Change {entry.pk} is in the state “{state}”: a {kind.value} needs {wanted}."
        )
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
    recompute_dispositions(party, [entry.npc_id])
    return ruling


def recompute_dispositions(party: Party, npcs: Iterable[UUID]) -> list[Disposition]:
    """Fold the ledger of these pairs anew. The party must be locked."""
    wanted = sorted(set(npcs))
    by_pair = {npc_id: list[Any]() for npc_id in wanted}
    entries = (
        DispositionChange.objects.filter(npc__in=wanted, party=party)
        .changes()
        .with_ruling()
        .in_order()
    )
    for entry in entries:
        by_pair[entry.npc_id].append(entry)
    rows = [
        _row(npc, party, by_pair[npc.pk])
        for npc in NPC.objects.filter(pk__in=wanted).order_by("pk")
    ]
    return Disposition.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["npc", "party"],
        update_fields=[
            "score",
            "axes",
            "trend",
            "changes",
            "pending",
            "in_world_at",
            "last_change",
            "updated_at",
        ],
    )


def _row(npc: NPC, party: Party, entries: Sequence[Any]) -> Disposition:
    states = [(state_of(entry), entry) for entry in entries]
    counted = [entry for state, entry in states if state == "counts"]
    standing = fold_ledger(npc, counted)
    return Disposition(
        npc=npc,
        party=party,
        score=standing.score,
        axes=standing.axes,
        trend=standing.trend,
        in_world_at=standing.in_world_at,
        changes=len(counted),
        pending=sum(state == "pending" for state, _entry in states),
        last_change=counted[-1] if counted else None,
        updated_at=timezone.now(),
    )


def fold_ledger(npc: NPC, counted: Sequence[Any]) -> FoldedScore:
    changes = [ScoreChange(each.delta, each.axis, each.in_world_at, each.pk) for each in counted]
    return fold(changes, base=npc.base, half_life=half_life_of(npc))


def half_life_of(npc: NPC) -> float | None:
    return npc.half_life or settings.DISPOSITION_HALF_LIFE or None


def decayed_score(score: float, npc: NPC, *, as_of: float | None, today: float | None) -> float:
    """What is left of `score`, folded `as_of` a day, on the world's day `today`."""
    days = 0.0 if as_of is None or today is None else today - as_of
    return decay(score, base=npc.base, days=days, half_life=half_life_of(npc))


def recompute_all_parties(npc: NPC) -> None:
    """After a change of the NPC's base or half-life: every party's disposition anew."""
    for party in Party.objects.filter(dispositions__npc=npc).order_by("pk"):
        with transaction.atomic():
            recompute_dispositions(lock_party(party), [npc.pk])


def latest_in_world_time(party: Party) -> dict[str, Any]:
    """The day the party has reached."""
    latest = party.episodes.filter(retracted_at=None, in_world_at__isnull=False).order_by(
        "-in_world_at"
    )
    day, label = latest.values_list("in_world_at", "in_world_label").first() or (None, "")
    return {"in_world_at": day, "in_world_label": label}


def is_large(delta: int) -> bool:
    return bool(0 < settings.DISPOSITION_HOLD_AT <= abs(delta))


def first_sentence(text: str) -> str:
    return text.strip().split("\n", 1)[0][:300]


def check_delta(by: int, largest: int) -> None:
    if not 0 < abs(by) <= largest:
        raise Invalid(f"A change is between -{largest} and {largest} and not 0, not {by}.")


def require_reason(reason: str) -> str:
    if not reason.strip():
        raise Invalid("Say why: a change of the record needs a reason.")
    return reason.strip()
