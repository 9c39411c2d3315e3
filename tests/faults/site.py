"""A site of its own, by `manage.py up`: with its own PostgreSQL, Redis, Neo4j, embedding server and
language model, on a disk of its own, with a clock that a test can set."""

import contextlib
import json
import os
import shutil
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

from knowledge.graph.mirror import rebuild_mirror
from knowledge.graph.neo4j_driver import Neo4j
from memory_site.embedded.server import EmbeddedServer
from tests.faults.clock import Clock
from tests.faults.disk import SmallDisk
from tests.knowledge.graph.neo4j_server import Neo4jServer
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
    disk: SmallDisk
    models: Loopback
    """The embedding server and the language model."""
    port: int = field(default_factory=free_port)
    redis_port: int = field(default_factory=free_port)
    up: "subprocess.Popen[bytes] | None" = None
    redis: "subprocess.Popen[bytes] | None" = None

    def __post_init__(self) -> None:
        self.neo4j = Neo4jServer(self.disk.outside / "neo4j", quick=True)
        self.clock = Clock(self.disk.outside)

    @property
    def folder(self) -> Path:
        return self.disk.folder

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "MEMORY37_VAR": str(self.folder / "var"),
            "EMBEDDER": "openai",
            "OPENAI_BASE_URL": self.models.url,
            "OPENAI_API_KEY": "any",
            "EMBEDDING_TIMEOUT": "1",
            "EMBEDDING_QUERY_TIMEOUT": "1",
            "LLM_MODEL": "scripted",
            "LLM_TIMEOUT": "1",
            "LLM_REST": "1",
            "NEO4J_URL": self.neo4j.uri,
            "NEO4J_USER": self.neo4j.auth[0],
            "NEO4J_PASSWORD": self.neo4j.auth[1],
            "NEO4J_TIMEOUT": "1",
            "NEO4J_BACKOFF": "1",
            "CELERY_BROKER_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "PYTHONWARNINGS": "ignore",
        }
        inherited = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"}
        return inherited | own | self.clock.environment

    def start(self) -> None:
        """Copy the test database, start everything, return when all parts work."""
        self.neo4j.home.mkdir(parents=True)
        self.neo4j.start()
        self._copy_graph()
        server = EmbeddedServer(self.folder / "var" / "postgres")
        server.ensure_running()
        copy_test_database(server, "memory37")
        server.leave()  # so that the site starts it, with the site's clock
        self.start_redis()
        with self.log.open("w") as log:
            command = [sys.executable, "manage.py", "up", "--no-demo", "--port", str(self.port)]
            self.up = subprocess.Popen(
                command, env=self.environment, cwd=settings.BASE_DIR, stdout=log, stderr=log
            )
        assert wait_for(self.is_whole, START_SECONDS), self.log.read_text()

    @property
    def log(self) -> Path:
        """On the disk that gets full, as the log of an installation is."""
        return self.folder / "up.log"

    def end_of_log(self) -> str:
        return self.log.read_text(errors="replace")[-6000:]

    def start_redis(self) -> None:
        program = require_program("redis-server", "redis-server")
        options = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""]
        with (self.disk.outside / "redis.log").open("a") as log:
            self.redis = subprocess.Popen(
                [program, *options, "--dir", str(self.disk.outside)], stdout=log, stderr=log
            )

    def stop(self) -> None:
        if self.up:
            self.up.send_signal(signal.SIGINT)
            self.up.wait(timeout=60)
        if self.redis:
            self.redis.kill()
            self.redis.wait()
        self.neo4j.kill()
        shutil.rmtree(self.neo4j.home, ignore_errors=True)

    def is_whole(self) -> bool:
        """Whether every part of the site works."""
        with contextlib.suppress(httpx2.HTTPError, ValueError):
            answer = httpx2.get(f"{self.url}/health/ready", timeout=10, verify=False)
            return answer.status_code == 200 and not answer.json()["reasons"]
        return False

    def pid(self, name: str) -> int:
        """Return the process of `name` once it runs."""
        assert wait_for(lambda: bool(self._pids(name)), START_SECONDS), self.log.read_text()[-3000:]
        return self._pids(name)[0]

    def postmaster(self) -> int:
        home = (self.folder / "var" / "postgres").resolve()
        return int((home / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def database(self) -> str:
        """The connection string of the site's database, past the site."""
        socket = EmbeddedServer(self.folder / "var" / "postgres").socket_dir
        return f"host={socket} user=memory37 dbname=memory37 connect_timeout=5"

    def backends(self) -> list[int]:
        """The server's processes of connections."""
        return [pid for pid in children(self.postmaster()) if " memory37 " in command_of(pid)]

    def examine(self, seconds: float) -> dict[str, Any]:
        """Run `tests.faults.examination` on the site; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.faults.examination", str(seconds)],
            env=self.environment | {"DJANGO_SETTINGS_MODULE": "memory_site.settings"},
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 300,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    def _copy_graph(self) -> None:
        """Fill Neo4j from the test database, which says from now on that it is mirrored."""
        neo = Neo4j(self.neo4j.uri, *self.neo4j.auth, "neo4j")
        try:
            rebuild_mirror(neo)
        finally:
            neo.close()

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
        time.sleep(0.3)
    return False
