"""Which tables the event log tells of, and what players may learn of a change."""

from typing import Any

from django.db import connections

from worlds.event_log.install import EventSource, install_event_log

PARTY_OF = "(SELECT slug FROM worlds_party WHERE worlds_party.id = r.party_id)"
KNOWN_TO_PARTY = (
    f"CASE WHEN r.party_id IS NULL THEN r.known_to ELSE r.known_to || "
    f"jsonb_build_array('party:' || {PARTY_OF}) END"
)
WORLD_OF_NPC = "(SELECT world_id FROM npcs_npc WHERE npcs_npc.id = r.npc_id)"
SLUG_OF_NPC = "(SELECT slug FROM npcs_npc WHERE npcs_npc.id = r.npc_id)"

EVENT_SOURCES = (
    EventSource("campaign", "worlds.Campaign", "r.slug", campaign="r.id"),
    EventSource("party", "worlds.Party", "r.slug", campaign="r.campaign_id"),
    EventSource(
        "reveal",
        "worlds.Reveal",
        "r.subject_kind",
        visibility="'revealed'",
        known_to="jsonb_build_array(r.audience)",
        exists="r.undone_at IS NULL",
    ),
    EventSource(
        "lore",
        "knowledge.Lore",
        "r.slug",
        campaign="r.campaign_id",
        version="r.version",
        visibility="CASE WHEN r.status = 'published' THEN r.visibility ELSE 'gm' END",
        known_to="r.known_to",
        exists="r.deleted_at IS NULL",
        player_text="ROW(r.title, r.aliases, r.in_world_label)",
        prose="r.body",
    ),
    EventSource(
        "rule",
        "knowledge.Rule",
        "r.key",
        campaign="r.campaign_id",
        version="r.version",
        visibility="r.visibility",
        known_to="r.known_to",
        exists="r.world_id IS NOT NULL",
        player_text="ROW(r.title, r.aliases)",
        prose="r.body",
    ),
    EventSource("fact", "knowledge.GraphEdge", "r.relation_id", exists="r.believed_until IS NULL"),
    EventSource("proposal", "knowledge.LoreProposal", "r.state", campaign="r.campaign_id"),
    EventSource(
        "session",
        "episodes.Session",
        "r.external_id",
        campaign="r.campaign_id",
        visibility="r.visibility",
        known_to=KNOWN_TO_PARTY,
        player_text="ROW(r.title, r.number, r.played_at)",
    ),
    EventSource(
        "scene",
        "episodes.Scene",
        "r.external_id",
        campaign="r.campaign_id",
        visibility="r.visibility",
        known_to=KNOWN_TO_PARTY,
        player_text="ROW(r.title, r.place, r.ended_at)",
    ),
    EventSource(
        "episode",
        "episodes.Episode",
        "r.external_id",
        campaign="r.campaign_id",
        version="r.version",
        visibility="r.visibility",
        known_to=KNOWN_TO_PARTY,
        exists="r.retracted_at IS NULL",
        player_text="ROW(r.text, r.place, r.in_world_label)",
    ),
    EventSource(
        "npc",
        "npcs.NPC",
        "r.slug",
        version="r.version",
        visibility="r.visibility",
        known_to="r.known_to",
        exists="r.deleted_at IS NULL",
        player_text="ROW(r.name, r.aliases, r.role)",
        prose="r.summary",
    ),
    EventSource("disposition", "npcs.DispositionChange", SLUG_OF_NPC, world=WORLD_OF_NPC),
    EventSource("art", "art.ArtCard", "r.external_id", version="r.version"),
)
"""Cards, facts and changes of mind are told to game masters: what of them players may see depends
on other rows, whose changes are no changes of theirs."""


def install_after_migrate(using: str = "default", **_signal: Any) -> None:
    install_event_log(connections[using], EVENT_SOURCES)
