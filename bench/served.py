"""The web server over the bench's database, asked by one client that keeps its connection."""

import json
import os
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection

from bench.generated import VECTORS_FILE, remember
from memory_site.supervising import free_port
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
        self._key, text = create_key(World.objects.get(), name="bench", audience="gm", calls_per_minute=MANY)
        self._headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}
        remember(questions, self._vectors)
        port = free_port(0)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "memory_site.asgi:application", "--port", str(port), "--no-access-log",
             "--log-level", "warning", "--timeout-keep-alive", "75"],
            env={**os.environ, **_database(), VECTORS_FILE: str(self._vectors), "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
        self._client = HTTPConnection("127.0.0.1", port, timeout=60)
        self._wait()

    @property
    def _vectors(self) -> Path:
        return Path(self._folder.name) / "vectors.npz"

    def ask(self, text: str) -> dict[str, Any]:
        self._client.request(
            "POST", "/api/v1/tools/lore_search", json.dumps({"query": text, "k": self._k}), self._headers
        )
        answer = self._client.getresponse()
        body: dict[str, Any] = json.loads(answer.read())
        if answer.status != 200 or body["degraded"] or not body["hits"]:
            raise RuntimeError(f"The server answered {answer.status}: {str(body)[:500]}")
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
                self._client.request("GET", "/health/live")
                self._client.getresponse().read()
            except OSError:
                self._client.close()
                if self._process.poll() is not None:
                    break
                time.sleep(0.2)
            else:
                return
        self.stop()
        raise RuntimeError("The web server did not start; its lines above say why.")


def _database() -> dict[str, str]:
    """The environment that leads another process to the database of this one."""
    name = str(connection.settings_dict["NAME"])
    if not settings.DATABASE_URL:
        return {"EMBEDDED_DATABASE": name}
    return {"DATABASE_URL": urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}"))}
