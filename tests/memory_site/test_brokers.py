"""The brokers beside the one in the database: Redis and RabbitMQ, each a real server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from kombu.exceptions import OperationalError

from memory_site import checks
from memory_site.broker import celery_defaults
from memory_site.task_breaker import Breaker
from tests.loopback.brokers import rabbitmq_server, redis_server
from tests.memory_site.test_worker import wait_for, waiting, worker, write
from worlds.models import World

Server = AbstractContextManager[tuple[str, "subprocess.Popen[bytes]"]]
SERVERS: dict[str, Callable[[Path], Server]] = {
    "redis": redis_server,
    "rabbitmq": rabbitmq_server,
}
SEND = """
import sys, time
import django
django.setup()
from kombu.exceptions import OperationalError
from retrieval.tasks import embed
for _attempt in range(3):
    start = time.monotonic()
    try:
        embed.delay("lore")
        print("sent", flush=True)
    except OperationalError as problem:
        print(f"failed {time.monotonic() - start:.2f}", flush=True)
"""


@pytest.fixture(params=SERVERS)
def broker(request: Any, tmp_path: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    with SERVERS[request.param](tmp_path) as server:
        yield server


def send(address: str) -> list[str]:
    """Send a task three times in a process that uses the broker at `address`."""
    environment = {
        **os.environ,
        "CELERY_BROKER_URL": address,
        "DJANGO_SETTINGS_MODULE": "memory_site.settings",
        "EMBEDDER": "hashing",
    }
    done = subprocess.run(
        [sys.executable, "-c", SEND], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:3]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("DATABASE_URL" in os.environ, reason="the worker uses the embedded database")
def test_a_worker_embeds_what_another_process_asks_for(
    world: World, broker: tuple[str, "subprocess.Popen[bytes]"]
) -> None:
    address, server = broker
    write(world, range(3))
    with worker(CELERY_BROKER_URL=address) as process:
        assert wait_for(lambda: waiting() == 0)
        write(world, range(3, 6))
        assert send(address) == ["sent"] * 3
        assert wait_for(lambda: waiting() == 0, seconds=30)
        assert process.poll() is None
    os.killpg(server.pid, signal.SIGSTOP)  # RabbitMQ is a child of its script
    try:
        answers = send(address)
    finally:
        os.killpg(server.pid, signal.SIGCONT)
    assert all(each.startswith("failed") for each in answers), answers
    seconds = [float(each.split()[1]) for each in answers]
    assert seconds[0] < 15
    assert max(seconds[1:]) < 0.5, "a broker that hangs is asked again at once"


def messages(settings: Any, address: str) -> dict[str, str]:
    settings.CELERY_BROKER_URL = address
    return {str(each.id): str(each.hint) for each in run_checks() if str(each.id)[9:11] == "E0"}


def test_a_broker_without_its_package_is_reported(settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda _name: None)
    assert "requirements-redis.txt" in messages(settings, "redis://localhost")["memory37.E007"]
    assert "requirements-rabbitmq.txt" in messages(settings, "amqps://localhost")["memory37.E007"]
    assert "memory37.E007" not in messages(settings, "")


def test_a_broker_that_nobody_tested_is_reported(settings: Any) -> None:
    assert "redis://" in messages(settings, "mongodb://localhost")["memory37.E006"]
    assert "memory37.E006" not in messages(settings, "redis://localhost")


def test_every_server_answers_within_a_limit(settings: Any) -> None:
    settings.CELERY_BROKER_URL = "redis://localhost"
    assert celery_defaults()["broker_transport_options"]["socket_timeout"] == 5
    settings.CELERY_BROKER_URL = "amqp://localhost"
    assert celery_defaults()["broker_transport_options"]["read_timeout"] == 5


def test_the_broker_is_tried_again_after_a_rest(monkeypatch: Any) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    breaker = Breaker()
    breaker.check()
    breaker.open()
    with pytest.raises(OperationalError):
        breaker.check()
    now += 11
    breaker.check()
