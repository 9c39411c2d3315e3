"""A PostgreSQL that the product did not start, by TCP, and PgBouncer in transaction mode before it;
two machines with folders of their own on one database."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from django.conf import settings

from memory_site.backup.write import write_backup
from tests.loopback.brokers import free_port, running
from tests.loopback.postgres import TcpServer, pgbouncer, tcp_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
SECRET = "the same on every machine, long enough for everyone to be content with it"
MAKE_WORLD = """
import django
django.setup()
from worlds.audiences import GM
from worlds.keys import Scope, create_key
from worlds.models import World
world = World.objects.create(slug="ferrymark", name="Ferrymark")
scopes = (Scope.TOOLS_READ, Scope.WORLD_WRITE, Scope.AGENT_WRITE)
print(create_key(world, name="engine", scopes=scopes, audience=GM, namespace="engine")[1])
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TcpServer]:
    with tcp_server(tmp_path) as server:
        yield server


def environment(url: str, var: Path, **own: str) -> dict[str, str]:
    """Of a process with a folder of its own."""
    fixed = {"DATABASE_URL": url, "MEMORY37_VAR": str(var), "SECRET_KEY": SECRET}
    names = {"EMBEDDER": "hashing", "DJANGO_SETTINGS_MODULE": "memory_site.settings"}
    return {**os.environ, **fixed, **names, "PYTHONWARNINGS": "ignore", **own}


def make_key(url: str, var: Path) -> str:
    command = [sys.executable, "-c", MAKE_WORLD]
    done = subprocess.run(
        command, env=environment(url, var), cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@contextmanager
def web(url: str, var: Path, key: str, **own: str) -> Iterator[httpx2.Client]:
    """A web process and a client of it."""
    var.mkdir(exist_ok=True)
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "memory_site.asgi:application"]
    options = ["--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    log = var / "web.log"
    with running([*command, *options], port, log, environment(url, var, **own)):
        headers = {"Authorization": f"Bearer {key}"}
        address = f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=address, headers=headers, timeout=30) as client:
            yield client


@contextmanager
def celery(url: str, var: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    var.mkdir(exist_ok=True)
    with (var / f"{arguments[1]}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "--quiet", "-A", *arguments],
            env=environment(url, var),
            cwd=settings.BASE_DIR,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def write(client: httpx2.Client, slug: str, title: str, body: str) -> None:
    texts = {"slug": slug, "title": title, "kind": "place", "body": body}
    entry = {**texts, "visibility": "public", "status": "published"}
    answer = client.put("/api/v1/world/lore", json=entry)
    assert answer.status_code in (200, 201), answer.text


def titles(client: httpx2.Client, query: str) -> list[str]:
    answer = client.post("/api/v1/tools/lore_search", json={"query": query, "k": 3})
    assert answer.status_code == 200, answer.text
    return [hit["title"] for hit in answer.json()["hits"]]


def wait_for(condition: Callable[[], bool], seconds: float = 180) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.3)
    return False


def parts(client: httpx2.Client) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(client.get("/health/ready").text)["parts"]
    return answer


def test_web_works_through_pgbouncer_in_transaction_mode(server: TcpServer, tmp_path: Path) -> None:
    key = make_key(server.url(), tmp_path / "var")
    folder = tmp_path / "pgbouncer"
    folder.mkdir()
    with (
        pgbouncer(server, folder) as url,
        web(url, tmp_path / "var", key, DATABASE_POOLER="true") as client,
    ):
        for number in range(8):
            write(client, f"pier-{number}", f"Pier {number}", "Boats moor here at high tide.")
        for number in range(8):
            assert f"Pier {number}" in titles(client, f"pier {number}")
        ready = parts(client)
        assert (ready["database"], ready["migrations"]) == ("ok", "ok")


def test_two_machines_share_one_database_and_one_scheduler(
    server: TcpServer, tmp_path: Path
) -> None:
    url, here, there = server.url(), tmp_path / "here", tmp_path / "there"
    key = make_key(url, here)
    worker = ("memory_site", "worker", "--pool", "threads", "--concurrency", "1")
    beat = ("memory_site.beat", "beat", "--loglevel", "INFO")
    with ExitStack() as stack:
        first = stack.enter_context(web(url, here, key))
        second = stack.enter_context(web(url, there, key))
        stack.enter_context(celery(url, there, *worker, "--without-mingle", "-n", "there@x"))
        schedulers = [stack.enter_context(celery(url, var, *beat)) for var in (here, there)]
        assert titles(second, "Tin Heron") == []  # so that its caches know the world
        write(first, "tin-heron", "Tin Heron", "An inn with four rooms.")
        assert titles(second, "Tin Heron") == ["Tin Heron"]
        write(first, "tin-heron", "Brass Gull", "An inn with four rooms.")
        assert titles(second, "Brass Gull") == ["Brass Gull"]
        working = wait_for(lambda: parts(first)["worker"] == parts(second)["worker"] == "ok")
        assert working, (there / "worker.log").read_text()[-3000:]
        assert wait_for(lambda: parts(second)["beat"] == "ok")
        logs = [(var / "beat.log") for var in (here, there)]
        assert wait_for(lambda: any("Sending due task" in log.read_text() for log in logs))
        sends = ["Sending due task" in log.read_text() for log in logs]
        assert sorted(sends) == [False, True], "exactly one scheduler sends"
        schedulers[sends.index(True)].kill()
        other = logs[sends.index(False)]
        assert wait_for(lambda: "Sending due task" in other.read_text()), "the other takes over"


def manage(url: str, var: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "manage.py", *arguments]
    own = environment(url, var)
    return subprocess.run(command, env=own, cwd=settings.BASE_DIR, capture_output=True, text=True)


def test_a_role_without_privileges_is_enough_once_the_extension_is_there(
    server: TcpServer, tmp_path: Path
) -> None:
    """Only a superuser may create the extension, so a restoration must not drop it."""
    write_backup(tmp_path / "all.backup")
    with psycopg.connect(server.url(), autocommit=True) as root:
        root.execute("CREATE ROLE site LOGIN")
        root.execute("CREATE DATABASE own OWNER site")
    url = f"postgres://site:any@127.0.0.1:{server.port}/own"
    checked = manage(url, tmp_path / "var", "check", "--database", "default")
    assert "memory37.E009" in checked.stderr
    hint = re.search(r'psql -d own -c "(.*)"', checked.stderr)
    assert hint is not None
    with psycopg.connect(server.url("own"), autocommit=True) as root:
        root.execute(hint[1])
    for option in ((), ("--replace",)):
        done = manage(url, tmp_path / "var", "restore", str(tmp_path / "all.backup"), *option)
        assert done.returncode == 0, done.stderr
