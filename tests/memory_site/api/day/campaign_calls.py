"""What belongs to the campaign alone: its overlay of the lore and the rules, its keys and webhooks,
what was read in its texts and revealed in it."""

from typing import Any

from knowledge.proposals import propose
from knowledge.schemas import ProposalIn
from tests.memory_site.api.day.run import Call, Meanwhile, call
from worlds.models import Campaign

Step = Call | Meanwhile
HUT = {
    "slug": "ferry-hut",
    "title": "The Ferry Hut",
    "kind": "place",
    "status": "published",
    "visibility": "public",
    "campaign": "first-tide",
    "body": "Rotten boards under the ferry hut.",
}
OARS = {
    "rule_id": "tide/oars",
    "title": "Broken oars",
    "body": "Whoever rows with a broken oar rows in circles.",
    "campaign": "first-tide",
}


def somebody_proposes(saved: dict[str, Any]) -> None:
    campaign = Campaign.objects.get(world__slug="salt-coast", slug="first-tide")
    entry = ProposalIn.model_validate({"entry": {"title": "The Brine Bell", "body": "It sank."}})
    row = propose(campaign.world, entry, campaign=campaign, by="scribe")
    saved["brine"] = {"id": str(row.pk)}


OVERLAYS: list[Step] = [
    call("lore_upsert", HUT),
    call("lore_upsert_bulk", {"entries": [{**HUT, "body": "Rotten boards and a bell rope."}]}),
    call("lore_list", query={"campaign": "first-tide"}, save="overlay"),
    call("lore_get", ref="$overlay.lore.0.id", save="hut"),
    call("lore_search", {"query": "rotten boards", "k": 5}),
    call("lore_version_list", ref="$hut.id", save="hut_versions"),
    call(
        "lore_version_restore",
        ref="$hut.id",
        version_id="$hut_versions.versions.1.version_id",
    ),
    call("comment_create", {"text": "Which board creaks?"}, ref="$hut.id", save="remark"),
    call("comment_list", ref="$hut.id"),
    call("comment_get", ref="$hut.id", comment_id="$remark.id"),
    call("comment_change", {"resolved": True}, ref="$hut.id", comment_id="$remark.id"),
    call(
        "reveal_create", {"kind": "lore", "id": "$hut.id", "audience": "npc:bo-reed"}, save="told"
    ),
    call("reveal_list"),
    call("reveal_get", entry_id="$told.id"),
    call("npc_get", ref="bo-reed"),
    call("reveal_undo", entry_id="$told.id"),
    call(
        "reveal_create",
        {"kind": "lore", "id": "the-pier", "audience": "party:gulls", "note": "They dived."},
        save="told",
    ),
    call("reveal_list", query={"audience": "party:gulls"}),
    call("lore_list"),
    call("lore_get", ref="the-pier"),
    call("lore_version_list", ref="the-pier"),
    call("lore_search", {"query": "pier", "k": 5}),
    call("reveal_create", {"kind": "npc", "id": "bo-reed", "audience": "party:gulls"}),
    call("npc_list"),
    call("npc_get", ref="bo-reed"),
    call("npc_profile", {"npc_id": "bo-reed"}),
    call("reveal_get", entry_id="$told.id"),
    call("reveal_undo", entry_id="$told.id"),
    call("picture_place", {"place": "lore:$hut.id"}, picture_id="$picture.id", save="use"),
    call("picture_use_list", picture_id="$picture.id"),
    call("picture_use_get", picture_id="$picture.id", use_id="$use.id"),
    call("picture_use_change", {"portrait": True}, picture_id="$picture.id", use_id="$use.id"),
    call("gallery_get", place="lore:$hut.id"),
    call("gallery_arrange", {"uses": ["$use.id"]}, place="lore:$hut.id"),
    call("picture_use_remove", picture_id="$picture.id", use_id="$use.id"),
    call("draft_create", {"user": "anna", "entry": "$hut.id", "fields": {"body": "Dry boards."}}),
    call("recent_change_list", query={"limit": "50"}),
    call("lore_delete", ref="$hut.id"),
    call("lore_list", query={"state": "trash"}),
    call("lore_restore", ref="$hut.id"),
    call("bulk_delete", {"kind": "lore", "ids": ["$hut.id"]}),
    call("bulk_restore", {"kind": "lore", "ids": ["$hut.id"]}),
    call("rule_upsert", OARS),
    call("rule_upsert_bulk", {"entries": [{**OARS, "body": "A broken oar turns the boat."}]}),
    call("rule_list"),
    call("rule_get", ref="tide/oars"),
    call("rules_lookup", {"term": "broken oars"}),
    call("bulk_delete", {"kind": "rule", "ids": ["tide/oars"]}),
    call("rule_upsert", OARS),
    call("rule_delete", ref="tide/oars"),
    Meanwhile(somebody_proposes),
    call("proposal_list"),
    call("proposal_get", proposal_id="$brine.id"),
    call("proposal_reject", {"note": "It floats."}, proposal_id="$brine.id"),
    call("proposal_reopen", proposal_id="$brine.id"),
    call("proposal_accept", {}, proposal_id="$brine.id"),
    call("key_create", {"name": "tide engine", "campaign_id": "first-tide"}, save="tide_key"),
    call("key_list"),
    call("key_get", key_id="$tide_key.id"),
    call("key_revoke", key_id="$tide_key.id"),
    call(
        "webhook_create",
        {
            "name": "tide hook",
            "url": "https://engine.invalid/hooks",
            "audience": "gm",
            "campaign_id": "first-tide",
        },
        save="webhook",
    ),
    call("webhook_list"),
    call("webhook_get", webhook_id="$webhook.id"),
    call("webhook_change", {"name": "tide hooks"}, webhook_id="$webhook.id"),
    call("webhook_rotate_secret", {"hours": 1}, webhook_id="$webhook.id"),
    call("webhook_deliveries", webhook_id="$webhook.id"),
    call("webhook_delete", webhook_id="$webhook.id"),
]

PLAYED: list[Step] = [
    call("session_upsert", {"session_id": "session-3", "party_id": "gulls", "arc_id": "arc-1"}),
    call(
        "scene_upsert",
        {
            "scene_id": "hut-at-noon",
            "party_id": "gulls",
            "session_id": "session-3",
            "title": "The hut at noon",
        },
    ),
    call("scratch_put", {"value": {"bell": "rung"}}, ref="hut-at-noon", key="bell"),
    call(
        "thread_append",
        {"party_id": "gulls", "steps": [{"text": "Ada Crane lives in the Ferry Hut now."}]},
        thread_id="hut-talk",
    ),
    call("thread_append", {"steps": [{"text": "They rang the bell twice."}]}, thread_id="hut-talk"),
    call("thread_list"),
    call("thread_get", thread_id="hut-talk"),
    call(
        "episode_ingest",
        {
            "summary_id": "ep-hut",
            "party_id": "gulls",
            "scene_id": "hut-at-noon",
            "session_id": "session-3",
            "what": "Ada Crane owns the Eel Market, the Gulls were told in the ferry hut.",
            "who": {"npcs": ["ada-crane", "bo-reed"]},
            "relations_delta": [
                {"npc": "bo-reed", "delta": 4, "reason": "They rang his bell."},
                {
                    "npc": "bo-reed",
                    "toward": "ada-crane",
                    "delta": -5,
                    "reason": "She hid the bell.",
                },
            ],
        },
    ),
    call("episode_list"),
    call("session_list"),
    call("scene_list"),
    call("loose_end_list"),
    call("disposition_list", ref="bo-reed"),
    call("disposition_pending"),
    call("opinion_list", ref="bo-reed"),
    call("opinion_pending"),
    call("standing_list"),
    call("npc_get", ref="bo-reed"),
    call("npc_profile", {"npc_id": "bo-reed"}),
    call("npc_memories", ref="bo-reed"),
    call("npc_memories", ref="bo-reed", query={"query": "bell"}),
    call("session_fetch", {"party_id": "gulls", "scene_id": "hut-at-noon"}),
    call("session_fetch", {"party_id": "gulls", "query": "Who owns the market?"}),
    call("memory_ask", {"as": "npc:bo-reed", "query": "Who rang the bell?"}),
    call("fact_proposal_read", {"source_kind": "episode", "source_ref": "ep-hut"}),
    call("fact_proposal_read", {"source_kind": "thread", "source_ref": "hut-talk"}),
    call("fact_proposal_list", save="read"),
    call("fact_proposal_list", query={"source_ref": "ep-hut"}, save="read"),
    call(
        "fact_proposal_decide",
        {"decision": "drop", "ids": ["$read.fact_proposals.0.id"]},
    ),
    call(
        "fact_proposal_decide",
        {"decision": "reopen", "ids": ["$read.fact_proposals.0.id"]},
    ),
    call("fact_proposal_accept", {}, proposal_id="$read.fact_proposals.0.id"),
    call("thread_propose", {}, thread_id="hut-talk"),
    *(
        call(operation, level=level, ref=ref)
        for level, ref in (
            ("scene", "hut-at-noon"),
            ("session", "session-3"),
            ("arc", "arc-1"),
            ("campaign", "first-tide"),
        )
        for operation in ("recap_build", "recap_get")
    ),
    call("note_create", {"text": "The rope is cut.", "session_id": "session-3"}, save="note"),
    call("note_list"),
    call("note_list", query={"session_id": "session-3"}),
    call("note_get", note_id="$note.id"),
    call(
        "art_upsert",
        {
            "image_id": "hut-1",
            "scene_id": "hut-at-noon",
            "prompt_text": "A hut of grey boards.",
            "cdn_url": "https://cdn.example.org/hut.png",
        },
    ),
    call("art_list"),
    call("art_list", query={"scene_id": "hut-at-noon"}),
    call("art_get", ref="hut-1"),
    call("art_moderate", {"moderation": "approved"}, ref="hut-1"),
    call("art_suggest", {"scene_id": "hut-at-noon"}),
    call("character_list"),
    call("character_get", ref="ana"),
    call("character_change", {"name": "Anna"}, ref="ana"),
    call("member_list"),
    call("event_list", query={"limit": "100"}),
    call("me"),
    call("system_list"),
    call("system_create", {"name": "Silt"}),
    call("world_list"),
    call("world_get", ref="salt-coast"),
    call("world_change", {"description": "A coast."}, ref="salt-coast"),
    call("world_create", {"name": "Lost Isle"}),
    call("world_delete", ref="lost-isle", query={"confirm": "lost-isle"}),
    call("own_world_get"),
    call("own_world_change", {"name": "Salt Coast"}),
    call("thread_consolidate", {"summary_id": "ep-hut-talk"}, thread_id="hut-talk"),
    call("bulk_delete", {"kind": "art", "ids": ["hut-1"]}),
    call("bulk_delete", {"kind": "session", "ids": ["session-3"]}),
]
