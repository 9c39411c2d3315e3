"""The agent's memory: what the narrator of the engine remembers, and what it learned at work."""

from tests.memory_site.api.day.run import Call, Meanwhile, call

Step = Call | Meanwhile
CORE = """# SOUL
- I narrate the Salt Coast.

# TOOLS

# RULE

# USER
- Ana likes short scenes.
"""

MEMORIES: list[Step] = [
    call("agent_get"),
    call(
        "memory_add",
        {
            "contents": ["Ana is afraid of eels.", "Bo owns a cutter."],
            "subject": "Ana",
            "source": "session-1",
        },
        save="added",
    ),
    call("memory_list", query={"subject": "Ana"}),
    call("memory_get", memory_id="$added.ids.0"),
    call("memory_search", {"query": "What is Ana afraid of?", "limit": 3}),
    call(
        "memory_change",
        {"text": "Ana is afraid of deep water.", "reason": "She said so."},
        memory_id="$added.ids.0",
        save="changed",
    ),
    call("memory_undo", memory_id="$changed.id"),
    call(
        "memory_edit", {"text": "Bo owns the cutter Tern."}, memory_id="$added.ids.1", save="boat"
    ),
    call(
        "memory_merge",
        {
            "ids": ["$added.ids.0", "$boat.id"],
            "text": "Ana is afraid of eels; Bo owns the cutter Tern.",
        },
        save="both",
    ),
    call("memory_archive", {"reason": "Not needed."}, memory_id="$both.id"),
    call("memory_restore", {"reason": "Needed after all."}, memory_id="$both.id"),
    call("memory_delete", memory_id="$both.id"),
    call(
        "memory_events",
        {"events": [{"content": "Ana always asks for the bill first.", "subject": "Ana"}]},
    ),
    call("memory_query", {"query": "What does Ana ask for first?", "limit": 3}),
    call("memory_reflections"),
    call("memory_health"),
    call("message_add", {"text": "Where is the pilot?", "role": "user", "speaker": "Ana"}),
    call("conversation_search", {"query": "pilot"}),
    call("agent_change", {"review": "all"}),
    call(
        "memory_add",
        {"contents": ["The tide turns at noon.", "The lamp is oil.", "Tam snores."]},
        save="waiting",
    ),
    call("memory_inbox"),
    call("memory_pending", memory_id="$waiting.ids.0"),
    call("memory_decide", {"ids": ["$waiting.ids.0"], "decision": "approve"}),
    call("memory_approve_edited", {"text": "The lamp burns fish oil."}, memory_id="$waiting.ids.1"),
    call(
        "memory_approve_split",
        {"texts": ["Tam sleeps badly.", "Tam snores."]},
        memory_id="$waiting.ids.2",
    ),
    call("core_put", {"markdown": CORE, "reason": "First version"}),
    call("core_get"),
    call("core_memory_append", {"section": "USER", "content": "Bo keeps the accounts."}),
    call("core_proposals", save="proposals"),
    call("core_decide", proposal_id="$proposals.0.id", decision="approve"),
    call(
        "code_rules_detect",
        {"before": "tide = row['tide']", "after": "tide = row.get('tide')"},
        save="rules",
    ),
    call("code_rules_pending"),
    call("code_rule_decide", rule_id="$rules.0.id", decision="approve"),
    call("agent_change", {"review": "off"}),
    call("core_memory_replace", {"section": "USER", "old": "short scenes", "new": "long scenes"}),
    call("core_versions"),
    call("core_diff", number="2"),
    call("core_restore", {"reason": "Short after all"}, number="1"),
    call("core_lines", save="lines"),
    call("core_line_confirm", line_id="$lines.0.id"),
    call("archival_memory_insert", {"content": "Cy joined late.", "subject": "Cy"}),
    call("archival_memory_search", {"query": "Who joined late?"}),
    call("memory_event", {"content": "Cy prefers riddles to fights.", "subject": "Cy"}),
    call("memory_ask", {"query": "What does Cy prefer?"}),
    call("npc_memories", ref="ada-crane", save="ada"),
    call(
        "npc_tell",
        {"to": "bo-reed", "memory_id": "$ada.memories.0.id", "sureness": 0.8},
        ref="ada-crane",
        save="telling",
    ),
    call("npc_hearsay_delete", ref="bo-reed", hearsay_id="$telling.id"),
    call("memory_tell", {"as": "npc:ada-crane", "to": "bo-reed", "text": "The tide is early."}),
    call("archival_memory_insert", {"content": "The weir is open."}, save="weir"),
    call(
        "memory_revise",
        {"memory_id": "$weir.ids.0", "action": "correct", "text": "The weir is shut."},
    ),
    call("archival_memory_insert", {"content": "Bo keeps the lock open at night."}),
    call(
        "archival_memory_insert",
        {"content": "Bo keeps the lock open at night.", "tags": ["lock"]},
    ),
    call("merges", save="merges"),
    call("merge_decide", merge_id="$merges.0.id", decision="same"),
    call("memory_mentions", query={"subject": "Cy"}),
    call("memory_export"),
    call("memory_erase", {"scope": "subject", "target": "Cy", "reason": "Cy asked for it."}),
]

WORK: list[Step] = [
    call(
        "working_begin",
        {"description": "Mend the tide table", "plan": ["Find the error"], "project_id": "engine"},
    ),
    call("working_get"),
    call(
        "working_step",
        {
            "tool_name": "pytest",
            "output": "1 failed",
            "success": False,
            "error_type": "KeyError",
            "error_message": "'tide'",
        },
    ),
    call("working_hypothesis", {"text": "The column was renamed.", "confidence": 0.7}),
    call(
        "working_decision",
        {"description": "Read the new name first", "rationale": "Old files exist."},
    ),
    call("working_track", {"files": ["tides.py"], "symbols": ["tide_of"]}),
    call(
        "working_consolidate",
        {"outcome": "The table is right.", "success": True, "solution": "row.get('tide')"},
    ),
    call("agent_episodes", query={"project_id": "engine"}),
    call("agent_episodes_search", {"query": "tide table", "error_type": "KeyError"}),
    call("agent_bugs_match", {"error_type": "KeyError", "error_message": "'tide'"}),
    call("agent_knowledge", {"query": "a table without a column", "project_id": "engine"}),
    call(
        "code_rules_detect",
        {"before": "x = row['tide']\n", "after": "x = row.get('tide')\n", "project_id": "engine"},
        save="rules",
    ),
    call("code_rules", query={"project_id": "engine"}),
    call("code_rules_outcome", {"success": True}, rule_id="$rules.0.id"),
    call("code_rules_cleanup", {"project_id": "engine", "min_observations": 5}),
    call("task_begin", {"description": "Draw the tide table", "project": "engine"}),
    call("task_note", {"kind": "step", "text": "Drew the axes.", "tool": "edit"}),
    call("task_close", {"success": True, "outcome": "It is drawn."}),
    call("error_lookup", {"error_type": "KeyError"}),
    call("knowledge_for_task", {"query": "tide table", "project": "engine"}),
]

NIGHT = [*MEMORIES, *WORK]
