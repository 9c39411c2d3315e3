"""What became known to an audience since a given time."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse

from art.models import Picture
from episodes.models import Episode
from episodes.titles import title_of
from memory_site.players.known import (
    KnownSecret,
    KnownThing,
    entries,
    people,
    present_entries,
    present_people,
    present_secrets,
    without_people,
)
from memory_site.players.learned import reveals_of
from worlds.callers import Caller
from worlds.event_log.read import action_for, visible_events
from worlds.event_model import Event
from worlds.pages import Viewer

MOST_EVENTS = 300
MOST = 12
"""Of each kind."""
KINDS = ("npc", "lore", "episode")


@dataclass
class News:
    people: list[KnownThing] = field(default_factory=list)
    entries: list[KnownThing] = field(default_factory=list)
    secrets: list[KnownSecret] = field(default_factory=list)
    episodes: list[KnownThing] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        lists = (self.people, self.entries, self.secrets, self.episodes, self.pictures)
        return not any(lists)


def news_for(viewer: Viewer, since: datetime | None) -> News:
    """Return what the viewer may know now and did not know at `since` (None: the latest of all). A
    fixed number of queries."""
    world, audience = viewer.world, viewer.audience
    ids = find_new_rows(viewer, since)
    lore = without_people(entries(world, audience), world, audience)
    lore = lore.filter(pk__in=ids["lore"]).order_by("-pk")[:MOST]
    npcs = people(world, audience).filter(pk__in=ids["npc"]).order_by("-pk")[:MOST]
    return News(
        people=present_people(npcs, world, audience),
        entries=present_entries(lore, world, audience, with_pictures=False),
        secrets=new_secrets(viewer, since),
        episodes=new_episodes(viewer, ids["episode"]),
        pictures=new_pictures(viewer, since),
    )


def find_new_rows(viewer: Viewer, since: datetime | None) -> dict[str, set[UUID]]:
    """The rows that came into the audience's knowledge, by kind, from the event log; and what its
    own part of the reveal log tells, because a party may learn from its members."""
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    rows = visible_events(caller).filter(kind__in=KINDS)
    log = reveals_of(viewer.world, viewer.audience).filter(subject_kind__in=KINDS)
    if since:
        rows, log = rows.filter(at__gt=since), log.filter(created_at__gt=since)
    found: dict[str, set[UUID]] = {kind: set() for kind in KINDS}
    for event in rows.order_by("-position")[:MOST_EVENTS]:
        if action_for(event, viewer.audience) == Event.Action.CREATED:
            found[event.kind].add(UUID(event.row_id))
    latest = log.order_by("-created_at", "-pk").values_list("subject_kind", "subject_id")
    for kind, subject in latest[:MOST_EVENTS]:
        found[kind].add(subject)
    return found


def new_secrets(viewer: Viewer, since: datetime | None) -> list[KnownSecret]:
    log = reveals_of(viewer.world, viewer.audience)
    log = log.filter(subject_kind__in=("secret", "lorepassage"))
    if since:
        log = log.filter(created_at__gt=since)
    ids = log.order_by("-created_at", "-pk").values_list("subject_id", flat=True)[:MOST_EVENTS]
    return present_secrets(list(ids), viewer.world, viewer.audience)[:MOST]


def new_episodes(viewer: Viewer, ids: set[UUID]) -> list[KnownThing]:
    rows: Any = Episode.objects.in_world(viewer.world).visible_to(viewer.audience)
    rows = rows.not_retracted().filter(pk__in=ids).with_source().latest_first()[:MOST]
    return [
        KnownThing(
            title_of(row, viewer.audience),
            reverse("episode", args=[viewer.world.slug, row.external_id]),
            viewer.when(row),
            row.text,
            row.language,
        )
        for row in rows
    ]


def new_pictures(viewer: Viewer, since: datetime | None) -> list[Picture]:
    rows: Any = Picture.objects.in_world(viewer.world).visible_to(viewer.audience).present()
    rows = rows.filter(created_at__gt=since) if since else rows
    return list(rows.order_by("-created_at", "-pk")[:MOST])
