"""The Python client: the same answers over HTTP, in process and without async, stubborn on safe
calls, clear when it fails; its generated parts fit the server.
"""

import asyncio
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from memory37_client import Memory37Client, Memory37Error, SyncMemory37Client, generated
from memory37_client.exchange import Server
from memory_site.api import api
from memory_site.toolbox import TOOLS
from worlds import keys

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["http", "in process"])
def memory(request: pytest.FixtureRequest, site: dict[str, Any]) -> Memory37Client:
    if request.param == "http":
        return Memory37Client.over_http(site["url"], site["key"])
    return Memory37Client.in_process(site["key"])


async def test_the_tools_a_key_allows_are_listed_alike(memory: Memory37Client) -> None:
    offered = await memory.openai_tools()
    assert {"rules_lookup", "lore_search"} <= {tool["name"] for tool in offered}
    assert all(tool["strict"] for tool in offered)


async def test_rules_are_looked_up_with_typed_hits(memory: Memory37Client) -> None:
    found = await memory.rules_lookup("grappled")
    assert (found.hits[0].title, found.hits[0].id) == ("Grappled", "house/conditions/grappled")


async def test_a_models_tool_call_is_carried_out_as_it_came(memory: Memory37Client) -> None:
    answer = await memory.call("rules_lookup", '{"term": "grappled", "rule_id": null}')
    assert answer["hits"][0]["title"] == "Grappled"


async def test_a_problem_becomes_an_exception_with_its_fields(memory: Memory37Client) -> None:
    with pytest.raises(Memory37Error) as wrong:
        await memory.call("rules_lookup", {"colour": "red"})
    assert (wrong.value.status, wrong.value.code) == (422, "invalid")
    assert wrong.value.request_id
    assert any(error["loc"] == ["colour"] for error in wrong.value.errors)


async def test_an_unknown_name_brings_candidates(memory: Memory37Client) -> None:
    with pytest.raises(Memory37Error) as unknown:
        await memory.rules_lookup(rule_id="conditions/grapled")
    assert (unknown.value.status, unknown.value.candidates) == (404, ["house/conditions/grappled"])


async def test_a_write_goes_through_and_is_told(memory: Memory37Client) -> None:
    with pytest.raises(Memory37Error) as missing:
        await memory.request(
            "POST", "/world/reveals", {"kind": "lore", "id": "0" * 32, "audience": "npc:odo"}
        )
    assert missing.value.code == "not_found"


async def test_every_tool_has_a_method(memory: Memory37Client) -> None:
    for tool in TOOLS:
        assert inspect.iscoroutinefunction(getattr(memory, tool.name))
        assert not inspect.iscoroutinefunction(getattr(SyncMemory37Client, tool.name))


async def test_lists_are_read_page_after_page(memory: Memory37Client) -> None:
    for name in ("Ada", "Bo", "Cyd"):
        await memory.request("PUT", "/world/npcs", {"npc_id": name.lower(), "name": name})
    rows = [row async for row in memory.rows("/world/npcs", limit=2, sort="name")]
    assert [row["name"] for row in rows if row["name"] in ("Ada", "Bo", "Cyd")] == [
        "Ada",
        "Bo",
        "Cyd",
    ]


async def test_without_async(site: dict[str, Any]) -> None:
    def use() -> tuple[Any, ...]:
        with SyncMemory37Client.over_http(site["url"], site["key"]) as memory:
            found = memory.rules_lookup("grappled", k=1, as_="gm")
            names = [row["name"] for row in memory.rows("/world/npcs", limit=1)]
            with pytest.raises(Memory37Error) as wrong:
                memory.call("rules_lookup", {"colour": "red"})
            return found.hits[0].title, len(names), wrong.value.code

    title, _rows, code = await asyncio.to_thread(use)
    assert (title, code) == ("Grappled", "invalid")


async def test_changes_are_told_as_they_happen(site: dict[str, Any]) -> None:
    async with Memory37Client.over_http(site["url"], site["key"]) as memory:
        told = memory.events("latest", kinds=["npc"])
        first = asyncio.ensure_future(anext(told))
        await asyncio.sleep(1)  # the stream is open
        await memory.request("PUT", "/world/npcs", {"npc_id": "ilse", "name": "Ilse"})
        event = await asyncio.wait_for(first, 20)
        await told.aclose()
        after = memory.events(event.id, kinds=["npc"])
        await memory.request(
            "PUT", "/world/npcs", {"npc_id": "ilse", "name": "Ilse", "role": "Rower"}
        )
        change = await asyncio.wait_for(anext(after), 20)
        await after.aclose()
    assert (event.kind, event.ref, event.action) == ("npc", "ilse", "created")
    assert (change.ref, change.action) == ("ilse", "changed")


async def test_a_key_that_is_revoked_ends_the_stream_with_its_reason(site: dict[str, Any]) -> None:
    # Another thread commits: the server does not see this test's transaction.
    key, text = await sync_to_async(keys.create_key)(
        site["world"], name="x", audience="gm", scopes=["tools:read"]
    )
    async with Memory37Client.over_http(site["url"], site["key"]) as memory:
        await memory.request("PUT", "/world/npcs", {"npc_id": "uma", "name": "Uma"})
    async with Memory37Client.over_http(site["url"], text) as memory:
        told = memory.events("oldest")
        await anext(told)
        await sync_to_async(keys.revoke)(key)
        with pytest.raises(Memory37Error) as ended:
            async for _event in told:
                pass
    assert ended.value.status == 401


async def test_a_wrong_key_is_told(site: dict[str, Any]) -> None:
    async with Memory37Client.over_http(site["url"], "m37_a_b") as memory:
        with pytest.raises(Memory37Error) as refused:
            await memory.openai_tools()
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")


async def test_the_environment_says_where_to_ask(
    site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY37_URL", site["url"])
    monkeypatch.setenv("MEMORY37_API_KEY", site["key"])
    async with Memory37Client.from_env() as memory:
        assert await memory.openai_tools(profile="scene")


# --- Weather
class Moody(BaseHTTPRequestHandler):
    """Answers with the statuses of `mood`, one after another, then with 200."""

    mood: list[int] = []
    seen: list[str] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).seen.append(self.headers.get("Idempotency-Key", ""))
        status = type(self).mood.pop(0) if type(self).mood else 200
        if status == 0:
            time.sleep(1.0)
        self.send_response(status or 200)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"hits":[]}')

    def log_message(self, *_args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def moody() -> Iterator[str]:
    Moody.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Moody)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("mood", [[503], [502, 504], [0]])
async def test_a_safe_call_is_tried_again(moody: str, mood: list[int]) -> None:
    Moody.mood[:] = mood
    async with Memory37Client.over_http(moody, "key", timeout=0.5) as memory:
        assert (await memory.rules_lookup("prone")).hits == []
    assert len(Moody.seen) == len(mood) + 1


async def test_a_write_is_tried_again_under_one_idempotency_key(moody: str) -> None:
    Moody.mood[:] = [503, 503]
    async with Memory37Client.over_http(moody, "key") as memory:
        await memory.request("POST", "/world/reveals", {})
    assert len(Moody.seen) == 3
    assert len(set(Moody.seen)) == 1


async def test_a_server_that_stays_down_is_told_after_three_tries(moody: str) -> None:
    Moody.mood[:] = [503] * 5
    async with Memory37Client.over_http(moody, "key") as memory:
        with pytest.raises(Memory37Error) as down:
            await memory.rules_lookup("prone")
    assert (down.value.status, len(Moody.seen)) == (503, 3)


async def test_no_server_at_all_is_told() -> None:
    async with Memory37Client.over_http("http://127.0.0.1:9", "key") as memory:
        with pytest.raises(Memory37Error) as nowhere:
            await memory.rules_lookup("prone")
    assert nowhere.value.code == "unreachable"


async def test_the_sync_client_tries_again_too(moody: str) -> None:
    Moody.mood[:] = [503]
    with SyncMemory37Client.over_http(moody, "key") as memory:
        await asyncio.to_thread(memory.request, "POST", "/world/reveals", {})
    assert len(Moody.seen) == 2
    assert len(set(Moody.seen)) == 1


# --- What is generated
def test_the_generated_modules_are_those_of_this_server(tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    schema = api.get_openapi_schema(path_prefix="/api/v1/")
    document.write_text(json.dumps(schema, default=str))
    script = settings.BASE_DIR / "clients" / "python" / "generate.py"
    made = tmp_path / "generated"
    subprocess.run([sys.executable, script, document, "--folder", made], check=True, timeout=120)
    committed = Path(inspect.getfile(generated)).parent
    for each in made.iterdir():
        assert each.read_text() == (committed / each.name).read_text(), (
            f"{each.name} is not what the server offers now: run make clients"
        )
    names = {each.name for each in committed.glob("*.py")}
    assert names == {each.name for each in made.iterdir()}


def test_the_id_of_a_world_in_another_script_is_sent_in_ascii() -> None:
    headers = Server("http://localhost", "m37_test", "안개나루").http_options()["headers"]
    assert headers["X-World"].isascii()
    assert unquote(headers["X-World"]) == "안개나루"
