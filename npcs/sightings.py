"""Where each NPC was seen last."""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, Func, Q, UUIDField, Value

from knowledge.link_models import Link
from npcs.models import Appearance
from worlds.audiences import Audience
from worlds.models import World

LATELY = 1_000
"""So many of the latest episodes are looked through first."""


@dataclass(frozen=True)
class Sighting:
    """An episode, by its id, and when it happened at the table."""

    happened_at: datetime
    episode: UUID


def latest_sightings(
    npcs: Set[UUID], episodes: Any, audience: Audience, *, world: World
) -> dict[UUID, Sighting]:
    """Return the latest of `episodes` that `audience` may know in which each of `npcs` was seen, by
    the NPC's id; those that were not seen are left out. A fixed number of statements.

    Game masters get the episodes at which the NPC was present; players those whose open text
    names it, because who else was there is not theirs to know.
    """
    if not npcs:
        return {}
    # Most were seen lately, and to look through years of episodes for them takes many times as
    # long. The latest are read first: in one statement for both, PostgreSQL would look for the
    # thousand NPCs among all.
    lately = latest_of(episodes, audience, world)
    pairs = present_at(lately) if audience.is_gm else named_among(lately)
    found = latest_by_npc(pairs, lately, npcs)
    find_among_all = find_present if audience.is_gm else find_named
    visible = episodes.in_world(world).visible_to(audience)
    return found | find_among_all(npcs - found.keys(), visible)


def latest_of(episodes: Any, audience: Audience, world: World) -> dict[UUID, datetime]:
    """When each of the latest of `episodes` happened that `audience` may know."""
    latest = [
        row
        for rows in episodes.parts_visible_to(audience, world=world)
        for row in rows.latest_first().values_list("happened_at", "pk")[:LATELY]
    ]
    latest.sort(reverse=True)
    return {pk: when for when, pk in latest[:LATELY]}


def latest_by_npc(
    pairs: Iterable[tuple[UUID, UUID]], times: Mapping[UUID, datetime], npcs: Collection[UUID]
) -> dict[UUID, Sighting]:
    """Return the latest of the episodes that are paired with each of `npcs`."""
    found: dict[UUID, tuple[datetime, UUID]] = {}
    for npc, episode in pairs:
        moment = times[episode], episode
        if npc in npcs and (npc not in found or moment > found[npc]):
            found[npc] = moment
    return {npc: Sighting(*moment) for npc, moment in found.items()}


def present_at(episodes: Collection[UUID]) -> Iterable[tuple[UUID, UUID]]:
    """Who was at these episodes."""
    pairs = Appearance.objects.filter(is_any_of("episode", episodes))
    return pairs.values_list("npc", "episode")


def named_among(episodes: Collection[UUID]) -> Iterable[tuple[UUID, UUID]]:
    """Whom the open text of these episodes names."""
    links = Link.objects.filter(is_any_of("source_id", episodes), source_kind="episode")
    links = links.filter(secret=False)
    for source, targets in links.values_list("source_id", "targets"):
        yield from ((target, source) for target in targets)


def find_present(npcs: Collection[UUID], episodes: Any) -> dict[UUID, Sighting]:
    """The latest of `episodes` at which each NPC was present. One statement, none without NPCs."""
    rows = Appearance.objects.filter(is_any_of("npc", npcs), episode__in=episodes.values("pk"))
    rows = rows.order_by("npc", "-episode__happened_at", "-episode").distinct("npc")
    latest = rows.values_list("npc", "episode__happened_at", "episode")
    return {npc: Sighting(when, episode) for npc, when, episode in latest}


def is_any_of(column: str, ids: Collection[UUID]) -> Q:
    """The condition that `column` has one of `ids`, as one array: of `IN` with a thousand
    parameters Django and psycopg handle each by itself."""
    array = Value(list(ids), ArrayField(UUIDField()))
    return Q(
        Func(
            column,
            array,
            template="%(expressions)s)",
            arg_joiner=" = ANY(",
            output_field=BooleanField(),
        )
    )


def find_named(npcs: Collection[UUID], episodes: Any) -> dict[UUID, Sighting]:
    """The latest of `episodes` whose open text names each NPC. Two statements."""
    links = Link.objects.filter(source_kind="episode", secret=False)
    links = links.filter(targets__overlap=list(npcs), source_id__in=episodes.values("pk"))
    pairs = [
        (target, source)
        for source, targets in links.values_list("source_id", "targets")
        for target in targets
        if target in npcs
    ]
    named_in = {episode for _npc, episode in pairs}
    times = dict(episodes.filter(pk__in=named_in).values_list("pk", "happened_at"))
    return latest_by_npc([pair for pair in pairs if pair[1] in times], times, npcs)
