"""Sessions and scenes, and what is in mind while a scene lasts."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from episodes.lookup import find_session, lore_by_name
from episodes.models import Arc, Scene, Scratch, Session
from episodes.schemas import EpisodeIn, SceneIn, SessionIn
from retrieval.errors import Conflict, Invalid
from worlds.lookup import find_campaign, find_party
from worlds.models import Campaign, Party, World

LARGEST_SCRATCH = 100_000


class SceneEnded(Conflict):
    code, title = "scene_ended", "The scene has ended"


@transaction.atomic
def upsert_session(world: World, entry: SessionIn) -> Session:
    party = find_party(world, entry.party_id) if entry.party_id else None
    campaign = _campaign(world, entry.campaign_id, party)
    values = {
        "campaign": campaign,
        "party": party,
        "arc": _arc(campaign, entry),
        "number": entry.number,
        "title": entry.title,
        "played_at": entry.played_at,
        "in_world_at": entry.in_world_at,
        "in_world_label": entry.in_world_label,
        "visibility": entry.visibility,
    }
    session, _made = Session.objects.update_or_create(
        world=world, external_id=entry.session_id, defaults=values
    )
    return session


@transaction.atomic
def upsert_scene(world: World, entry: SceneIn) -> Scene:
    party = find_party(world, entry.party_id) if entry.party_id else None
    values = {
        "campaign": _campaign(world, entry.campaign_id, party),
        "party": party,
        "title": entry.title,
        "session": find_session(world, entry.session_id) if entry.session_id else None,
        "place": entry.place,
        "place_lore": lore_by_name(world, [entry.place]).get(entry.place),
        "position": entry.position,
        "in_world_at": entry.in_world_at,
        "in_world_label": entry.in_world_label,
        "visibility": entry.visibility,
    }
    scene, _made = Scene.objects.update_or_create(
        world=world, external_id=entry.scene_id, defaults=values
    )
    return scene


def scene_and_session(party: Party, summary: EpisodeIn) -> tuple[Scene | None, Session | None]:
    """Return both; what the engine has not told of before is made from what the summary says."""
    session = _session_for(party, summary)
    scene = _scene_for(party, summary, session) if summary.scene_id else None
    return scene, session or (scene.session if scene else None)


def _scene_for(party: Party, summary: EpisodeIn, session: Session | None) -> Scene:
    made = {
        "campaign": party.campaign,
        "party": party,
        "session": session,
        "place": summary.where,
        "place_lore": lore_by_name(party.world, [summary.where]).get(summary.where),
        "visibility": summary.visibility,
        "in_world_at": summary.when.in_world_at,
        "in_world_label": summary.when.in_world_label,
    }
    scene, _made = Scene.objects.get_or_create(
        world=party.world, external_id=summary.scene_id, defaults=made
    )
    if scene.party_id not in (None, party.pk):
        raise Invalid(f"The scene {summary.scene_id} belongs to another party.")
    if session and scene.session_id is None:
        scene.session = session
        scene.save(update_fields=["session", "updated_at"])
    return scene


def _session_for(party: Party, summary: EpisodeIn) -> Session | None:
    if summary.session_id is None:
        return None
    made = {
        "campaign": party.campaign,
        "party": party,
        "played_at": summary.when.real,
        "visibility": "revealed",
    }
    session, _made = Session.objects.get_or_create(
        world=party.world, external_id=summary.session_id, defaults=made
    )
    return session


def _campaign(world: World, reference: str | None, party: Party | None) -> Campaign:
    if reference:
        campaign = find_campaign(world, reference)
        if party and party.campaign_id != campaign.pk:
            raise Invalid(f"The party {party.slug} does not play in the campaign {campaign.slug}.")
        return campaign
    if party is None:
        raise Invalid("Name a party or a campaign.")
    return party.campaign


def _arc(campaign: Campaign, entry: SessionIn) -> Arc | None:
    if entry.arc_id is None:
        return None
    made = {"title": entry.arc_title or entry.arc_id}
    return Arc.objects.get_or_create(campaign=campaign, external_id=entry.arc_id, defaults=made)[0]


# --- working memory


def write_scratch(scene: Scene, key: str, value: Any) -> Scratch:
    """Keep `value` until the scene ends."""
    if scene.ended_at:
        raise SceneEnded(f"{scene.external_id} has ended: its scratch is gone.")
    if len(repr(value)) > LARGEST_SCRATCH:
        raise Invalid(f"A scratch value may hold at most {LARGEST_SCRATCH} characters.")
    return Scratch.objects.update_or_create(scene=scene, key=key, defaults={"value": value})[0]


def read_scratch(scene: Scene) -> dict[str, Any]:
    return dict(scene.scratch.values_list("key", "value"))


@transaction.atomic
def end_scene(scene: Scene) -> Scene:
    """End the scene: its working memory goes."""
    scene.scratch.all().delete()
    scene.ended_at = scene.ended_at or timezone.now()
    scene.save(update_fields=["ended_at", "updated_at"])
    return scene
