"""What the Prepare page tells of a party before its next session."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, Q, QuerySet
from django.urls import reverse

from episodes.loose_ends import loose_ends_in_force
from episodes.models import Episode, Scene, Session, Thread
from episodes.recaps import get_recap
from episodes.report_models import LooseEnd
from episodes.schemas import RecapOut
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import SCENE, GraphEdge, SourceKind
from knowledge.graph.protocol import View
from knowledge.models import Lore, Rule
from memory_site.play.in_play import RankedPart, unknown_parts
from npcs.models import NPC, DispositionChange
from npcs.page_queries import AnyDisposition, open_threads, opinions_of_party
from npcs.profiles import present_influence
from npcs.schemas import Influence
from worlds.audiences import GM, audience_of_party
from worlds.callers import Caller
from worlds.event_log.read import visible_events
from worlds.event_model import EDITED_KINDS
from worlds.models import Party, World

MOST_OPINIONS = 10
MOST_READ = 30
"""Opinions that are read for those: some have no reason yet."""
MOST_CHANGES = 12
MOST_EVENTS = 300
MOST_THREADS = 30


@dataclass(frozen=True)
class LastTime:
    """The last session with its recap for the game master, and the one to read to the party."""

    session: Session | None
    recap: RecapOut | None
    to_read: RecapOut | None
    episodes: Sequence[str]
    """The summary ids of its episodes."""
    recorded_at: datetime | None
    episode_ids: Sequence[UUID] = ()


@dataclass(frozen=True)
class Edit:
    """An entry, a person or a rule that somebody wrote since."""

    title: str
    url: str
    action: str
    at: datetime


@dataclass(frozen=True)
class Changes:
    dispositions: list[tuple[NPC, Influence]]
    facts: list[tuple[GraphEdge, str]]
    edits: list[Edit]


@dataclass(frozen=True)
class Preparation:
    last: LastTime
    changes: Changes
    opinions: list[tuple[NPC, AnyDisposition]]
    threads: list[Thread]
    loose_ends: list[LooseEnd]


@dataclass(frozen=True)
class UnknownThings:
    """What the party does not know, by thing: the first `FIRST_THINGS`, and the others."""

    nearest: list[list[RankedPart]]
    others: list[list[RankedPart]]


FIRST_THINGS = 8


def prepare(party: Party) -> Preparation:
    """Read what has happened and what is open, by a fixed number of statements."""
    last = last_time(party)
    return Preparation(
        last,
        Changes(
            disposition_changes_since(party, last),
            facts_since(party, last),
            edits_since(party, last),
        ),
        strongest_opinions(party),
        list(open_threads(party)[:MOST_THREADS]),
        list(open_loose_ends(party)),
    )


def unknown_things(party: Party, scene: Scene | None) -> UnknownThings:
    """Read what the party does not know, by a fixed number of statements. `scene` is the party's
    open one."""
    threads = list(open_threads(party)[:MOST_THREADS])
    names = [*map(str, threads), *map(str, open_loose_ends(party))]
    unknown = by_thing(unknown_parts(party, scene, threads, texts=names))
    return UnknownThings(unknown[:FIRST_THINGS], unknown[FIRST_THINGS:])


def open_loose_ends(party: Party) -> "QuerySet[LooseEnd]":
    rows = loose_ends_in_force(party.world, party=party)
    return rows.filter(closed_at=None)[:MOST_THREADS]


def by_thing(parts: Sequence[RankedPart]) -> list[list[RankedPart]]:
    """The parts of each thing together, in the order of the things' first parts."""
    # By name, because a person and the entry about them are one thing.
    things: dict[str, list[RankedPart]] = {}
    for each in parts:
        things.setdefault(each.part.owner_name, []).append(each)
    return list(things.values())


def last_time(party: Party) -> LastTime:
    """The last session of the party that has episodes."""
    rows = Episode.objects.of_party(party).not_retracted()
    latest = rows.filter(session__isnull=False).latest_first().select_related("session").first()
    if latest is None or latest.session is None:
        return LastTime(None, None, None, (), rows.aggregate(at=Max("created_at"))["at"])
    session: Session = latest.session
    session.world = party.world
    own = list(rows.filter(session=session).values_list("external_id", "created_at", "pk"))
    return LastTime(
        session,
        get_recap(session, GM),
        get_recap(session, audience_of_party(party)),
        [ref for ref, _at, _pk in own],
        max(at for _ref, at, _pk in own),
        [pk for _ref, _at, pk in own],
    )


def strongest_opinions(party: Party) -> list[tuple[NPC, AnyDisposition]]:
    """Who cares most about the party, for good or ill."""
    found = opinions_of_party(party, GM, most=MOST_READ)
    opinions = [each for each in found if getattr(each[1], "last_reason", "")]
    opinions.sort(key=lambda each: -abs(getattr(each[1], "score", 0.0)))
    return opinions[:MOST_OPINIONS]


def disposition_changes_since(party: Party, last: LastTime) -> list[tuple[NPC, Influence]]:
    """Changes of what NPCs think of the party: by the last session, and since."""
    since = Q(episode_id__in=last.episode_ids)
    if last.recorded_at:
        since |= Q(created_at__gt=last.recorded_at)
    rows: Any = DispositionChange.objects.in_world(party.world).filter(since, party=party)
    rows = rows.changes().with_ruling().annotate_episode().select_related("npc", "party")
    rows = rows.filter(is_current=True).order_by("-id")
    return [(row.npc, present_influence(row)) for row in rows[:MOST_CHANGES]]


def facts_since(party: Party, last: LastTime) -> list[tuple[GraphEdge, str]]:
    since = Q(source_kind=SourceKind.EPISODE, source_ref__in=last.episodes)
    if last.recorded_at:
        since |= Q(believed_from__gt=last.recorded_at)
    rows = (
        View(party.world, GM)
        .facts()
        .filter(since)
        .exclude(source_ref__endswith=SCENE)
        .order_by("-believed_from", "pk")
    )
    return [(row, fact_sentence(row)) for row in rows[:MOST_CHANGES]]


EDITED: dict[str, tuple[Any, str, str, str]] = {
    "lore": (Lore, "title", "lore-entry", "slug"),
    "npc": (NPC, "name", "npc", "slug"),
    "rule": (Rule, "title", "rule", "key"),
}
"""The kinds of events that tell of what people write: model, title, page, and what names the
page."""


def edits_since(party: Party, last: LastTime) -> list[Edit]:
    """What was written in the world, the latest first, each once; what was deleted is not
    shown."""
    if last.recorded_at is None:
        return []
    caller = Caller(party.world, GM, party.campaign)
    events = visible_events(caller).filter(at__gt=last.recorded_at, kind__in=EDITED_KINDS)
    latest: dict[str, Any] = {}
    # By time, of which there is an index; positions have the order of commits, nearly the same.
    rows_of_events = events.values_list("row_id", "kind", "action", "at", named=True)
    for event in rows_of_events.order_by("-at", "-position")[:MOST_EVENTS]:
        latest.setdefault(event.row_id, event)
    rows = edited_rows(party.world, latest.values())
    edits = [
        Edit(title, reverse(page, args=[party.world.slug, ref]), event.action, event.at)
        for event in latest.values()
        if (found := rows.get(UUID(event.row_id)))
        for title, page, ref in [found]
    ]
    return edits[:MOST_CHANGES]


def edited_rows(world: World, events: Any) -> dict[UUID, tuple[str, str, str]]:
    """One statement for each kind."""
    ids: dict[str, list[str]] = {}
    for event in events:
        ids.setdefault(event.kind, []).append(event.row_id)
    return {
        pk: (title, page, ref)
        for kind, (model, name, page, ref_name) in EDITED.items()
        for pk, title, ref in model.objects.filter(
            world=world, pk__in=ids.get(kind, ())
        ).values_list("pk", name, ref_name)
    }
