"""Find what a reference names: the engine's id, else the name as people write it. Unknown: candidates, no guess."""

from typing import Any, cast
from uuid import UUID

from django.db.models import Q, QuerySet

from episodes.models import Arc, Episode, Scene, Session, Thread
from knowledge.models import Lore
from retrieval.errors import NotFound
from retrieval.text import KnownName, NameIndex
from worlds.audiences import GM, Audience
from worlds.callers import Caller
from worlds.models import Campaign, Party, World


def find_party(world: World, reference: str, campaign: Campaign | None = None) -> Party:
    parties = Party.objects.filter(world=world).select_related("campaign")
    if campaign:
        parties = parties.filter(campaign=campaign)
    return cast(Party, _find(parties, reference, what="party", key="slug", name="name"))


def find_party_for(caller: Caller, reference: str) -> Party:
    """A party that the caller may ask about: a player's audience knows of its own alone. Others are not found."""
    parties = Party.objects.filter(world=caller.world).select_related("campaign")
    if caller.campaign:
        parties = parties.filter(campaign=caller.campaign)
    if not caller.audience.is_gm:
        parties = parties.filter(
            slug=caller.audience.slug if caller.audience.kind == "party" else None
        )
    return cast(Party, _find(parties, reference, what="party", key="slug", name="name"))


def find_campaign(world: World, reference: str) -> Campaign:
    campaigns = Campaign.objects.filter(world=world).select_related("world")
    return cast(Campaign, _find(campaigns, reference, what="campaign", key="slug", name="name"))


def find_scene(world: World, reference: str, audience: Audience = GM) -> Scene:
    scenes = (
        Scene.objects.in_world(world)
        .visible_to(audience)
        .select_related("session", "place_lore", "party", "world")
    )
    return cast(Scene, _find(scenes, reference, what="scene", key="external_id", name="title"))


def find_session(world: World, reference: str, audience: Audience = GM) -> Session:
    sessions = (
        Session.objects.in_world(world)
        .visible_to(audience)
        .select_related("campaign__world", "party", "arc", "world")
    )
    return cast(
        Session, _find(sessions, reference, what="session", key="external_id", name="title")
    )


def find_arc(world: World, reference: str) -> Arc:
    arcs = Arc.objects.filter(campaign__world=world).select_related("campaign__world")
    return cast(Arc, _find(arcs, reference, what="arc", key="external_id", name="title"))


def find_episode(
    world: World, reference: str, audience: Audience = GM, *, campaign: Campaign | None = None
) -> Episode:
    episodes = (
        Episode.objects.in_world(world).in_campaign(campaign).visible_to(audience).with_source()
    )
    return cast(
        Episode,
        _by_key(episodes, reference, "external_id") or _unknown(reference, "episode", episodes),
    )


def find_thread(world: World, reference: str) -> Thread:
    threads = Thread.objects.filter(world=world).select_related(
        "party__campaign", "scene", "episode"
    )
    return cast(
        Thread, _by_key(threads, reference, "external_id") or _unknown(reference, "thread", threads)
    )


def lore_by_name(world: World, names: list[str]) -> dict[str, Lore]:
    """Return the entries that `names` (slugs, titles, aliases) mean exactly; what fits none or several is left out."""
    canon = Lore.objects.in_world(world).filter(campaign=None)
    found = {entry.slug: entry for entry in canon.filter(slug__in=names)}
    others = [name for name in names if name and name not in found]
    for name in others:
        matches = list(canon.filter(Q(title__iexact=name) | Q(aliases__contains=[name]))[:2])
        if len(matches) == 1:
            found[name] = matches[0]
    return found


def _find(rows: QuerySet[Any], reference: str, *, what: str, key: str, name: str) -> Any:
    """Exact by `key` or id, else by name among `rows` alone, so that what they leave out has no candidates."""
    if (row := _by_key(rows, reference, key)) is not None:
        return row
    entries = [
        KnownName(pk, label or ref, [ref])
        for pk, label, ref in rows.values_list("pk", name, key)[:2000]
    ]
    return rows.get(pk=NameIndex(entries).resolve(reference, what=what))


def _by_key(rows: QuerySet[Any], reference: str, key: str) -> Any:
    wanted = Q(**{key: reference})
    if (row_id := as_uuid(reference)) is not None:
        wanted |= Q(pk=row_id)
    return rows.filter(wanted).first()


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _unknown(reference: str, what: str, rows: QuerySet[Any]) -> Any:
    near = [
        KnownName(ref, ref)
        for ref in rows.order_by("-pk").values_list("external_id", flat=True)[:500]
    ]
    raise NotFound(
        f"There is no {what} {reference!r} in this world.",
        candidates=NameIndex(near).suggest(reference),
    )
