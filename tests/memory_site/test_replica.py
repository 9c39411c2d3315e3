"""A streaming replica for reading (`DATABASE_REPLICA_URL`): real servers, a real web process."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2
import psycopg
import pytest

from memory_site.embedded.server import EmbeddedServer
from memory_site.presence import WORKER_KEYS
from tests.loopback.brokers import free_port
from tests.loopback.postgres import TcpServer, start, tcp_server
from tests.memory_site.test_external_postgres import make_key, titles, web, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
SCANS = """
SELECT coalesce(sum(seq_scan + idx_scan), 0) FROM pg_stat_user_tables
WHERE relname = 'knowledge_lorepassage'
"""


@dataclass
class Replica:
    server: TcpServer

    def ask(self, statement: str) -> int:
        with psycopg.connect(self.server.url(), autocommit=True) as link:
            row = link.execute(statement).fetchone()
        return int(row[0] or 0) if row else 0

    def stop(self) -> None:
        self.server.server.stop()

    def start(self) -> None:
        start(self.server.server, self.server.port)


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[TcpServer]:
    with tcp_server(tmp_path / "primary") as server:
        yield server


@pytest.fixture
def replica(primary: TcpServer, tmp_path: Path) -> Iterator[Replica]:
    """A copy of the primary that follows its log."""
    server, port = EmbeddedServer(tmp_path / "replica"), free_port()
    server._prepare_home()
    server._make_private(server.socket_dir)
    source = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "memory37")
    server.run("pg_basebackup", *source, "-D", str(server.data), "-R", "-X", "stream", "-c", "fast")
    with (server.data / "postgresql.auto.conf").open("a") as file:
        file.write(f"port = {port}\n")
    replica = Replica(TcpServer(server, port))
    replica.start()
    yield replica
    replica.stop()


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def is_read(replica: Replica, search: Callable[[], object]) -> bool:
    """Whether a search reads passages of the replica."""
    before = replica.ask(SCANS)
    search()
    time.sleep(0.3)  # a backend reports what it did after a moment
    search()
    return replica.ask(SCANS) > before


def write_and_read_back(client: httpx2.Client, *names: str) -> None:
    for name in names:
        write(client, name.lower(), name, f"Boats moor at {name}.")
        assert name in titles(client, name)


def test_reads_go_to_a_replica_and_its_faults_are_not_seen(
    primary: TcpServer, replica: Replica, tmp_path: Path
) -> None:
    var = tmp_path / "var"
    key = make_key(primary.url(), var)
    with web(primary.url(), var, key, DATABASE_REPLICA_URL=replica.server.url()) as client:
        write(client, "pier", "Pier", "Boats moor here.")
        search = partial(titles, client, "boats")
        assert wait_for(lambda: is_read(replica, search))
        write_and_read_back(client, "Alder", "Birch", "Cedar", "Dogwood", "Elm")
        no_read_fails(client)
        tools_of_mcp_read_it_and_read_their_own_writes(replica, client)
        assert parts_of(client)["replica"] == "ok"
        with psycopg.connect(primary.url(), autocommit=True) as worker:
            worker.execute("SELECT pg_advisory_lock_shared(%s, %s)", WORKER_KEYS)
            assert parts_of(client)["worker"] == "ok", "its lock is on the primary alone"

        replica.ask("SELECT pg_wal_replay_pause()::text = 'x'")
        write_and_read_back(client, "Fir", "Gorse")
        assert not is_read(replica, search), "it lags"
        assert parts_of(client)["replica"] == "down"
        replica.ask("SELECT pg_wal_replay_resume()::text = 'x'")
        assert wait_for(lambda: is_read(replica, search))

        replica.stop()
        begin = time.monotonic()
        write_and_read_back(client, "Hazel", "Ivy", "Juniper")
        assert time.monotonic() - begin < 15, "a replica that is gone holds nobody up"
        replica.start()
        assert wait_for(lambda: is_read(replica, search))


def parts_of(client: httpx2.Client) -> dict[str, str]:
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    parts: dict[str, str] = answer.json()["parts"]
    return parts


def tools_of_mcp_read_it_and_read_their_own_writes(replica: Replica, client: httpx2.Client) -> None:
    search = partial(call_over_mcp, client, "lore_search", query="boats")
    assert wait_for(lambda: is_read(replica, search))
    for number in range(5):
        call_over_mcp(client, "core_memory_append", section="USER", content=f"Likes boat {number}.")
        assert is_on(replica, f"boat {number}"), "so does one over MCP"
        asked = {"section": "USER", "content": f"Likes ferry {number}."}
        answer = client.post("/api/v1/tools/core_memory_append", json=asked)
        assert answer.status_code == 200, answer.text
        assert is_on(replica, f"ferry {number}"), "the answer waits for the replica"


def is_on(replica: Replica, text: str) -> bool:
    return (
        replica.ask(f"SELECT count(*) FROM memories_coreversion WHERE markdown LIKE '%{text}%'") > 0
    )


def call_over_mcp(client: httpx2.Client, name: str, **arguments: str) -> None:
    call = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert not answer.json()["result"].get("isError"), answer.text


def no_read_fails(client: httpx2.Client) -> None:
    """What a read writes beside goes to the primary."""
    document = json.loads(client.get("/api/v1/openapi.json").text)
    for path, operations in document["paths"].items():
        if "get" in operations and "{" not in path and "stream" not in path:
            answer = client.get(path)
            assert answer.status_code < 500, (path, answer.text)
    asked = {"contents": ["The ferry is late."]}
    assert client.post("/api/v1/memory", json=asked).status_code in (201, 403)
    answer = client.post("/api/v1/tools/npc_profile", json={"npc": "nobody"})
    assert answer.status_code < 500, answer.text
