"""Web and worker are killed while changes are written: no consumer misses one.

`EVENT_FAULT_CHANGES=10000` writes that many.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.db import connection, connections

from memory_site.process_supervisor import free_port
from npcs.models import NPC
from tests.conftest import ApiClient
from tests.memory_site.api.event_reader import reading, wait_for
from tests.memory_site.api.webhook_receiver import receiving
from tests.memory_site.test_worker import END_POLLS, WORKER
from worlds import keys
from worlds.event_model import Event
from worlds.models import World

CHANGES = int(os.environ.get("EVENT_FAULT_CHANGES", "240"))
WRITERS = 4
SECONDS = 120 + CHANGES // 10
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(2 * SECONDS),
    pytest.mark.skipif(
        "DATABASE_URL" in os.environ, reason="the processes use the embedded test database"
    ),
]


class Process:
    """A process of the site on the test database, which can be killed and started again."""

    def __init__(self, command: str) -> None:
        self.command, self.kills = command, 0
        self.start()

    def start(self) -> None:
        environment = {
            **os.environ,
            "EMBEDDED_DATABASE": connection.settings_dict["NAME"],
            "EMBEDDER": "hashing",
            "PYTHONWARNINGS": "ignore",
            "WEBHOOK_PRIVATE_ADDRESSES": "127.0.0.1",
        }
        self.process = subprocess.Popen(
            [sys.executable, *self.command.split()],
            env=environment,
            cwd=settings.BASE_DIR,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1


@contextmanager
def running(command: str) -> Iterator[Process]:
    process = Process(command)
    try:
        yield process
    finally:
        process.kill()


def write(world: World, writer: int) -> None:
    try:
        for number in range(CHANGES // WRITERS):
            NPC.objects.create(world=world, slug=f"{writer}-{number}", name="Extra")
            time.sleep(0.01)
    finally:
        connections.close_all()


class Consumers:
    """A program that polls and one that reads the stream; each goes on where it was."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key, self.stopped = url, key, threading.Event()
        self.polled: list[str] = []
        self.streamed: list[str] = []

    def poll(self) -> None:
        since, headers = "oldest", {"Authorization": f"Bearer {self.key}"}
        while not self.stopped.is_set():
            with suppress(httpx2.HTTPError):
                answer = httpx2.get(
                    f"{self.url}/api/v1/events?since={since}&limit=500", headers=headers, timeout=10
                )
                if answer.status_code == 200:
                    self.polled += [each["id"] for each in answer.json()["events"]]
                    since = answer.json()["next"] or since
            time.sleep(0.05)

    def stream(self) -> None:
        last = "oldest"
        while not self.stopped.is_set():
            with reading(self.url, self.key, **{"Last-Event-ID": last}) as reader:
                while reader.thread.is_alive() and not self.stopped.is_set():
                    time.sleep(0.05)
            ids = [each["id"] for each in reader.events]
            self.streamed += ids
            last = ids[-1] if ids else last
            time.sleep(0.1)


def test_nothing_is_lost_when_web_and_worker_are_killed(world: World) -> None:
    _key, key = keys.create_key(
        world, name="k", audience="gm", scopes=["tools:read"], calls_per_minute=1_000_000
    )
    port = free_port(8400)
    web = f"-m uvicorn memory_site.asgi:application --port {port} --log-level error"
    with ExitStack() as stack:
        target = stack.enter_context(receiving())
        make_webhook(world, target.url)
        processes = [stack.enter_context(running(each)) for each in (web, WORKER)]
        consumers = Consumers(f"http://127.0.0.1:{port}", key)
        readers = [threading.Thread(target=each) for each in (consumers.poll, consumers.stream)]
        writers = [threading.Thread(target=write, args=[world, each]) for each in range(WRITERS)]
        for thread in (*readers, *writers):
            thread.start()
        kill_while(processes, writers)
        events = Event.objects.filter(world=world).order_by("position")
        written = [str(pk) for pk in events.values_list("pk", flat=True)]
        done = wait_for(lambda: len(set(target.ids)) == len(written), SECONDS)
        has_polled = wait_for(lambda: len(consumers.polled) >= len(written), 60)
        time.sleep(3)
        consumers.stopped.set()
        for thread in readers:
            thread.join(30)
    with connection.cursor() as cursor:
        cursor.execute(END_POLLS)
    assert len(written) == CHANGES
    assert min(each.kills for each in processes) >= 3
    assert has_polled
    assert consumers.polled == written
    assert consumers.streamed == written
    assert done, f"{len(set(target.ids))} of {len(written)} reached the webhook"
    assert list(dict.fromkeys(target.ids)) == written, "in order, but for repetitions"
    print(f"{len(target.ids) - len(written)} messages came twice; {processes[0].kills} kills")


def make_webhook(world: World, url: str) -> None:
    allowed = settings.WEBHOOK_PRIVATE_ADDRESSES
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    try:
        entry: dict[str, Any] = {"name": "engine", "url": url, "audience": "gm"}
        assert ApiClient(world, scopes=["admin"]).post("world/webhooks", entry)[0] == 201
    finally:
        settings.WEBHOOK_PRIVATE_ADDRESSES = allowed


def kill_while(processes: list[Process], writers: list[threading.Thread]) -> None:
    """Kill all processes again and again while changes are written, at least twice."""
    while any(each.is_alive() for each in writers) or processes[0].kills < 2:
        time.sleep(5)
        for process in processes:
            process.kill()
            process.start()
