"""Clients that send next to nothing do not hold the server."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn

from memory_site import web_server

CLIENTS = 200


async def answer_plainly(scope: Any, _receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await asyncio.sleep(0.6 if scope["path"] == "/slow" else 0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 0.4)
    options = {**web_server.server_options(), "lifespan": "off"}
    server = uvicorn.Server(uvicorn.Config(answer_plainly, host="127.0.0.1", port=0, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(timeout=10)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=15)


def ask(client: socket.socket, path: str = "/") -> bytes:
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return client.recv(4096)


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(100) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("begin", [b"", b"GE", b"GET / HTTP/1.1\r\nHost: a\r\nX: "])
def test_connections_whose_heads_do_not_come_are_closed(port: int, begin: bytes) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(connect(port)) for _client in range(CLIENTS)]
        for client in slow:
            client.sendall(begin)
        assert b"200 OK" in ask(stack.enter_context(connect(port)))
        assert all(map(is_closed, slow))


def drip(client: socket.socket, seconds: float) -> None:
    """Send a byte of a header now and then."""
    client.sendall(b"GET / HTTP/1.1\r\nX: ")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        client.sendall(b"a")
        time.sleep(0.05)


def test_a_head_that_comes_byte_by_byte_has_the_same_time(port: int) -> None:
    with connect(port) as client, pytest.raises((BrokenPipeError, ConnectionResetError)):
        drip(client, 10)


def test_a_kept_connection_may_rest_and_ask_again(port: int) -> None:
    with connect(port) as client:
        assert b"200 OK" in ask(client)
        time.sleep(0.7)
        assert b"200 OK" in ask(client)
        client.sendall(b"GET /")
        assert is_closed(client)


def test_an_answer_may_take_longer_than_a_head(port: int) -> None:
    with connect(port) as client:
        assert b"200 OK" in ask(client, "/slow")


def test_beyond_its_connections_the_site_says_when_to_try_again(
    port: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 20)
    settings.WEB_CONNECTIONS = 3
    with ExitStack() as stack:
        kept = [stack.enter_context(connect(port)) for _client in range(3)]
        assert all(b"200 OK" in ask(client) for client in kept)
        answer = ask(stack.enter_context(connect(port)))
        head, body = answer.split(b"\r\n\r\n")
        assert b"503 Service Unavailable" in head
        assert b"retry-after: 2" in head
        assert json.loads(body)["code"] == "unavailable"
        kept.pop().close()
        time.sleep(0.1)
        assert b"200 OK" in ask(stack.enter_context(connect(port)))
