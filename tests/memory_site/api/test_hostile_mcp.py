"""No tool, resource, prompt or completion of MCP ends in an internal error, whatever it is sent.

CI sends a sample of the calls; `HOSTILE_CALLS=1000000` sends all.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx2
import mcp_types as types
import pytest
from django.db import transaction
from mcp.shared.exceptions import MCPError

from memory_site import mcp, mcp_prompts, mcp_resources
from memory_site.toolbox import TOOLS
from tests.memory_site.access.hostile import TEXTS, VALUES
from tests.memory_site.test_query_counts import make_world
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.keys import Scope

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]
CALLS = int(os.environ.get("HOSTILE_CALLS", "150"))
DEEP: Any = 1
for _level in range(60):
    DEEP = {"a": [DEEP]}
SENT = (*VALUES, DEEP, "\ud800", ["a\x00"], {"a\x00": 1}, "𝕏" * 3_000, "/" * 3_000)
"""In place of an argument of a tool."""
Work = Callable[[], Any]


@pytest.fixture
def caller(db: None) -> Caller:
    return Caller(make_world("few", 2), GM, scopes=frozenset(Scope))


def tool_calls(caller: Caller) -> Iterator[tuple[str, Work]]:
    for tool in TOOLS:
        schema = tool.request_model.model_json_schema(by_alias=True)
        usual = dict.fromkeys(schema.get("required", ()), "inn")
        for name in schema.get("properties", {}):
            for value in SENT:
                ask = {**usual, name: value}
                yield f"{tool.name} {name}", partial(mcp.run_tool_call, tool.name, ask, caller)
        for value in SENT:
            ask = {str(value)[:50]: value}
            yield tool.name, partial(mcp.run_tool_call, tool.name, ask, caller)


def other_calls(caller: Caller) -> Iterator[tuple[str, Work]]:
    calls = [
        ("cursor", lambda text: mcp_resources.page(caller, text)),
        ("address", lambda text: mcp_resources.read(text, caller)),
        *[
            (kind, lambda text, kind=kind: mcp_resources.read(f"m37://{kind}/{text}", caller))
            for kind in mcp_resources.KINDS
        ],
        *[
            (f"complete {kind}", lambda text, kind=kind: mcp_resources.complete(kind, text, caller))
            for kind in mcp_resources.KINDS
        ],
        ("prompt", lambda text: mcp_prompts.get(text, {}, caller)),
    ]
    for prompt in mcp_prompts.PROMPTS:
        name, arguments = prompt.name, [each.name for each in prompt.as_mcp().arguments or ()]
        for each in arguments:
            calls += [
                (
                    f"{name} {each}",
                    lambda text, name=name, arguments=arguments: mcp_prompts.get(
                        name, dict.fromkeys(arguments, text), caller
                    ),
                ),
                (
                    f"complete {name} {each}",
                    lambda text, each=each: mcp_prompts.complete_argument(each, text, caller),
                ),
            ]
    for name, call in calls:
        for text in (*TEXTS, "\ud800", "x" * 100_000):
            yield name, partial(mcp.with_protocol_errors, call, text)


def internal_errors(calls: list[tuple[str, Work]]) -> dict[str, str]:
    """What ended otherwise than with an answer or an error that names the fault of the caller."""
    chosen = calls if len(calls) <= CALLS else random.Random(37).sample(calls, CALLS)
    found = {}
    for name, call in chosen:
        with transaction.atomic():
            try:
                call()
            except MCPError as error:
                if (error.error.data or {}).get("status", 400) >= 500:
                    found[name] = repr(error.__cause__)
            except Exception as error:
                found[name] = repr(error)
            transaction.set_rollback(True)
    return found


def test_no_tool_call_ends_in_an_internal_error(caller: Caller) -> None:
    calls = list(tool_calls(caller))
    assert len(calls) > 1_500
    assert internal_errors(calls) == {}


def test_no_resource_and_no_prompt_ends_in_an_internal_error(caller: Caller) -> None:
    calls = list(other_calls(caller))
    assert len(calls) > 200
    assert internal_errors(calls) == {}


METHODS = ("tools/call", "resources/read", "prompts/get", "completion/complete", "a\x00")
PARAMETERS: list[Any] = [
    *(None, [], "a", {"name": None}, {"name": "lore_search", "arguments": []}),
    *({"name": "lore_search", "arguments": {"query": DEEP}}, {"uri": "m37://a\x00"}),
]
BODIES = [
    *(b"", b"null", b"[]", b"\x00", b"{", b'"a"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5_000),
    *(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        for method in METHODS
        for params in PARAMETERS
    ),
    json.dumps({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}).encode(),
    json.dumps({"jsonrpc": "3", "id": 10**30, "method": "ping"}).encode(),
]


def test_no_body_at_the_address_of_mcp_is_a_fault_of_the_server(site: dict[str, Any]) -> None:
    headers = {
        "Authorization": f"Bearer {site['key']}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    found = {}
    with httpx2.Client(headers=headers, timeout=30) as client:
        for body in BODIES:
            answer = client.post(f"{site['url']}/mcp", content=body)
            is_json = answer.content and "json" in answer.headers.get("content-type", "")
            told = answer.json() if is_json else {}
            code = told.get("error", {}).get("code") if isinstance(told, dict) else None
            if answer.status_code >= 500 or code == types.INTERNAL_ERROR:
                found[body[:120]] = (answer.status_code, answer.text[:200])
    assert found == {}
