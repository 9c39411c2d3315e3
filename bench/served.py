"""The web server over the bench's database, asked by one client that keeps its connection."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import orjson
from django.conf import settings
from django.db import connection

from bench.generated import VECTORS_FILE, remember
from memory_site.process_supervisor import free_port
from worlds.keys import create_key
from worlds.models import World

if TYPE_CHECKING:
    from retrieval.embedders import Vectors

START_SECONDS = 60
MANY = 1_000_000


class Served:
    """A server process of its own; `ask` is one call of `lore_search` over HTTP, by a game master's key."""

    def __init__(self, questions: "list[tuple[str, Vectors]]", k: int) -> None:
        self._k, self._folder = k, tempfile.TemporaryDirectory()
        self._key, text = create_key(
            World.objects.get(), name="bench", audience="gm", calls_per_minute=MANY
        )
        self._bearer = text
        remember(questions, self._vectors)
        port = free_port(0)
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "uvicorn",
                "memory_site.asgi:application",
                "--port",
                str(port),
                "--no-access-log",
                "--log-level",
                "warning",
                "--timeout-keep-alive",
                "75",
            ],
            env={
                **os.environ,
                **_database(),
                VECTORS_FILE: str(self._vectors),
                "PYTHONWARNINGS": "ignore",
            },
        )
        self._client = ThinClient(port)
        self._wait()

    @property
    def _vectors(self) -> Path:
        return Path(self._folder.name) / "vectors.npz"

    def ask(self, text: str) -> dict[str, Any]:
        asked = orjson.dumps({"query": text, "k": self._k})
        status, told = self._client.ask(
            "POST /api/v1/tools/lore_search", asked, Authorization=f"Bearer {self._bearer}"
        )
        body: dict[str, Any] = orjson.loads(told)
        if status != 200 or body["degraded"] or not body["hits"]:
            raise RuntimeError(f"The server answered {status}: {str(body)[:500]}")
        return body

    def stop(self) -> None:
        self._client.close()
        self._process.terminate()
        self._process.wait(timeout=30)
        self._key.delete()
        self._folder.cleanup()

    def _wait(self) -> None:
        for _try in range(START_SECONDS * 5):
            try:
                self._client.ask("GET /health/live")
            except OSError:
                self._client.close()
                if self._process.poll() is not None:
                    break
                time.sleep(0.2)
            else:
                return
        self.stop()
        raise RuntimeError("The web server did not start; its lines above say why.")


class ThinClient:
    """HTTP over one kept connection, at next to no cost: Python's own client takes 0.3 ms a call (and more after a
    pause), which is not the server's."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, what: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """Send `what` (method and path) with `body`; return the status and the body of the answer."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        told = {
            "Host": "localhost",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        lines = [f"{what} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode() + body)
        return _answer(self._socket)

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None


def _answer(source: socket.socket) -> tuple[int, bytes]:
    got = b""
    while b"\r\n\r\n" not in got:
        got += _received(source)
    head, _line, body = got.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    while len(body) < length:
        body += _received(source)
    return int(head[9:12]), body


def _received(source: socket.socket) -> bytes:
    got = source.recv(1 << 17)
    if not got:
        raise ConnectionResetError("The server closed the connection.")
    return got


def _database() -> dict[str, str]:
    """The environment that leads another process to the database of this one."""
    name = str(connection.settings_dict["NAME"])
    if not settings.DATABASE_URL:
        return {"EMBEDDED_DATABASE": name}
    return {"DATABASE_URL": urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}"))}
