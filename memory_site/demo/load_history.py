"""Load what has happened in the demo world: NPCs, sessions, scenes, episodes, art. Loading again changes nothing."""

from collections.abc import Iterator
from typing import Any

from art.schemas import ArtCardIn
from art.upsert import ingest_art
from episodes.ingest import ingest_episode
from episodes.scenes import upsert_scene, upsert_session
from episodes.schemas import EpisodeIn, SceneIn, SessionIn
from memory_site.demo.world_files import NPC, ArtCard, DemoWorld, Scene, Session
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from worlds.models import World

POINTS = 9
"""The demo's files count a change of heart in steps from -5 to 5; the ledger counts points from -100 to 100."""


def load_living(demo: DemoWorld, world: World) -> dict[str, int]:
    """Load into `world`, whose campaign, parties and lore are there. Returns how many of each were loaded."""
    for npc in demo.npcs.values():
        upsert_npc(world, npc_entry(npc))
    for session in demo.sessions:
        upsert_session(world, session_entry(session, demo.setting.campaign.slug))
        for number, scene in enumerate(session.scenes, 1):
            upsert_scene(world, scene_entry(scene, session, number))
            ingest_episode(world, episode_entry(scene, session), came_from="demo")
    for card in demo.art:
        ingest_art(world, art_entry(card))
    return {
        "npcs": len(demo.npcs),
        "sessions": len(demo.sessions),
        "episodes": len(demo.scenes),
        "art": len(demo.art),
    }


def npc_entry(npc: NPC) -> NPCIn:
    return NPCIn.model_validate(
        {
            "npc_id": npc.slug,
            "name": npc.name,
            "aliases": npc.aliases,
            "role": npc.role,
            "faction": npc.faction,
            "faction_visibility": getattr(npc, "faction_visibility", "public"),
            "home": npc.home,
            "biography": npc.lore,
            "voice": npc.voice,
            "goals": npc.goals,
            "secrets": [secret.model_dump() for secret in npc.secrets],
            "play_now": npc.play_them_now,
            "milestones": [
                fact.model_dump(include={"at", "label", "text"}) for fact in npc.in_world
            ],
            "visibility": npc.visibility,
            "known_to": npc.known_to if npc.visibility == "revealed" else [],
        }
    )


def session_entry(session: Session, campaign: str) -> SessionIn:
    told = session.model_dump(
        include={"number", "title", "played_at", "in_world_at", "in_world_label"}
    )
    return SessionIn.model_validate(
        {"session_id": session.slug, "campaign_id": campaign, "visibility": "public", **told}
    )


def scene_entry(scene: Scene, session: Session, number: int) -> SceneIn:
    told = scene.model_dump(include={"title", "place", "in_world_at", "in_world_label"})
    names = {"scene_id": scene.slug, "party_id": scene.party, "session_id": session.slug}
    return SceneIn.model_validate({**names, "position": number, **told})


def episode_entry(scene: Scene, session: Session) -> EpisodeIn:
    told = scene.episode.model_dump(exclude={"relations_delta"})
    deltas = [
        {**each.model_dump(), "delta": each.delta * POINTS}
        for each in scene.episode.relations_delta
    ]
    reveals = [dict(_named(each.model_dump())) for each in scene.reveals]
    return EpisodeIn.model_validate(
        {**told, "relations_delta": deltas, "reveals": reveals, "session_id": session.slug}
    )


def art_entry(card: ArtCard) -> ArtCardIn:
    return ArtCardIn.model_validate(card.model_dump(mode="json"))


def _named(reveal: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Leave out what is empty."""
    return ((name, value) for name, value in reveal.items() if value not in ("", None))
