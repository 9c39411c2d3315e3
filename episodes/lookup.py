"""Find the session, scene, arc, episode or thread that a reference names.

`campaign` is the one to which the caller's key is bound, if it is: what others hold is not found.
"""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q, Value
from django.db.models.functions import Upper

from episodes.models import Arc, Episode, Scene, Session, Thread
from knowledge.models import Lore
from worlds.audiences import GM, Audience
from worlds.lookup import find_exact, find_row
from worlds.models import Campaign, World


def find_scene(
    world: World,
    reference: str,
    audience: Audience = GM,
    *,
    campaign: Campaign | None = None,
    resembling: bool = False,
) -> Scene:
    rows = (
        Scene.objects.in_world(world)
        .in_campaign(campaign)
        .visible_to(audience)
        .select_related("session", "place_lore", "party", "world")
    )
    scene: Scene = find_row(
        rows, reference, what="scene", key="external_id", name="title", resembling=resembling
    )
    return scene


def find_session(
    world: World, reference: str, audience: Audience = GM, *, campaign: Campaign | None = None
) -> Session:
    rows = (
        Session.objects.in_world(world)
        .in_campaign(campaign)
        .visible_to(audience)
        .select_related("campaign__world", "party", "arc", "world")
    )
    session: Session = find_row(rows, reference, what="session", key="external_id", name="title")
    return session


def find_arc(world: World, reference: str, *, campaign: Campaign | None = None) -> Arc:
    arcs = Arc.objects.filter(campaign__world=world).select_related("campaign__world")
    if campaign:
        arcs = arcs.filter(campaign=campaign)
    return find_row(arcs, reference, what="arc", key="external_id", name="title")


def find_episode(
    world: World, reference: str, audience: Audience = GM, *, campaign: Campaign | None = None
) -> Episode:
    """Return the episode; a retracted one only to a game master: for others it never happened."""
    rows = Episode.objects.in_world(world).in_campaign(campaign).visible_to(audience).with_source()
    rows = rows if audience.is_gm else rows.not_retracted()
    episode: Episode = find_exact(rows, reference, what="episode", key="external_id")
    return episode


def find_thread(world: World, reference: str, *, campaign: Campaign | None = None) -> Thread:
    rows = Thread.objects.filter(world=world).in_campaign(campaign)
    rows = rows.select_related("party__campaign", "scene", "episode")
    thread: Thread = find_exact(rows, reference, what="thread", key="external_id")
    return thread


def lore_by_name(world: World, names: Sequence[str]) -> dict[str, Lore]:
    """Return the canon entries with these slugs, titles or aliases; ambiguous names are left
    out. At most two queries."""
    canon = Lore.objects.in_world(world).filter(campaign=None)
    wanted = {name for name in names if name}
    entries = {entry.slug: entry for entry in canon.filter(slug__in=wanted)} if wanted else {}
    if rest := sorted(wanted - set(entries)):
        titles = canon.annotate(upper_title=Upper("title"))
        named = Q(upper_title__in=[Upper(Value(name)) for name in rest])
        by_name: dict[str, list[Lore]] = defaultdict(list)
        for entry in titles.filter(named | Q(aliases__overlap=rest)):
            for name in rest:
                if entry.title.upper() == name.upper() or name in entry.aliases:
                    by_name[name].append(entry)
        entries |= {name: rows[0] for name, rows in by_name.items() if len(rows) == 1}
    return entries
