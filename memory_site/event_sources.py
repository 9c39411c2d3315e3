"""Which tables the event log tells of, and what players may learn of a change."""

from typing import Any

from django.db import connections

from worlds.event_log.install import EventSource, install_event_log

PARTY_OF = "(SELECT slug FROM worlds_party WHERE worlds_party.id = r.party_id)"
NAMES_CHARACTER = (
    "EXISTS (SELECT FROM jsonb_array_elements_text(r.known_to) AS name "
    "WHERE starts_with(name, 'character:'))"
)
KNOWN_TO_PARTY = (
    f"CASE WHEN r.party_id IS NULL OR {NAMES_CHARACTER} THEN r.known_to ELSE r.known_to || "
    f"jsonb_build_array('party:' || {PARTY_OF}) END"
)
CAMPAIGN_OF_PARTY = "(SELECT campaign_id FROM worlds_party WHERE worlds_party.id = r.party_id)"
CAMPAIGN_OF_SCENE = "(SELECT campaign_id FROM episodes_scene WHERE episodes_scene.id = r.scene_id)"
WORLD_OF_NPC = "(SELECT world_id FROM npcs_npc WHERE npcs_npc.id = r.npc_id)"
SLUG_OF_NPC = "(SELECT slug FROM npcs_npc WHERE npcs_npc.id = r.npc_id)"
PARTY_OF_CHARACTER = (
    "(SELECT 'party:' || p.slug FROM worlds_character AS c JOIN worlds_party AS p "
    "ON p.id = c.party_id WHERE c.world_id = r.world_id AND 'character:' || c.slug = r.audience)"
)
KNOWN_SUBJECT = (
    "(s.visibility = 'public' OR s.visibility = 'revealed' "
    "AND (s.known_to @> jsonb_build_array(r.audience) "
    f"OR s.known_to @> jsonb_build_array({PARTY_OF_CHARACTER})))"
)
KNOWABLE_SUBJECT = " ".join(
    (
        "CASE r.subject_kind",
        "WHEN 'lore' THEN EXISTS (SELECT FROM knowledge_lore AS s WHERE s.id = r.subject_id",
        "  AND s.status = 'published' AND s.deleted_at IS NULL)",
        "WHEN 'lorepassage' THEN EXISTS (SELECT FROM knowledge_lorepassage AS p",
        "  JOIN knowledge_lore AS s ON s.id = p.lore_id",
        "  WHERE p.id = r.subject_id AND s.status = 'published' AND s.deleted_at IS NULL",
        f"  AND {KNOWN_SUBJECT})",
        "WHEN 'npc' THEN EXISTS (SELECT FROM npcs_npc AS s WHERE s.id = r.subject_id",
        "  AND s.deleted_at IS NULL)",
        "WHEN 'secret' THEN EXISTS (SELECT FROM npcs_secret AS p",
        "  JOIN npcs_npc AS s ON s.id = p.npc_id WHERE p.id = r.subject_id",
        f"  AND s.deleted_at IS NULL AND {KNOWN_SUBJECT})",
        "WHEN 'episode' THEN EXISTS (SELECT FROM episodes_episode AS s WHERE s.id = r.subject_id",
        "  AND s.retracted_at IS NULL)",
        "ELSE r.subject_kind IN ('rule', 'session', 'scene') END",
    )
)
"""Whether the audience of a reveal finds what was revealed. Of a draft, of a secret of a hidden NPC
and of what lies in the trash or was retracted it must not learn that there is anything to
reveal."""
CAMPAIGN_OF_OVERLAY = " ".join(
    (
        "CASE r.subject_kind",
        "WHEN 'lore' THEN (SELECT campaign_id FROM knowledge_lore AS s WHERE s.id = r.subject_id)",
        "WHEN 'lorepassage' THEN (SELECT s.campaign_id FROM knowledge_lorepassage AS p",
        "  JOIN knowledge_lore AS s ON s.id = p.lore_id WHERE p.id = r.subject_id)",
        "WHEN 'rule' THEN (SELECT campaign_id FROM knowledge_rule AS s WHERE s.id = r.subject_id)",
        "END",
    )
)
"""The campaign in which alone the entry or rule that was revealed is known; null for canon."""

EVENT_SOURCES = (
    EventSource("campaign", "worlds.Campaign", "r.slug", campaign="r.id"),
    EventSource("party", "worlds.Party", "r.slug", campaign="r.campaign_id"),
    EventSource("character", "worlds.Character", "r.slug", campaign=CAMPAIGN_OF_PARTY),
    EventSource(
        "reveal",
        "worlds.Reveal",
        "r.subject_kind",
        campaign=CAMPAIGN_OF_OVERLAY,
        visibility=f"CASE WHEN {KNOWABLE_SUBJECT} THEN 'revealed' ELSE 'gm' END",
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
    EventSource(
        "disposition",
        "npcs.DispositionChange",
        SLUG_OF_NPC,
        world=WORLD_OF_NPC,
        campaign=CAMPAIGN_OF_PARTY,
    ),
    EventSource(
        "art", "art.ArtCard", "r.external_id", version="r.version", campaign=CAMPAIGN_OF_SCENE
    ),
)
"""Cards, facts and changes of mind are told to game masters: what of them players may see depends
on other rows, whose changes are no changes of theirs."""


def install_after_migrate(using: str = "default", **_signal: Any) -> None:
    install_event_log(connections[using], EVENT_SOURCES)
