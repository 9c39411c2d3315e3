"""Which changes of dispositions are so large that they wait for the game master's approval."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.conf import settings
from django.db.models import Q, Sum

from episodes.models import Episode
from npcs.models import DispositionChange

Direction = tuple[UUID, bool]
"""An NPC, and whether it thinks better of the party."""


def is_large(delta: int) -> bool:
    """Whether a change of so many points waits for the game master's approval. A threshold of 0
    switches that off."""
    return reaches(settings.DISPOSITION_HOLD_AT, delta)


def reaches(threshold: int, delta: int) -> bool:
    return 0 < threshold <= abs(delta)


def hold_large_changes(episode: Episode, entries: Sequence[DispositionChange]) -> None:
    """Mark those unsaved `entries` of one episode as held that are large together: for each NPC,
    all gains, or all losses, over every axis, of the episode (`DISPOSITION_HOLD_AT`) or, with those
    that count of its session's other episodes, of the session (`DISPOSITION_HOLD_AT_SESSION`).

    Call under the party's lock.
    """
    totals = total_by_direction(entries)
    earlier = points_of_session(episode, {npc for npc, _gain in totals})
    for entry in entries:
        direction = (entry.npc_id, entry.delta > 0)
        total = totals[direction]
        of_session = total + earlier.get(direction, 0)
        entry.held = is_large(total) or reaches(settings.DISPOSITION_HOLD_AT_SESSION, of_session)


def total_by_direction(entries: Iterable[DispositionChange]) -> dict[Direction, int]:
    totals: dict[Direction, int] = defaultdict(int)
    for entry in entries:
        totals[entry.npc_id, entry.delta > 0] += entry.delta
    return totals


def points_of_session(episode: Episode, npcs: set[UUID]) -> dict[Direction, int]:
    """Return the gains and losses of `npcs` that count, from other episodes of the session with the
    same party. None without a session or with the threshold switched off."""
    session = episode.scene.session_id if episode.scene else None
    if session is None or not settings.DISPOSITION_HOLD_AT_SESSION or not npcs:
        return {}
    of_session = Q(episode__scene__session=session) | Q(cause__episode__scene__session=session)
    others = DispositionChange.objects.in_force().filter(
        of_session, npc__in=npcs, party=episode.party_id
    )
    rows = (
        others.exclude(episode=episode)
        .order_by()
        .values("npc_id")
        .annotate(
            gains=Sum("delta", filter=Q(delta__gt=0)), losses=Sum("delta", filter=Q(delta__lt=0))
        )
    )
    points: dict[Direction, int] = {}
    for row in rows:
        points[row["npc_id"], True] = row["gains"] or 0
        points[row["npc_id"], False] = row["losses"] or 0
    return points
