"""A key that is bound to one campaign reads and changes nothing of the others.

An engine plays its whole day in the campaign First Tide. The key of another campaign, with all
scopes and the audience of a game master, sends each call too, before the engine does and after:
word for word, and with its own party and campaign named instead. It must get no word of First Tide
and change no row of it. What it may be answered at all is listed in `OPEN`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from episodes.models import Episode
from memory_site import mcp_prompts, mcp_resources
from memory_site.openapi import operations
from memory_site.toolbox import TOOLS
from retrieval.errors import NotFound
from tests.api_document import api_document
from tests.memory_site.api.campaign_rows import Row, rows_of, words_of
from tests.memory_site.api.day.campaign_calls import OVERLAYS, PLAYED
from tests.memory_site.api.day.memory_calls import NIGHT
from tests.memory_site.api.day.play_calls import EVENING
from tests.memory_site.api.day.run import Call, Day, Meanwhile
from tests.memory_site.api.day.world_calls import MORNING
from worlds import keys
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.models import Campaign, Party, World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]

SHARED = {
    *("me", "system_list", "own_world_get", "openai_tools", "disposition_rules_get"),
    *("calendar_get", "calendar_versions", "calendar_date", "calendar_parse"),
    *("kind_list", "kind_get", "rule_book_list", "rule_book_get"),
    *("lore_get", "lore_version_list", "lore_propose", "rule_get"),
    *("comment_list", "comment_create", "comment_get", "comment_change"),
    *("npc_list", "npc_get", "npc_upsert", "npc_upsert_bulk", "npc_delete", "npc_restore"),
    *("npc_version_list", "npc_version_restore", "npc_memories", "npc_tell"),
    *("npc_hearsay_delete", "opinion_list", "opinion_correct", "disposition_list"),
    *("reveal_create", "reveal_get", "reveal_undo"),
    *("graph_upsert_facts", "graph_facts", "graph_fact", "graph_fact_checked", "graph_retract"),
    *("graph_neighbors", "graph_path", "graph_contradictions", "graph_contradiction"),
    *("graph_resolve", "graph_reopen"),
    *("fact_proposal_read", "fact_proposal_accept"),
    *("picture_upload", "picture_list", "picture_get", "picture_change", "picture_file"),
    *("picture_delete", "picture_restore", "picture_place", "picture_use_list"),
    *("picture_use_get", "picture_use_change", "picture_use_remove"),
    *("gallery_get", "gallery_arrange", "art_upsert", "art_get", "art_moderate", "art_delete"),
}
"""They read or change what all campaigns share: canon, the rules of the world, NPCs with what
everybody told them, the graph, pictures, and cards of no scene."""
OWN_ROWS = {
    *("campaign_list", "party_list", "character_list", "key_list", "webhook_list"),
    *("session_list", "scene_list", "episode_list", "thread_list", "note_list", "loose_end_list"),
    *("lore_list", "rule_list", "proposal_list", "reveal_list", "art_list", "event_list"),
    *("fact_proposal_list", "disposition_pending", "opinion_pending", "standing_list"),
    *("lore_upsert", "rule_upsert", "webhook_create"),
}
"""They list or make rows of the key's own campaign, and need name none of First Tide."""
REPORTS = {
    *("bulk_delete", "bulk_restore", "lore_upsert_bulk", "rule_upsert_bulk", "art_upsert_bulk"),
    *("episode_ingest_bulk", "fact_proposal_decide"),
}
"""They are answered with what became of each row, of which some may be refused."""
OPEN_TOOLS = {*(tool.name for tool in TOOLS), "tools_call"} - {"session_fetch", "art_suggest"}
"""Tools for canon, and for the memory of the key's own agent."""
OPEN = SHARED | OWN_ROWS | REPORTS | OPEN_TOOLS
"""Operations that the key is answered when it sends what the engine sends in First Tide. Whoever
adds an operation exempts it here only if it belongs into one of these four: all others must be
refused. It is tried all the same: an answer with a word of First Tide fails, and so does a change
there."""
NEVER_ENDS = {"event_stream"}
"""It reads by the same query as `event_list`: see `visible_events`."""
AGENTS_OWN = {"memory", "agent"}
"""Tags of the operations on the memory of the key's own agent."""


class Trespass(Day):
    """The day, with the key of another campaign that tries each call too."""

    def __init__(self, document: dict[str, Any]) -> None:
        found = list(operations(document))
        super().__init__({each["operationId"]: (method, path) for method, path, each in found})
        self.tags = {each["operationId"]: set(each["tags"]) for _m, _p, each in found}
        self.trespasser: Client | None = None
        self.answered: dict[str, list[Any]] = {}
        self.faults: list[Any] = []
        self.tried: set[str] = set()
        self.rows: list[Row] = []
        self.words: set[str] = set()

    def carry_out(self, steps: Sequence[Call | Meanwhile]) -> None:
        for step in steps:
            super().carry_out([step])
            if isinstance(step, Meanwhile):
                self.read_rows()

    def send(self, step: Call) -> None:
        if self.is_read(step):
            super().send(step)
        else:
            self.trespass(step)
            super().send(step)
            self.read_rows()
        self.trespass(step)

    def is_read(self, step: Call) -> bool:
        return self.addresses[step.operation][0] == "GET"

    def read_rows(self) -> None:
        """Remember what First Tide holds now: all tries until the next call find it so."""
        if theirs := first_tide():
            self.rows = rows_of(theirs)
            self.words = words_of(self.rows)

    def trespass(self, step: Call) -> None:
        theirs = first_tide()
        if theirs is None:
            return
        if self.trespasser is None:
            self.trespasser = self.new_trespasser(theirs.world)
        self.tried.add(step.operation)
        values = (self.filled(step.path), self.filled(step.query), self.filled(step.body))
        own = tuple(map(in_own_campaign, values))
        self.try_call(step, *values, theirs=theirs, is_own=False)
        if own[1:] != values[1:]:
            self.try_call(step, values[0], *own[1:], theirs=theirs, is_own=True)

    def try_call(
        self,
        step: Call,
        path: dict[str, Any],
        query: dict[str, Any],
        body: Any,
        *,
        theirs: Campaign,
        is_own: bool,
    ) -> None:
        with transaction.atomic():
            status, text = self.ask_as_trespasser(step, path, query, body)
            # What was refused has been rolled back.
            rows = self.rows if self.is_read(step) or status >= 400 else rows_of(theirs)
            transaction.set_rollback(True)
        sent = json.dumps([path, query, body], ensure_ascii=False)
        told = sorted(word for word in self.words if word in text and word not in sent)
        if told or rows != self.rows:
            difference = sorted(map(str, set(rows) ^ set(self.rows)))
            self.faults.append((step.operation, is_own, status, told, difference[:4], text[:300]))
        if status < 400 and not is_own:
            self.answered.setdefault(step.operation, []).append((status, sent[:200], text[:200]))

    def new_trespasser(self, world: World) -> Client:
        own = Campaign.objects.create(world=world, slug="second-tide", name="Second Tide")
        Party.objects.create(world=world, campaign=own, slug="plovers", name="Plovers")
        _key, text = keys.create_key(
            world,
            name="trespasser",
            audience="gm",
            scopes=list(Scope),
            campaign=own,
            namespace="clerk",
            calls_per_minute=1_000_000,
        )
        return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)

    def ask_as_trespasser(
        self, step: Call, path: dict[str, Any], query: dict[str, Any], body: Any
    ) -> tuple[int, str]:
        assert self.trespasser
        method, address = self.addresses[step.operation]
        for name, value in path.items():
            address = re.sub(rf"{{(\w+:)?{name}}}", str(value), address)
        if step.files:
            parts = {
                field: SimpleUploadedFile(name, self.filled(content))
                for field, (name, content) in step.files.items()
            }
            answer = self.trespasser.post(address, {**(body or {}), **parts})
        else:
            text = "" if body is None else json.dumps(body)
            answer = self.trespasser.generic(
                method, address, text, content_type="application/json", query_params=query
            )
        content = b"".join(answer) if answer.streaming else answer.content
        if not content or "json" not in answer.get("Content-Type", ""):
            return answer.status_code, content.decode(errors="replace")
        # Without the escapes of other alphabets.
        return answer.status_code, json.dumps(json.loads(content), ensure_ascii=False)


def first_tide() -> Campaign | None:
    return Campaign.objects.filter(world__slug="salt-coast", slug="first-tide").first()


OWN_NAMES = {"gulls": "plovers", "first-tide": "second-tide"}


def in_own_campaign(value: Any) -> Any:
    """The same with the trespasser's party and campaign instead of those of First Tide."""
    if isinstance(value, dict):
        return {name: in_own_campaign(item) for name, item in value.items()}
    if isinstance(value, list):
        return [in_own_campaign(item) for item in value]
    return OWN_NAMES.get(value, value) if isinstance(value, str) else value


def test_a_key_of_one_campaign_reads_and_changes_nothing_of_the_others() -> None:
    day = Trespass(api_document())
    day.carry_out([*MORNING, *EVENING, *OVERLAYS, *PLAYED, *NIGHT])
    assert not day.faults, "\n\n".join(map(str, day.faults[:100]))
    own_memory = {name for name, tags in day.tags.items() if tags & AGENTS_OWN}
    answered = {name: day.answered[name] for name in day.answered.keys() - OPEN - own_memory}
    assert not answered, "\n\n".join(f"{name}: {calls}" for name, calls in answered.items())
    assert day.addresses.keys() - NEVER_ENDS <= day.tried
    read_by_mcp(day)


def read_by_mcp(day: Trespass) -> None:
    """Resources and prompts of MCP tell the key nothing of First Tide, either; tools are those of
    REST."""
    assert day.trespasser
    token = day.trespasser.defaults["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    caller = Caller.with_key(keys.verify(token))
    theirs = first_tide()
    assert theirs
    played = Episode.objects.filter(campaign=theirs)
    assert played
    for episode in played:
        with pytest.raises(NotFound):
            mcp_resources.read(f"m37://episode/{episode.external_id}", caller)
    listed = str(mcp_resources.page(caller, None))
    for kind in mcp_resources.KINDS:
        listed += str(mcp_resources.complete(kind, "", caller))
    assert not [each.external_id for each in played if each.external_id in listed]
    assert mcp_prompts.complete_argument("party", "", caller) == ["plovers"]
    for prompt in ("recap", "scene"):
        with pytest.raises(NotFound):
            mcp_prompts.get(prompt, {"party": "gulls"}, caller)
