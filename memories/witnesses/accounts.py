"""What each audience remembers of an episode: its text, its importance, and for how long."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from episodes.models import Episode
from memories.ledger.plan import Particulars
from memories.states import Bucket
from npcs.models import DispositionChange, OpinionChange
from retrieval.text import parse_secret, split_secrets, without_fences
from worlds.models import World
from worlds.world_calendar import calendar_of

WITNESSED, TOLD = "witnessed", "told"
PRESENT = 0.3
"""The importance of an episode that changed nothing for who was there."""
LASTING = 0.7
"""What is as important is never forgotten."""
DECISIVE = 40
"""Points of disposition that make an episode as important as can be."""
DAYS_OF_A_YEAR = 365


@dataclass(frozen=True)
class Account:
    """What somebody remembers of an episode. Without a text there is nothing to remember."""

    text: str
    about: Particulars


@dataclass(frozen=True)
class Impression:
    """By how many points an episode changed what an NPC thinks of the party, and why; `strongest`
    is the largest change, also of what the NPC thinks of another one."""

    points: int = 0
    reasons: tuple[str, ...] = ()
    strongest: int = 0

    @property
    def importance(self) -> float:
        share = min(1.0, self.strongest / DECISIVE)
        return round(PRESENT + (1 - PRESENT) * share, 3)


def account_for_npc(
    episode: Episode,
    slug: str,
    impression: Impression,
    *,
    way: str,
    year: int,
    merged: Collection[str] = (),
) -> Account:
    """What the NPC remembers: the open text, and the secret blocks that name it, or the NPCs with
    the slugs `merged` that were made one with it."""
    metadata: dict[str, object] = {"audience": f"npc:{slug}", "way": way}
    if impression.points:
        metadata["disposition"] = impression.points
    if impression.reasons:
        metadata["reasons"] = list(impression.reasons)
    importance = impression.importance
    about = particulars(
        episode,
        importance=importance,
        metadata=metadata,
        forgotten_from=day_of_forgetting(episode.in_world_at, importance, year=year),
    )
    audiences = {f"npc:{each}" for each in (slug, *merged)}
    return Account(text_for(episode.what, audiences), about)


def account_for_gm(episode: Episode, impressions: Iterable[Impression]) -> Account:
    """What the agent of a game master remembers: everything, with the notes."""
    text = "\n\n".join(filter(None, (without_fences(episode.what).strip(), episode.notes.strip())))
    importance = max((each.importance for each in impressions), default=PRESENT)
    metadata: dict[str, object] = {"audience": "gm", "way": WITNESSED}
    return Account(text, particulars(episode, importance=importance, metadata=metadata))


def particulars(
    episode: Episode,
    *,
    importance: float,
    metadata: dict[str, object],
    forgotten_from: float | None = None,
) -> Particulars:
    return Particulars(
        source=source_of(episode),
        event_at=episode.happened_at,
        in_world_at=episode.in_world_at,
        in_world_label=episode.in_world_label,
        bucket=Bucket.EPISODIC,
        importance=importance,
        metadata=metadata,
        episode_id=episode.pk,
        forgotten_from=forgotten_from,
        label=episode.context,
    )


def source_of(episode: Episode) -> str:
    return f"episode:{episode.external_id}"


def text_for(what: str, audiences: Collection[str]) -> str:
    """Return `what` with those of its secret blocks that name any of `audiences`, in their
    places."""
    parts = []
    for part, is_secret in split_secrets(what):
        if not is_secret:
            parts.append(part)
            continue
        block = parse_secret(part)
        if not set(audiences).isdisjoint(block.audiences):
            parts.append(f"\n{text_for(block.body.strip(), audiences)}\n")
    return "".join(parts).strip()


def impressions_of(episode: Episode) -> Mapping[UUID, Impression]:
    """What the present version of `episode` changed in what each NPC thinks, by the NPC's id: the
    changes that count. One that waits for approval, was rejected or reversed has left no
    impression."""
    changes = [
        change
        for ledger in (DispositionChange, OpinionChange)
        for change in changes_that_count(ledger, episode)
    ]
    points: dict[UUID, dict[UUID, int]] = defaultdict(lambda: defaultdict(int))
    reasons: dict[UUID, list[str]] = defaultdict(list)
    for change in changes:
        points[change.npc_id][change.party_id or change.other_id] += change.delta
        reasons[change.npc_id] += filter(None, [change.reason])
    return {
        npc: Impression(
            toward.get(episode.party_id, 0),
            tuple(dict.fromkeys(reasons[npc])),
            max(map(abs, toward.values())),
        )
        for npc, toward in points.items()
    }


def changes_that_count(ledger: Any, episode: Episode) -> Any:
    rows = ledger.objects.filter(episode=episode, npc__isnull=False).in_force()
    return rows.order_by("id")


def day_of_forgetting(day: float | None, importance: float, *, year: int) -> float | None:
    """Return the in-world day from which an NPC forgets what happened on `day`; None: never.

    What merely happened is remembered for `NPC_MEMORY_YEARS` years of the world's calendar, what
    is halfway to `LASTING` three times as long.
    """
    years = settings.NPC_MEMORY_YEARS
    if day is None or importance >= LASTING or not years:
        return None
    if importance < PRESENT:  # hearsay in doubt
        times = importance / PRESENT
    else:
        times = 1 + 4 * (importance - PRESENT) / (LASTING - PRESENT)
    return float(day + years * year * times)


def days_of_a_year(world: World) -> int:
    calendar = calendar_of(world)
    return calendar.ordinary_year if calendar else DAYS_OF_A_YEAR
