"""A site of its own, by `manage.py up`: with its own PostgreSQL, Redis and embedding server."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from django.conf import settings

from memory_site.embedded.server import EmbeddedServer
from tests.loopback.brokers import free_port, require_program
from tests.loopback.postgres import copy_test_database
from tests.loopback.server import Loopback

START_SECONDS = 240
NAMES = {
    "web": "memory_site.web_server",
    "worker": "memory_site worker",
    "beat": "memory_site.beat",
}
"""Part of the command line of each process."""


@dataclass
class Site:
    folder: Path
    embedder: Loopback
    port: int = field(default_factory=free_port)
    redis_port: int = field(default_factory=free_port)
    up: "subprocess.Popen[bytes] | None" = None
    redis: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "MEMORY37_VAR": str(self.folder),
            "EMBEDDER": "openai",
            "OPENAI_BASE_URL": self.embedder.url,
            "OPENAI_API_KEY": "any",
            "EMBEDDING_TIMEOUT": "3",
            "EMBEDDING_QUERY_TIMEOUT": "2",
            "CELERY_BROKER_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "PYTHONWARNINGS": "ignore",
        }
        return {k: v for k, v in os.environ.items() if k != "DATABASE_URL"} | own

    def start(self) -> None:
        """Copy the test database, start everything, return when all parts work."""
        server = EmbeddedServer(self.folder / "postgres")
        server.ensure_running()
        copy_test_database(server, "memory37")
        self.start_redis()
        with (self.folder / "up.log").open("w") as log:
            command = [sys.executable, "manage.py", "up", "--no-demo", "--port", str(self.port)]
            self.up = subprocess.Popen(
                command, env=self.environment, cwd=settings.BASE_DIR, stdout=log, stderr=log
            )
        assert wait_for(self.is_whole, START_SECONDS), (self.folder / "up.log").read_text()
        server.leave()

    def start_redis(self) -> None:
        program = require_program("redis-server", "redis-server")
        options = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""]
        with (self.folder / "redis.log").open("a") as log:
            self.redis = subprocess.Popen(
                [program, *options, "--dir", str(self.folder)], stdout=log, stderr=log
            )

    def stop(self) -> None:
        if self.up:
            self.up.send_signal(signal.SIGINT)
            self.up.wait(timeout=60)
        if self.redis:
            self.redis.kill()
            self.redis.wait()

    def is_whole(self) -> bool:
        """Whether every part of the site works."""
        with contextlib.suppress(httpx2.HTTPError, ValueError):
            answer = httpx2.get(f"{self.url}/health/ready", timeout=10)
            return answer.status_code == 200 and not answer.json()["reasons"]
        return False

    def pid(self, name: str) -> int:
        """Return the process of `name` once it runs."""
        assert wait_for(lambda: bool(self._pids(name)), START_SECONDS)
        return self._pids(name)[0]

    def postmaster(self) -> int:
        home = (self.folder / "postgres").resolve()
        return int((home / "data" / "postmaster.pid").read_text().split()[0])

    def backends(self) -> list[int]:
        """The server's processes of connections."""
        return [pid for pid in children(self.postmaster()) if " memory37 " in command_of(pid)]

    def run(self, *arguments: str) -> str:
        """Run a command of manage.py on the site; return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=self.environment,
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in (0, 1), done.stderr + done.stdout
        return done.stdout

    def doctor(self) -> list[dict[str, Any]]:
        findings: list[dict[str, Any]] = json.loads(self.run("doctor", "--json"))
        return findings

    def _pids(self, name: str) -> list[int]:
        assert self.up is not None
        return [pid for pid in children(self.up.pid) if NAMES[name] in command_of(pid)]


def children(parent: int) -> list[int]:
    """The child processes of `parent` that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, ppid = stat.read_text().rpartition(")")[2].split()[:2]
            if int(ppid) == parent and state != "Z":
                found.append(int(stat.parent.name))
    return found


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False
