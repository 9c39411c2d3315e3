"""A real Celery worker on the real broker (pgmq in the test database)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from knowledge.entry_store import save_entry
from knowledge.models import Lore, LorePassage
from memory_site import tasks
from memory_site.imports.uploads import create_run
from retrieval.tasks import embed_soon
from tests.conftest import ApiClient
from tests.loopback.brokers import rabbitmq_server, redis_server
from worlds.models import ImportRun, World

END_POLLS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND query ILIKE '%read_with_poll%' AND pid <> pg_backend_pid()
"""
"""Of this database alone: other test processes share the server, and the last query of a connection
that ran this statement holds the same words."""
WORKER = "-m celery --quiet -A memory_site worker --pool threads --loglevel ERROR --without-mingle"


@contextmanager
def worker(*, threads: int = 1, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker on the test database; `settings` are environment variables."""
    name = connection.settings_dict["NAME"]
    environment = {
        **os.environ,
        "EMBEDDED_DATABASE": name,
        "EMBEDDER": "hashing",
        "PYTHONWARNINGS": "ignore",
        **settings,
    }
    process = subprocess.Popen(
        [sys.executable, *WORKER.split(), "--concurrency", str(threads)],
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with (
            connection.cursor() as cursor
        ):  # its poll goes on in the server for a while, and the database is dropped next
            cursor.execute(END_POLLS)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def waiting() -> int:
    return LorePassage.objects.filter(embedded_rev__lt=F("rev")).count()


def write(world: World, numbers: range) -> None:
    for number in numbers:
        save_entry(
            Lore(
                world=world,
                slug=f"pier-{number}",
                title=f"Pier {number}",
                body=f"Boats moor at pier {number}.",
            )
        )


pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "DATABASE_URL" in os.environ, reason="the worker is pointed at the embedded test database"
    ),
]


def test_what_is_written_over_the_api_is_embedded_by_the_worker(
    world: World, engine: ApiClient
) -> None:
    with worker():
        entry = {
            "slug": "tin-heron",
            "title": "Tin Heron",
            "kind": "place",
            "body": "An inn with four rooms.",
            "visibility": "public",
        }
        status, _body = engine.put("world/lore", entry)
        assert status in (200, 201)
        assert LorePassage.objects.exists()
        assert wait_for(lambda: waiting() == 0)


def test_a_worker_that_is_killed_loses_no_work(world: World) -> None:
    write(world, range(30))
    embed_soon("lore")
    with worker() as first:
        wait_for(lambda: waiting() < 30, seconds=30)
        first.kill()
    write(world, range(30, 40))  # nobody sends a hint for these
    with worker():
        LorePassage.objects.filter(embedded_rev__lt=F("rev")).update(
            embed_after=None
        )  # as if the leases had run out
        assert wait_for(lambda: waiting() == 0)
    assert LorePassage.objects.count() == 40


@pytest.mark.parametrize("broker", [None, redis_server, rabbitmq_server])
def test_an_import_is_read_while_many_texts_wait_for_vectors(
    world: World, broker: Any, tmp_path: Path
) -> None:
    write(world, range(400))  # fifty seconds of work for one thread
    server = broker(tmp_path) if broker else nullcontext(("", None))
    with server as (address, _process), slow_worker(address):
        assert wait_for(lambda: waiting() < 400)
        for _number in range(2):
            send_by(address, "retrieval.tasks.embed", "lore")
        file = SimpleUploadedFile("notes.md", b"- Lio keeps the ferry.")
        run = create_run(world, [file], user=None)
        send_by(address, "memory_site.tasks.read_import", str(run.pk))
        assert wait_for(lambda: state_of(run) == ImportRun.State.READY, seconds=10)
        assert waiting() > 100


def test_an_import_whose_message_was_lost_is_read_all_the_same(world: World) -> None:
    file = SimpleUploadedFile("notes.md", b"- Lio keeps the ferry.")
    run = create_run(world, [file], user=None)
    with worker(MEDIA_ROOT=str(settings.MEDIA_ROOT)):
        tasks.resume_imports()
        assert not wait_for(lambda: state_of(run) == ImportRun.State.READY, seconds=2), "too early"
        ImportRun.objects.update(created_at=timezone.now() - timedelta(minutes=2))
        tasks.resume_imports()
        assert wait_for(lambda: state_of(run) == ImportRun.State.READY, seconds=30)


def slow_worker(broker: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return worker(
        threads=2,
        CELERY_BROKER_URL=broker,
        EMBEDDER="tests.loopback.slow_embedder.SlowEmbedder",
        MEDIA_ROOT=str(settings.MEDIA_ROOT),
    )


def state_of(run: ImportRun) -> str:
    return ImportRun.objects.values_list("state", flat=True).get(pk=run.pk)


def send_by(broker: str, task: str, *args: str) -> None:
    """Send a task as another process does."""
    program = (
        "import sys; from memory_site.celery import app; app.send_task(sys.argv[1], sys.argv[2:])"
    )
    environment = {
        **os.environ,
        "CELERY_BROKER_URL": broker,
        "EMBEDDED_DATABASE": connection.settings_dict["NAME"],
    }
    subprocess.run(
        [sys.executable, "-c", program, task, *args], env=environment, check=True, timeout=60
    )


def test_the_site_is_ready_with_its_broker(world: World, client: Client) -> None:
    answer = client.get("/health/ready").json()
    assert answer["status"] == "ready"
    assert answer["parts"]["broker"] == "ok"
