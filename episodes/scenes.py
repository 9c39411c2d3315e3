"""Create and change sessions and scenes; the scratch notes (working memory) of a scene."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.lookup import find_session, lore_by_name
from episodes.models import Arc, Scene, Scratch, Session
from episodes.schemas import EpisodeIn, SceneIn, SessionIn
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.text import resembling_ids
from worlds.lookup import find_campaign, find_party
from worlds.models import Campaign, Party, World

LARGEST_SCRATCH = 100_000
MOST_IDS = 500
"""Ids of a campaign, the newest, with which a new one is compared."""


class SceneEnded(Conflict):
    code, title = "scene_ended", "The scene has ended"


@transaction.atomic
def upsert_session(world: World, entry: SessionIn, *, only: Campaign | None = None) -> Session:
    """Create or change the session. With `only`, the campaign to which the caller's key is bound,
    nothing of another campaign is found: raises `NotFound`."""
    require_own(Session.objects.filter(world=world, external_id=entry.session_id), only)
    party, campaign = party_and_campaign(world, entry, only)
    arc = None
    if entry.arc_id is not None:
        title = {"title": entry.arc_title or entry.arc_id}
        arc, _new = Arc.objects.get_or_create(
            campaign=campaign, external_id=entry.arc_id, defaults=title
        )
    values = entry.model_dump(
        include={"number", "title", "played_at", "in_world_at", "in_world_label", "visibility"}
    )
    session, _new = Session.objects.update_or_create(
        world=world,
        external_id=entry.session_id,
        defaults={**values, "campaign": campaign, "party": party, "arc": arc},
    )
    return session


@transaction.atomic
def upsert_scene(world: World, entry: SceneIn, *, only: Campaign | None = None) -> Scene:
    """Create or change the scene; `only` as in `upsert_session`."""
    require_own(Scene.objects.filter(world=world, external_id=entry.scene_id), only)
    party, campaign = party_and_campaign(world, entry, only)
    values = entry.model_dump(
        include={"title", "place", "position", "in_world_at", "in_world_label", "visibility"}
    )
    links = {
        "campaign": campaign,
        "party": party,
        "session": (
            find_session(world, entry.session_id, campaign=only) if entry.session_id else None
        ),
        "place_lore": lore_by_name(world, [entry.place]).get(entry.place),
    }
    scene, _new = Scene.objects.update_or_create(
        world=world, external_id=entry.scene_id, defaults={**values, **links}
    )
    return scene


def require_own(rows: QuerySet[Any], only: Campaign | None) -> None:
    """Raise `NotFound` if the row that is to be written is one of another campaign than `only`."""
    if only and (row := rows.exclude(campaign=only).first()):
        what = row._meta.model_name
        raise NotFound(
            _("There is no %(what)s %(id)r in the campaign %(campaign)s.")
            % {"what": _(what), "id": row.external_id, "campaign": only.slug}
        )


def party_and_campaign(
    world: World, entry: SessionIn | SceneIn, only: Campaign | None
) -> tuple[Party | None, Campaign]:
    """Return the party that `entry` names, if any, and its campaign; raises Invalid when the two
    contradict.
    """
    party = find_party(world, entry.party_id, only) if entry.party_id else None
    if not entry.campaign_id:
        if party is None:
            raise Invalid(_("Name a party or a campaign."))
        return party, party.campaign
    campaign = find_campaign(world, entry.campaign_id, only=only)
    if party and party.campaign_id != campaign.pk:
        raise Invalid(
            _("The party %(party)s does not play in the campaign %(campaign)s.")
            % {"party": party.slug, "campaign": campaign.slug}
        )
    return party, campaign


def warnings_of_new_ids(party: Party, summary: EpisodeIn) -> list[str]:
    """Ask about the scene and the session of `summary` that do not exist yet, but whose ids are a
    slip away from known ones of the campaign. For use before they are created."""
    scene = _("The scene %(new)r is new: did you mean %(known)s?")
    session = _("The session %(new)r is new: did you mean %(known)s?")
    return [
        text % {"new": new, "known": ", ".join(known[:5])}
        for rows, new, text in (
            (Scene.objects, summary.scene_id, scene),
            (Session.objects, summary.session_id, session),
        )
        if new and (known := known_ids_like(new, rows.filter(world=party.world), party))
    ]


def known_ids_like(new: str, rows: QuerySet[Any], party: Party) -> list[str]:
    """Return the ids that `new` resembles; none if it is one of the ids of the world itself."""
    if rows.filter(external_id=new).exists():
        return []
    recent = rows.filter(campaign=party.campaign_id).order_by("-pk")
    return resembling_ids(new, recent.values_list("external_id", flat=True)[:MOST_IDS])


def scene_and_session(party: Party, summary: EpisodeIn) -> tuple[Scene | None, Session | None]:
    """Return the scene and session that `summary` names; those that do not exist are created from
    what it says.
    """
    session = None
    if summary.session_id is not None:
        session, _new = Session.objects.get_or_create(
            world=party.world,
            external_id=summary.session_id,
            defaults={
                "campaign": party.campaign,
                "party": party,
                "played_at": summary.when.real,
                "visibility": "revealed",
            },
        )
        if session.campaign_id != party.campaign_id:
            raise Invalid(
                _("The session %(session_id)s belongs to another campaign.")
                % {"session_id": summary.session_id}
            )
    if not summary.scene_id:
        return None, session
    scene, _new = Scene.objects.get_or_create(
        world=party.world,
        external_id=summary.scene_id,
        defaults={
            "campaign": party.campaign,
            "party": party,
            "session": session,
            "place": summary.where,
            "place_lore": lore_by_name(party.world, [summary.where]).get(summary.where),
            "visibility": summary.visibility,
            "in_world_at": summary.when.in_world_at,
            "in_world_label": summary.when.in_world_label,
        },
    )
    if scene.party_id not in (None, party.pk) or scene.campaign_id != party.campaign_id:
        raise Invalid(
            _("The scene %(scene_id)s belongs to another party.") % {"scene_id": summary.scene_id}
        )
    # A scene that an engine created before its session gets it with the first episode.
    if session and scene.session_id is None:
        scene.session = session
        scene.save(update_fields=["session", "updated_at"])
    return scene, session or scene.session


def write_scratch(scene: Scene, key: str, value: Any) -> Scratch:
    """Store `value` under `key` until the scene ends; raises SceneEnded, or Invalid when it is too
    large.
    """
    if scene.ended_at:
        raise SceneEnded(
            _("%(scene)s has ended: its scratch is gone.") % {"scene": scene.external_id}
        )
    # The length of the Python text stands for that of the JSON: a bound, not an exact size.
    if len(repr(value)) > LARGEST_SCRATCH:
        raise Invalid(
            _("A scratch value may hold at most %(count)s characters.") % {"count": LARGEST_SCRATCH}
        )
    return Scratch.objects.update_or_create(scene=scene, key=key, defaults={"value": value})[0]


def read_scratch(scene: Scene) -> dict[str, Any]:
    return dict(scene.scratch.values_list("key", "value"))


@transaction.atomic
def end_scene(scene: Scene) -> Scene:
    """End the scene and delete its scratch notes."""
    scene.scratch.all().delete()
    # Ending again keeps the first time.
    scene.ended_at = scene.ended_at or timezone.now()
    scene.save(update_fields=["ended_at", "updated_at"])
    return scene
