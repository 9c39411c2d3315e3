"""Neo4j that accepts and says nothing, that trickles, that hangs up or that is gone: PostgreSQL
answers in time and says so."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from knowledge.graph import mirror
from knowledge.graph.neo4j_driver import Neo4j
from knowledge.graph.protocol import View
from knowledge.graph.store_selection import MirroredGraph
from knowledge.graph.upsert import upsert_facts
from tests.conftest import ApiClient
from tests.knowledge.graph.conftest import edge, node
from worlds.audiences import GM

pytestmark = pytest.mark.django_db
TIMEOUT = 2.0
Behaviour = Callable[[socket.socket], None]


def hang(connection: socket.socket) -> None:
    while connection.recv(1024):
        pass


def trickle(connection: socket.socket) -> None:
    """Agree on version 5.0 of the protocol, then send one byte of an answer at a time, for ever."""
    connection.recv(1024)
    for byte in b"\x00\x00\x00\x05" + b"\x00\x7f" + bytes(200):
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def hang_up(connection: socket.socket) -> None:
    connection.recv(1024)


@contextmanager
def server(behaviour: Behaviour) -> Iterator[tuple[int, list[int]]]:
    """A TCP server of this behaviour: its port, and one entry for each connection that it took."""
    taken: list[int] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behaviour(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _address = listener.accept()
                taken.append(1)
                threading.Thread(target=serve, args=[connection], daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], taken


@pytest.fixture
def short_timeout(settings: Any) -> None:
    settings.NEO4J_TIMEOUT, settings.NEO4J_BACKOFF = TIMEOUT, 30.0


@pytest.fixture
def mira(world: Any, short_timeout: None) -> Any:
    facts = [node("Mira Voss"), node("Joss Vale"), edge("Mira Voss", "KNOWS", "Joss Vale")]
    mira = upsert_facts(world, facts).nodes[0].id
    mirror.start_mirroring()
    return mira


def neo_at(port: int) -> Neo4j:
    return Neo4j(f"bolt://127.0.0.1:{port}", "neo4j", "none", "neo4j")


@pytest.mark.parametrize("behaviour", [hang, trickle, hang_up])
def test_a_read_is_answered_in_time_and_says_that_it_is_degraded(world, mira, behaviour):
    with server(behaviour) as (port, taken):
        store = MirroredGraph(View(world, GM), neo_at(port))
        started = time.monotonic()
        near = async_to_sync(store.neighbors)(mira)
        assert time.monotonic() - started < TIMEOUT + 1
        assert (len(near.nodes), near.degraded) == (2, ["graph"])
        assert taken, "the server was asked"


def test_after_a_failure_the_next_reads_do_not_wait(world, mira):
    with server(hang) as (port, taken):
        store = MirroredGraph(View(world, GM), neo_at(port))
        async_to_sync(store.neighbors)(mira)
        asked = len(taken)
        for _read in range(10):
            assert async_to_sync(store.neighbors)(mira).degraded == ["graph"]
        assert len(taken) == asked


def test_one_read_at_a_time_tries_whether_the_server_is_back(settings, mira):
    settings.NEO4J_BACKOFF = 0.0
    with server(hang) as (port, _taken):
        neo = neo_at(port)
        assert neo.may_try()
        with pytest.raises(TimeoutError):
            async_to_sync(neo.read)(run_nothing)
        assert [neo.may_try() for _caller in range(3)] == [True, False, False]
        time.sleep(TIMEOUT)
        assert neo.may_try(), "the one that tried has not come back"


def test_a_write_is_given_up_too(world, settings, mira):
    settings.NEO4J_TIMEOUT = 0.02
    upsert_facts(world, [node("Late Comer")])
    with server(hang) as (port, _taken), pytest.raises(TimeoutError):
        mirror.copy_pending(neo_at(port))


def test_a_rebuild_does_not_wait_for_a_server_that_says_nothing(settings, mira):
    settings.NEO4J_TIMEOUT = 0.02
    with server(hang) as (port, _taken), pytest.raises(TimeoutError):
        neo_at(port).run("RETURN 1")


def test_over_rest_a_hung_server_costs_the_timeout_once(world, mira, settings):
    with server(hang) as (port, _taken):
        engine = ApiClient(world, audience="gm", scopes=["tools:read"])
        engine.get("world/graph/neighbors?entity=Mira+Voss")  # the first request imports the views
        settings.NEO4J_URL = f"bolt://127.0.0.1:{port}"
        for most in (TIMEOUT + 1, TIMEOUT):
            started = time.monotonic()
            status, near = engine.get("world/graph/neighbors?entity=Mira+Voss")
            assert time.monotonic() - started < most
            assert (status, near["degraded"]) == (200, ["graph"])


async def run_nothing(tx: Any) -> None:
    await tx.run("RETURN 1")
