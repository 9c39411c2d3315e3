"""The Python examples, installed and started as examples/README.md says, against the site."""

import fcntl
import hashlib
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings

from examples import discord_recap
from memory37_client import SyncMemory37Client
from tests.loopback import Loopback, calls, say

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.timeout(400),
    pytest.mark.slow,
]
EXAMPLES = Path(settings.BASE_DIR) / "examples"
COMMAND = re.compile(r"^python (examples/\w+\.py.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def python() -> Path:
    """An environment with what the examples need, made once for these versions."""
    client = Path(settings.BASE_DIR) / "clients" / "python"
    wanted = (EXAMPLES / "requirements.txt", client / "pyproject.toml")
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in wanted)).hexdigest()[:12]
    home = Path(settings.VAR_DIR) / "examples" / digest
    home.mkdir(parents=True, exist_ok=True)
    program = home / "venv" / "bin" / "python"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "installed").exists():
            subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True, timeout=60)
            install(program, "-r", str(EXAMPLES / "requirements.txt"))
            (home / "installed").touch()
        # The client is installed each time: it is what these tests are about.
        install(program, "--force-reinstall", "--no-deps", str(client))
    return program


def install(program: Path, *what: str) -> None:
    command = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    if os.environ.get("CI"):
        command.append("--no-compile")  # the examples import few of these modules
    if what[0] == "-r":
        command.append("httpx2>=2.10,<3")
    done = subprocess.run(command, capture_output=True, text=True, timeout=350, check=False)
    if done.returncode:
        reason = f"The packages of the examples cannot be installed: {done.stderr[-300:]}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def documented_commands() -> dict[str, list[str]]:
    """Return the arguments of each documented command by the name of its example."""
    lines = COMMAND.findall((EXAMPLES / "README.md").read_text())
    return {Path(line.split()[0]).stem: shlex.split(line) for line in lines}


def test_every_example_has_a_documented_command() -> None:
    assert set(documented_commands()) == {each.stem for each in EXAMPLES.glob("*.py")}


@pytest.fixture
def run(python: Path, site: dict[str, Any], openai_server: Loopback) -> Any:
    """Return a function that carries a documented command out and returns what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "MEMORY37_URL": site["url"],
        "MEMORY37_API_KEY": site["key"],
        "OPENAI_BASE_URL": openai_server.url,
        "OPENAI_API_KEY": "none",
        "MODEL": "scripted",
    }

    def carry_out(name: str, **more: str) -> str:
        done = subprocess.run(
            [python, *documented_commands()[name]],
            cwd=settings.BASE_DIR,
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return carry_out


def test_an_engine_records_a_scene(run: Any) -> None:
    assert run("record_scene").strip()


def test_an_agent_knows_the_error_again(run: Any) -> None:
    assert "KeyError" in run("debugging_agent")


@pytest.mark.parametrize("name", ["play_scene", "langgraph_agent"])
def test_a_model_asks_the_tools_and_answers(run: Any, openai_server: Loopback, name: str) -> None:
    openai_server.chat.then(
        calls("rules_lookup", {"term": "grappled", "rule_id": None}), say("You are held fast.")
    )
    assert run(name).strip() == "You are held fast."
    first, second = openai_server.chat.requests
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"rules_lookup", "lore_search"}
    assert "speed becomes 0" in second["messages"][-1]["content"]


def test_a_retriever_finds_rules(run: Any) -> None:
    assert "Grappled: A grappled creature" in run("llamaindex_retriever")


@pytest.fixture
def channel() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that takes messages as Discord does; yield its address and what it received."""
    received: list[dict[str, Any]] = []

    class Channel(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append(body)
            self.send_response(204 if len(body["content"]) <= 2000 else 400)
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            """Keep the test's output clean."""

    server = HTTPServer(("127.0.0.1", 0), Channel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/webhook", received
    server.shutdown()


def test_a_session_is_posted_as_the_party_knows_it(
    run: Any, site: dict[str, Any], channel: tuple[str, list[dict[str, Any]]]
) -> None:
    address, received = channel
    with SyncMemory37Client.over_http(site["url"], site["key"]) as memory:
        memory.request(
            "PUT",
            "/world/sessions",
            {"session_id": "session-1", "party_id": "lanternbearers", "number": 1},
        )
        summary = {
            "summary_id": "told-in-session",
            "party_id": "lanternbearers",
            "session_id": "session-1",
            "what": "The bell rang twice.",
            "notes": "The bell is a trap.",
        }
        memory.request("POST", "/world/episodes", summary)
    run("discord_recap", DISCORD_WEBHOOK_URL=address)
    [message] = received
    assert message["content"] == "**Last time**\nThe bell rang twice."
    assert message["allowed_mentions"] == {"parse": []}


def test_long_recaps_become_several_messages() -> None:
    lines = [f"Oar number {number} broke. " * 20 for number in range(20)] + ["x" * 5000]
    sent = list(discord_recap.messages("Last time", lines))
    assert all(len(text) <= 2000 for text in sent)
    assert "".join(sent).replace("\n", "") == "**Last time**" + "".join(lines)
