"""The web server on the scratch database, and a client with a persistent connection."""

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

from bench.generated_world import VECTORS_FILE, save_vectors
from memory_site.process_supervisor import free_port
from worlds.keys import create_key
from worlds.models import World

if TYPE_CHECKING:
    from retrieval.embedders import Vectors

START_SECONDS = 60
UNLIMITED_CALLS = 1_000_000


class BenchServer:
    """A server process. `ask` calls `lore_search` over HTTP with a game master's key."""

    def __init__(self, questions: "list[tuple[str, Vectors]]", k: int) -> None:
        self._k, self._folder = k, tempfile.TemporaryDirectory()
        self._key, text = create_key(
            World.objects.earliest("created_at"),
            name="bench",
            audience="gm",
            calls_per_minute=UNLIMITED_CALLS,
        )
        self._bearer = text
        save_vectors(questions, self._vectors)
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
                **database_environment(),
                VECTORS_FILE: str(self._vectors),
                "PYTHONWARNINGS": "ignore",
            },
        )
        self._client = KeepAliveClient(port)
        self._wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def _vectors(self) -> Path:
        return Path(self._folder.name) / "vectors.npz"

    def ask(self, text: str) -> dict[str, Any]:
        question = orjson.dumps({"query": text, "k": self._k})
        status, answer = self._client.ask(
            "POST /api/v1/tools/lore_search", question, Authorization=f"Bearer {self._bearer}"
        )
        body: dict[str, Any] = orjson.loads(answer)
        if status != 200 or body["degraded"] or not body["hits"]:
            raise RuntimeError(f"The server answered {status}: {str(body)[:500]}")
        return body

    def get(self, address: str, **headers: str) -> tuple[int, bytes]:
        return self._client.ask(f"GET {address}", b"", **headers)

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
        raise RuntimeError("The web server did not start; see its log above.")


class KeepAliveClient:
    """HTTP over one persistent connection. Python's own client takes 0.3 ms per call, and more
    after a pause, which would be counted as the server's time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, what: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """Send a request (`what` is method and path); return the status and the body of the
        response."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {
            "Host": "localhost",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        header_lines = [f"{name}: {value}" for name, value in headers.items()]
        lines = [f"{what} HTTP/1.1", *header_lines, "", ""]
        self._socket.sendall("\r\n".join(lines).encode() + body)
        return read_response(self._socket)

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None


def read_response(source: socket.socket) -> tuple[int, bytes]:
    got = b""
    while b"\r\n\r\n" not in got:
        got += receive(source)
    head, _line, body = got.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    while len(body) < length:
        body += receive(source)
    return int(head[9:12]), body


def receive(source: socket.socket) -> bytes:
    got = source.recv(1 << 17)
    if not got:
        raise ConnectionResetError("The server closed the connection.")
    return got


def database_environment() -> dict[str, str]:
    """Return the environment variables by which another process uses the database of this one."""
    name = str(connection.settings_dict["NAME"])
    if not settings.DATABASE_URL:
        return {"EMBEDDED_DATABASE": name}
    return {"DATABASE_URL": urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}"))}
