"""Which changes of what NPCs think are so large that they wait for the game master's approval."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, Sum

from episodes.models import Episode
from npcs.models import DispositionChange, OpinionChange

Subject = tuple[UUID, UUID]
"""An NPC, and the party or the other NPC that it thinks something of."""
Points = Mapping[tuple[Subject, bool], int]
"""The sum of the gains (True) and of the losses (False) of each subject."""


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
    others = DispositionChange.objects.filter(party=episode.party_id)
    hold_large(entries, "party_id", points_of_session(episode, entries, others, "party_id"))


def hold_large_opinions(episode: Episode, entries: Sequence[OpinionChange]) -> None:
    """Do the same with what NPCs think of each other, for each of them and each other. Call under
    the party's lock."""
    others = OpinionChange.objects.filter(other__isnull=False)
    hold_large(entries, "other_id", points_of_session(episode, entries, others, "other_id"))


def hold_large(entries: Sequence[Any], toward: str, earlier: Points) -> None:
    totals: dict[tuple[Subject, bool], int] = defaultdict(int)
    for entry in entries:
        totals[subject_of(entry, toward), entry.delta > 0] += entry.delta
    for entry in entries:
        direction = subject_of(entry, toward), entry.delta > 0
        total = totals[direction]
        of_session = total + earlier.get(direction, 0)
        entry.held = is_large(total) or reaches(settings.DISPOSITION_HOLD_AT_SESSION, of_session)


def subject_of(entry: Any, toward: str) -> Subject:
    return entry.npc_id, getattr(entry, toward)


def is_of_session(episode: str, session: UUID) -> Q:
    """The condition that the session of `episode`, a path to one, is this. Without a session of its
    own it has that of its scene, which may have got it later."""
    own = Q(**{f"{episode}__session": session})
    of_scene = Q(**{f"{episode}__session": None, f"{episode}__scene__session": session})
    return own | of_scene


def points_of_session(episode: Episode, entries: Iterable[Any], ledger: Any, toward: str) -> Points:
    """Return the gains and losses of the NPCs of `entries` that count, of those in `ledger` from
    other episodes of the session. None without a session or with the threshold switched off."""
    session = episode.session_id or (episode.scene.session_id if episode.scene else None)
    npcs = {entry.npc_id for entry in entries}
    if session is None or not settings.DISPOSITION_HOLD_AT_SESSION or not npcs:
        return {}
    of_session = is_of_session("episode", session) | is_of_session("cause__episode", session)
    rows = (
        ledger.in_force()
        .filter(of_session, npc__in=npcs)
        .exclude(episode=episode)
        .order_by()
        .values("npc_id", toward)
        .annotate(
            gains=Sum("delta", filter=Q(delta__gt=0)), losses=Sum("delta", filter=Q(delta__lt=0))
        )
    )
    points: dict[tuple[Subject, bool], int] = {}
    for row in rows:
        subject = row["npc_id"], row[toward]
        points[subject, True] = row["gains"] or 0
        points[subject, False] = row["losses"] or 0
    return points
