"""The evening at the table: people who have opinions, scenes, what came of them, the graph."""

from tests.memory_site.api.day.run import Call, Meanwhile, call
from tests.memory_site.api.day.world_calls import CRANE, REED

Step = Call | Meanwhile
LANDING = {
    "summary_id": "ep-landing",
    "party_id": "gulls",
    "scene_id": "pier-at-dusk",
    "session_id": "session-1",
    "what": "The Gulls pulled Ada Crane out of the water.",
    "where": "The Pier",
    "who": {"players": ["Ana", "Bo"], "npcs": ["ada-crane"]},
    "flags": ["rescue"],
    "loose_ends": ["Who cut the mooring rope?"],
    "relations_delta": [
        {"npc": "ada-crane", "delta": 12, "axis": "affection", "reason": "They saved her life."}
    ],
    "when": {"in_world_at": 412, "in_world_label": "12 Rainmonth", "real": "2026-11-22T19:40:00Z"},
}

NPCS: list[Step] = [
    call("npc_upsert", REED),
    call("npc_upsert", CRANE),
    call("npc_upsert_bulk", {"npcs": [{"npc_id": "old-tam", "name": "Old Tam"}]}),
    call("npc_list", query={"faction": "Pilots' Guild"}),
    call("npc_get", ref="ada-crane"),
    call("npc_upsert", {**CRANE, "role": "Harbour master"}),
    call("npc_version_list", ref="ada-crane", save="versions"),
    call("npc_version_restore", ref="ada-crane", version_id="$versions.versions.1.version_id"),
    call("npc_delete", ref="old-tam"),
    call("npc_restore", ref="old-tam"),
    call(
        "npc_merge",
        {"other": "old-tam", "reason": "Old Tam is Bo Reed."},
        ref="bo-reed",
        save="merge",
    ),
    call("npc_merge_list"),
    call("npc_merge_undo", merge_id="$merge.id"),
    call(
        "reveal_create",
        {"kind": "lore", "id": "the-pier", "audience": "npc:bo-reed", "note": "He works there."},
        save="reveal",
    ),
    call("disposition_rules_get"),
    call("disposition_rules_put", {"kin": 50, "ally": 25, "enemy": 25, "member": 50}),
    call(
        "opinion_correct",
        {"other": "bo-reed", "delta": 15, "reason": "He taught her the currents."},
        ref="ada-crane",
        save="opinion",
    ),
    call("opinion_list", ref="ada-crane"),
    call(
        "opinion_rule",
        {"verdict": "reverse", "reason": "That was somebody else."},
        entry_id="$opinion.changes.0.change",
    ),
    call("reveal_list", query={"audience": "npc:bo-reed"}),
    call("reveal_get", entry_id="$reveal.id"),
    call("reveal_undo", entry_id="$reveal.id"),
]

SCENES: list[Step] = [
    call(
        "session_upsert",
        {
            "session_id": "session-1",
            "party_id": "gulls",
            "number": 1,
            "title": "Landing",
            "arc_id": "arc-1",
            "arc_title": "The missing charts",
        },
    ),
    call("session_list", query={"party_id": "gulls"}),
    call("session_get", ref="session-1"),
    call("session_upsert", {"session_id": "session-2", "party_id": "gulls"}),
    call("session_delete", ref="session-2"),
    call(
        "scene_upsert",
        {
            "scene_id": "pier-at-dusk",
            "party_id": "gulls",
            "session_id": "session-1",
            "title": "The pier at dusk",
            "place": "The Pier",
            "in_world_at": 412,
        },
    ),
    call("scene_list", query={"open": "true"}),
    call("scene_get", ref="pier-at-dusk"),
    call("scene_upsert", {"scene_id": "cut-scene", "party_id": "gulls"}),
    call("scene_delete", ref="cut-scene"),
    call("scratch_put", {"value": {"round": 2, "lamp": "out"}}, ref="pier-at-dusk", key="combat"),
    call("scratch_get", ref="pier-at-dusk"),
    call("scene_cast_add", ref="pier-at-dusk", npc="ada-crane"),
    call("scene_cast", ref="pier-at-dusk"),
    call("scene_cast_remove", ref="pier-at-dusk", npc="ada-crane"),
    call("npc_profile", {"npc_id": "ada-crane", "about": "tide", "party_id": "gulls"}),
    call(
        "thread_append",
        {
            "party_id": "gulls",
            "scene_id": "pier-at-dusk",
            "title": "On the pier",
            "steps": [
                {"speaker": "Ana", "text": "I throw her the rope.", "step_id": "1"},
                {"speaker": "Ada Crane", "text": "Hold on to me."},
            ],
        },
        thread_id="pier-talk",
    ),
    call("note_create", {"text": "Ada lost a boot.", "session_id": "session-1"}, save="note"),
    call("note_list", query={"party_id": "gulls", "used": "false"}),
    call("note_get", note_id="$note.id"),
    call("note_delete", note_id="$note.id"),
    call("thread_list", query={"party_id": "gulls"}),
    call("thread_get", thread_id="pier-talk", query={"last": "10"}),
    call("thread_propose", {}, thread_id="pier-talk"),
    call(
        "thread_consolidate",
        {
            "summary_id": "ep-talk",
            "party_id": "gulls",
            "scene_id": "pier-at-dusk",
            "what": "Ana threw Ada a rope.",
        },
        thread_id="pier-talk",
    ),
    call(
        "episode_propose",
        {
            "party_id": "gulls",
            "text": "At The Pier Ada Crane thanked us. We promised Bo Reed a new rope.",
        },
    ),
    call("episode_ingest", LANDING),
    call("loose_end_list", query={"party_id": "gulls", "open": "true"}, save="loose"),
    call("loose_end_close", loose_end_id="$loose.loose_ends.0.id"),
    call("loose_end_reopen", loose_end_id="$loose.loose_ends.0.id"),
    call(
        "episode_ingest_bulk",
        {
            "episodes": [
                {
                    "summary_id": "ep-market",
                    "party_id": "gulls",
                    "what": "The Gulls argued at the Eel Market.",
                    "relations_delta": [
                        {"npc": "bo-reed", "delta": -60},
                        {
                            "npc": "bo-reed",
                            "toward": "ada-crane",
                            "delta": -45,
                            "reason": "She took their side.",
                        },
                    ],
                }
            ]
        },
    ),
    call("episode_list", query={"party_id": "gulls"}),
    call("episode_get", ref="ep-landing"),
    call("episode_retract", {"reason": "It was a dream."}, ref="ep-talk"),
    call("episode_restore", ref="ep-talk"),
    call("episode_erase", ref="ep-talk"),
    call("session_fetch", {"party_id": "gulls", "k": 3}),
    call("recap_build", level="session", ref="session-1"),
    call("recap_get", level="session", ref="session-1", query={"as": "party:gulls"}),
    call("disposition_list", ref="ada-crane", query={"party_id": "gulls"}),
    call("opinion_pending"),
    call("disposition_pending", save="pending"),
    call(
        "disposition_rule",
        {"verdict": "approve", "reason": "He shouted for an hour."},
        entry_id="$pending.changes.0.change",
    ),
    call(
        "disposition_correct",
        {"party_id": "gulls", "delta": 3, "axis": "trust", "reason": "They paid at once."},
        ref="ada-crane",
    ),
]

CARDS: list[Step] = [
    call(
        "art_upsert",
        {
            "image_id": "pier-1",
            "scene_id": "pier-at-dusk",
            "picture_id": "$picture.id",
            "prompt_text": "A pier at dusk, one lamp.",
            "entities": ["Ada Crane", "The Pier"],
            "visual_tags": ["dusk"],
            "style": "ink",
            "seed": 37,
        },
    ),
    call(
        "art_upsert_bulk",
        {
            "cards": [
                {
                    "image_id": "eel-1",
                    "prompt_text": "Baskets of eels.",
                    "cdn_url": "https://cdn.example.org/eels.png",
                }
            ]
        },
    ),
    call("art_list", query={"scene_id": "pier-at-dusk"}),
    call("art_get", ref="pier-1"),
    call("art_moderate", {"moderation": "approved", "note": "Fits."}, ref="pier-1"),
    call("art_suggest", {"scene_id": "pier-at-dusk"}),
    call("art_delete", ref="eel-1"),
    call("scene_end", ref="pier-at-dusk"),
]

GRAPH: list[Step] = [
    call(
        "graph_upsert_facts",
        {
            "facts": [
                {"node": {"kind": "Location", "name": "The Mill"}},
                {"node": {"kind": "Location", "name": "The Pier", "lore_id": "$pier.id"}},
                {"node": {"kind": "Character", "name": "Ada Crane"}},
                {"node": {"kind": "Character", "name": "Bo Reed"}},
                {"node": {"kind": "Faction", "name": "Pilots' Guild"}},
                {"edge": {"src": "Ada Crane", "relation": "KNOWS", "dst": "Bo Reed"}},
                {
                    "edge": {
                        "src": "Bo Reed",
                        "relation": "LOCATED_IN",
                        "dst": "The Pier",
                        "since": 410,
                        "source_kind": "editor",
                    }
                },
                {
                    "edge": {
                        "src": "Bo Reed",
                        "relation": "LOCATED_IN",
                        "dst": "The Mill",
                        "since": 411,
                    }
                },
            ]
        },
        save="written",
    ),
    call("graph_facts", query={"entity": "Bo Reed"}),
    call("graph_fact", fact_id="$written.edges.0.id"),
    call("graph_neighbors", query={"entity": "Bo Reed", "depth": "1"}),
    call("graph_path", query={"src": "Ada Crane", "dst": "The Pier"}),
    call("lore_assert", {"fact": "Bo Reed is in The Pier."}),
    call("graph_contradictions", save="clashes"),
    call("graph_contradiction", contradiction_id="$clashes.contradictions.0.id"),
    call(
        "graph_resolve",
        {"how": "keep_second", "reason": "He moved.", "at": 411},
        contradiction_id="$clashes.contradictions.0.id",
    ),
    call("graph_reopen", contradiction_id="$clashes.contradictions.0.id"),
    call("graph_fact_checked", fact_id="$written.edges.0.id"),
    call("graph_retract", {"reason": "A rumour."}, fact_id="$written.edges.0.id"),
    call(
        "standing_correct",
        {
            "faction": "$written.nodes.4.id",
            "party_id": "gulls",
            "delta": 10,
            "reason": "They paid the guild's dues.",
        },
    ),
    call("standing_list", query={"party_id": "gulls"}),
]

# Nobody answers at this address: what is sent is tried once, and can be sent again.
WEBHOOKS: list[Step] = [
    call(
        "webhook_create",
        {"name": "engine", "url": "https://engine.invalid/hooks", "audience": "gm"},
        save="webhook",
    ),
    call("webhook_list"),
    call("webhook_get", webhook_id="$webhook.id"),
    call("webhook_change", {"kinds": ["npc", "disposition"]}, webhook_id="$webhook.id"),
    call("webhook_rotate_secret", {"hours": 1}, webhook_id="$webhook.id"),
    call("webhook_test", webhook_id="$webhook.id", save="tried"),
    call("webhook_deliveries", webhook_id="$webhook.id"),
    call("webhook_redeliver", webhook_id="$webhook.id", delivery_id="$tried.id"),
    call("webhook_delete", webhook_id="$webhook.id"),
]

LAST: list[Step] = [
    call("event_list", query={"kind": "npc", "limit": "2"}),
    call("openai_tools", query={"profile": "combat"}),
    call("tools_call", {"name": "rules_lookup", "arguments": {"term": "wet rope"}}),
]

EVENING = [*NPCS, *SCENES, *CARDS, *GRAPH, *WEBHOOKS, *LAST]
