"""The scene that a party plays just now: opened, its clock and its cast changed, closed."""

from collections.abc import Sequence
from datetime import timedelta
from math import floor
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext

from episodes.models import Scene, Session
from episodes.scenes import SceneEnded, upsert_scene, upsert_session
from episodes.schemas import SceneIn, SessionIn
from retrieval.errors import Conflict, Invalid
from retrieval.models import uuid7
from worlds.audiences import GM, Visibility
from worlds.in_world_days import names_of_days
from worlds.models import Party, World
from worlds.world_calendar import calendar_of

SAME_EVENING = timedelta(hours=16)
"""A session that began longer ago is over."""
MINUTES_A_DAY = 24 * 60
"""In a world without a calendar of its own."""
MOST_IN_CAST = 30


class SceneOpen(Conflict):
    code, title = "scene_open", "A scene is open already"


def find_open_scene(party: Party) -> Scene | None:
    """Return the party's latest scene, unless it has ended or its episode is recorded."""
    rows = Scene.objects.filter(party=party).select_related("session", "place_lore")
    latest: Scene | None = rows.order_by("-created_at", "-pk").first()
    if latest is None or latest.ended_at or latest.episodes.filter(retracted_at=None).exists():
        return None
    return latest


@transaction.atomic
def open_scene(
    party: Party, *, title: str = "", place: str = "", cast: Sequence[str] = ()
) -> Scene:
    """Open a scene in tonight's session, which is created if there is none. It begins at the
    in-world time that the party has reached. Raises `SceneOpen`."""
    Party.objects.select_for_update().get(pk=party.pk)  # two game masters may open one at once
    if found := find_open_scene(party):
        raise SceneOpen(gettext("The scene %(name)s is open: close it first.") % {"name": found})
    session = find_or_create_session(party)
    at, label = time_reached(party)
    entry = SceneIn(
        scene_id=f"scene-{uuid7()}",
        party_id=party.slug,
        session_id=session.external_id,
        title=title.strip(),
        place=place.strip(),
        position=session.scenes.count() + 1,
        in_world_at=at,
        in_world_label=label,
        # Its title may tell what comes.
        visibility=Visibility.GM,
    )
    scene = upsert_scene(party.world, entry)
    if cast:
        scene = set_cast(scene, cast)
    return scene


def find_or_create_session(party: Party) -> Session:
    """Return the session that the party plays tonight; a new one has the next number."""
    now = timezone.now()
    own = Session.objects.filter(campaign=party.campaign_id, party__in=[party])
    recent = own.filter(played_at__gt=now - SAME_EVENING, played_at__lte=now + SAME_EVENING)
    if found := recent.order_by("-played_at").first():
        return found  # type: ignore[no-any-return]
    last = Session.objects.filter(campaign=party.campaign_id).aggregate(last=Max("number"))["last"]
    at, label = time_reached(party)
    number = (last or 0) + 1
    entry = SessionIn(
        session_id=f"session-{uuid7()}",
        party_id=party.slug,
        number=number,
        title=gettext("Session %(number)s") % {"number": number},
        played_at=now,
        in_world_at=at,
        in_world_label=label,
    )
    return upsert_session(party.world, entry)


def time_reached(party: Party) -> tuple[float | None, str]:
    """Return the latest in-world time of the party's scenes and episodes, with its date."""
    rows: list[tuple[float, str]] = []
    for model in (Scene, party.episodes.model):
        own: Any = model.objects.filter(party=party, in_world_at__isnull=False)
        rows += own.order_by("-in_world_at").values_list("in_world_at", "in_world_label")[:1]
    return max(rows, default=(None, ""))


@transaction.atomic
def advance(scene: Scene, *, minutes: int) -> Scene:
    """Let `minutes` pass in the world. Raises `SceneEnded`, or `Invalid` without an in-world
    time."""
    row = lock_open(scene)
    if row.in_world_at is None:
        raise Invalid(gettext("The scene has no in-world day: write the day first."))
    return set_time(row, row.in_world_at + minutes / minutes_a_day(row.world))


@transaction.atomic
def set_day(scene: Scene, day: float) -> Scene:
    """Set the in-world time. Raises `SceneEnded`."""
    return set_time(lock_open(scene), day)


def set_time(row: Scene, at: float) -> Scene:
    # Minutes are no binary fractions of a day: without rounding they would add up to 11:59.
    minutes = minutes_a_day(row.world)
    row.in_world_at = round(at * minutes) / minutes
    date = names_of_days(row.world, GM, [float(floor(row.in_world_at))]).get(floor(row.in_world_at))
    row.in_world_label = f"{date}, {hour_of(row.in_world_at)}" if date else ""
    row.save(update_fields=["in_world_at", "in_world_label", "updated_at"])
    return row


def minutes_a_day(world: World) -> int:
    """The minutes of a day by the calendar of the world, in which hours may be long or few."""
    calendar = calendar_of(world)
    return calendar.minutes_a_day if calendar else MINUTES_A_DAY


def hour_of(at: float) -> str:
    """Return the time of day of an in-world day, in a world without a calendar: `18:30`."""
    hours, minutes = divmod(round(at % 1 * MINUTES_A_DAY) % MINUTES_A_DAY, 60)
    return f"{hours:02}:{minutes:02}"


@transaction.atomic
def set_cast(scene: Scene, slugs: Sequence[str]) -> Scene:
    """Say which NPCs are there, by their slugs. Raises `SceneEnded`."""
    row = lock_open(scene)
    row.cast = list(dict.fromkeys(slugs))
    if len(row.cast) > MOST_IN_CAST:
        raise Invalid(gettext("A scene has at most %(most)s NPCs.") % {"most": MOST_IN_CAST})
    row.save(update_fields=["cast", "updated_at"])
    return row


@transaction.atomic
def change_cast(scene: Scene, *, add: str = "", remove: str = "") -> Scene:
    """Let an NPC enter or leave. Raises `SceneEnded`."""
    row = lock_open(scene)
    cast = [slug for slug in row.cast if slug != remove]
    return set_cast(row, [*cast, *([add] if add else [])])


def lock_open(scene: Scene) -> Scene:
    row: Scene = (
        Scene.objects.select_for_update(of=("self",)).select_related("world").get(pk=scene.pk)
    )
    if row.ended_at:
        raise SceneEnded(gettext("%(name)s has ended.") % {"name": row})
    return row
