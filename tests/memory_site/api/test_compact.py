"""The small form of answers, for language models: nothing that they read is lost."""

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from django.test import Client as DjangoClient
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from episodes.schemas import EpisodeOut
from episodes.tools import SessionFetched
from knowledge.presenters import GmHitOut, LegOut, SearchAnswer, SourceOut
from memories.schemas import BucketHit, MemoryHit, SearchOut
from memory_site.compact import compact, compact_schema
from memory_site.mcp_text import to_text
from memory_site.toolbox import TOOLS, Profile
from npcs.schemas import DispositionOut
from tests.api_document import json_schema_validator

LICENCE = "This work includes material of the System Reference Document."
SRD = SourceOut(document="SRD 5.1", licence="CC-BY-4.0", attribution=LICENCE)
HIT = GmHitOut(
    id="srd-5.1/conditions/grappled",
    kind="condition",
    title="Grappled",
    text="Your speed becomes 0.",
    score=0.4707,
    relevance=0.9312345,
    match="exact",
    legs={"name": LegOut(rank=1, score=0.1)},
    language="en",
    in_world_at=12.0,
    source=SRD,
    visibility="public",
    row="01a2088d-cc07-7621-ac7e-9c0349c95b43",
)


def test_a_hit_keeps_what_a_model_reads() -> None:
    answer = compact(SearchAnswer(hits=[HIT]))
    assert answer["hits"] == [
        {
            "id": "srd-5.1/conditions/grappled",
            "kind": "condition",
            "title": "Grappled",
            "text": "Your speed becomes 0.",
            "relevance": 0.93,
            "in_world_at": 12,
            "source": "s1",
        }
    ]


def test_the_id_of_a_memory_stays_because_it_is_revised_by_it() -> None:
    row = "01a2088d-cc07-7621-ac7e-9c0349c95b43"
    memory = BucketHit(id=row, text="The toll is ten silver.", bucket="fact", score=0.5)
    answer = compact(SearchOut(hits=[MemoryHit(**vars(memory), match="both", recorded_ms=1)]))
    assert answer["hits"][0]["id"] == row
    assert row in to_text(answer)
    assert "id" in compact_schema(SearchOut)["$defs"]["MemoryHit"]["properties"]


def test_the_attribution_stands_once_however_many_hits_it_is_for() -> None:
    own = replace(HIT, title="Ferry", source=SourceOut(document="Ferry"))
    house = replace(HIT, title="Eels", source=SourceOut(document="House rules"))
    answer = compact(SearchAnswer(hits=[HIT, house, HIT, own]))
    assert [hit.get("source") for hit in answer["hits"]] == ["s1", "s2", "s1", None]
    assert answer["sources"] == {
        "s1": {"document": "SRD 5.1", "licence": "CC-BY-4.0", "attribution": LICENCE},
        "s2": {"document": "House rules"},
    }
    assert json.dumps(answer).count(LICENCE) == 1
    assert to_text(answer).count(LICENCE) == 1


def test_what_is_out_of_the_ordinary_is_said() -> None:
    secret = replace(HIT, visibility="gm", secret=True, truncated=True, known_to=["npc:mira"])
    answer = compact(SearchAnswer(hits=[secret], truncated=True, degraded=["vector"]))
    hit = answer["hits"][0]
    assert (hit["visibility"], hit["secret"], hit["truncated"]) == ("gm", True, True)
    assert hit["known_to"] == ["npc:mira"]
    assert (answer["truncated"], answer["degraded"]) == (True, ["vector"])


def test_a_model_reads_what_took_no_part_and_what_took_a_part() -> None:
    text = to_text({"hits": [], "degraded": ["llm", "vector: 37 % of this world"]})
    assert "(Answered without: llm.)" in text
    assert "(Answered in part by vector: 37 % of this world.)" in text


def test_an_answer_without_rows_says_so() -> None:
    assert compact(SearchAnswer()) == {"hits": []}
    assert compact(SessionFetched(party_id="gulls", episodes=[])) == {
        "party_id": "gulls",
        "episodes": [],
    }


def test_a_disposition_keeps_its_score() -> None:
    opinion = DispositionOut(
        party_id="gulls",
        party="Gulls",
        score=0.0,
        label="neutral",
        feelings="none",
        trend=0.0,
        direction="steady",
        axes={"trust": 1 / 3},
        changes=0,
        pending=0,
    )
    assert compact(opinion)["score"] == 0
    assert compact(opinion)["axes"] == {"trust": 0.33}


def test_an_episode_is_not_told_twice() -> None:
    text = "They pulled Ada Crane out of the water, and she sold the charts for it."
    private = {
        "what": text,
        "flags": ["debt"],
        "relations_delta": [],
        "notes": "",
        "visibility": "",
    }
    fields = dict.fromkeys(EpisodeOut.model_fields)
    episode = EpisodeOut.model_construct(**{**fields, "text": text, "private": private})
    assert compact(episode)["private"] == {"flags": ["debt"]}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_schema_of_the_small_form_is_one(tool: Any) -> None:
    schema = compact_schema(tool.response_model)
    json_schema_validator().check_schema(schema)
    text = json.dumps(schema)
    for name in schema.get("$defs", {}):
        assert f'"#/$defs/{name}"' in text
    assert "required" not in schema


def test_the_schema_fits_an_answer_with_sources() -> None:
    answer = compact(SearchAnswer(hits=[HIT], truncated=True))
    validator = json_schema_validator()(compact_schema(SearchAnswer))
    assert list(validator.iter_errors(answer)) == []
    assert list(validator.iter_errors({**answer, "hits": [{"unknown": 1}]}))


# --- MCP: the tools of a situation
@pytest.mark.django_db
async def test_the_address_names_the_profile_whose_tools_are_listed(site: dict[str, Any]) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {site['key']}"}, timeout=20)
    address = f"{site['url']}/mcp?profile=scene"
    async with Client(streamable_http_client(address, http_client=http)) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
    assert listed == [tool.name for tool in TOOLS if Profile.SCENE in tool.profiles]


@pytest.mark.django_db
def test_a_profile_that_there_is_not_is_refused_with_those_that_there_are(
    site: dict[str, Any],
) -> None:
    answer = httpx2.post(
        f"{site['url']}/mcp?profile=szene",
        json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
        headers={"Authorization": f"Bearer {site['key']}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert "scene" in answer.json()["candidates"]


@pytest.mark.django_db
def test_a_wrong_value_of_compact_is_refused(site: dict[str, Any], client: DjangoClient) -> None:
    answer = client.post(
        "/api/v1/tools/call?compact=perhaps",
        json.dumps({"name": "rules_lookup", "arguments": {"term": "grappled"}}),
        content_type="application/json",
        headers={"X-API-Key": site["key"]},
    )
    assert answer.status_code == 422
