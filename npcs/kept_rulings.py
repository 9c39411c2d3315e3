"""Rulings that outlive a new version of their episode: what it tells again word for word has been
decided (docs/decisions/0186)."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Max

from episodes.models import Episode
from npcs.models import DispositionChange, OpinionChange

SAME = ("npc_id", "other_id", "faction_id", "party_id", "axis", "delta", "reason", "rule")
"""Two changes are identical that have these columns in common, as far as their ledger has them."""
COPIED = (
    *("world_id", "npc_id", "other_id", "faction_id", "party_id", "kind", "axis", "reason"),
    *("made_by", "in_world_at", "in_world_label"),
)
"""What the entry of a ruling says, as far as its ledger has it."""
ALLOWING = ("approval", "restoration")
REOPENING = "reopening"
"""The last ruling was taken back: there is none to keep."""


def keep_rulings(episode: Episode, changes: Sequence[Any]) -> list[Any]:
    """Write the last rulings of the version of `episode` before again about those of `changes`,
    saved entries of one ledger from its new version, that are identical. Return the held ones
    that count by that. Call under the party's lock."""
    version = episode.versions.filter(version__lt=episode.version).aggregate(Max("version"))
    if version["version__max"] is None or not changes:
        return []
    ledger: Any = type(changes[0])
    of_episode = "cause__episode" if changes[0].cause_id else "episode"
    before = ledger.objects.filter(
        **{of_episode: episode, f"{of_episode}_version": version["version__max"]}
    )
    rulings = list(identical_pairs(changes, before.order_by("id"), last_rulings(ledger, before)))
    ledger.objects.bulk_create(ruling_about(change, ruling) for change, ruling in rulings)
    return [change for change, ruling in rulings if ruling.kind in ALLOWING]


def last_rulings(ledger: Any, changes: Any) -> dict[int, Any]:
    """The last ruling about each of the changes that have one, by the id of the change."""
    rows = ledger.objects.filter(about__in=changes.values("pk")).order_by("id")
    return {ruling.about_id: ruling for ruling in rows}


def identical_pairs(
    changes: Iterable[Any], before: Iterable[Any], rulings: dict[int, Any]
) -> Iterable[tuple[Any, Any]]:
    """Yield each change with the ruling about the identical one of before. Of two that are told
    twice, the first gets that of the first."""
    waiting: dict[tuple[Any, ...], deque[Any]] = defaultdict(deque)
    for old in before if rulings else ():
        waiting[columns_of(old)].append(rulings.get(old.pk))
    for change in changes:
        same = waiting.get(columns_of(change))
        ruling = same.popleft() if same else None
        if ruling and ruling.kind == REOPENING:
            continue
        # What does not wait needs no approval.
        if ruling and (change.held or ruling.kind not in ALLOWING):
            yield change, ruling


def columns_of(change: Any) -> tuple[Any, ...]:
    return tuple(getattr(change, name, None) for name in SAME)


def ruling_about(change: Any, ruling: Any) -> Any:
    values = {name: getattr(ruling, name) for name in COPIED if hasattr(ruling, name)}
    return type(change)(about=change, **values)


def keep_rulings_of_consequences(episode: Episode, causes: Sequence[DispositionChange]) -> None:
    """Do the same with what the changes `causes` have caused."""
    for ledger in (DispositionChange, OpinionChange):
        rows: Any = ledger.objects.filter(cause__in=causes).order_by("id")
        keep_rulings(episode, list(rows))
