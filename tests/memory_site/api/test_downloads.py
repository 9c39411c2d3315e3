"""A file goes to the client block by block: neither its size nor a slow client takes memory or a
connection to the database."""

import asyncio
import tracemalloc
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection
from django.urls import reverse

from memory_site.asgi import OneThreadHandler
from tests.people import member
from worlds import keys
from worlds.archive_run import ArchiveRun
from worlds.models import World

pytestmark = pytest.mark.django_db(transaction=True)
SIZE = 20_000_000


@pytest.fixture
def scope(world: World) -> dict[str, Any]:
    """The request for the file of an archive of `SIZE` bytes."""
    run = ArchiveRun(kind="archive", world=world, file_name="world.zip", size=SIZE, state="done")
    run.file.save(f"{run.pk}.zip", ContentFile(b"m" * SIZE), save=True)
    path = f"/api/v1/world/archives/{run.pk}/file"
    _key, text = keys.create_key(world, name="download", audience="gm", scopes=["admin"])
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {text}".encode())]
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
    }


@pytest.fixture
def handler() -> OneThreadHandler:
    import_module(settings.ROOT_URLCONF)  # else the first request does it, which takes memory
    return OneThreadHandler(ThreadPoolExecutor(1))


async def request(
    handler: OneThreadHandler, scope: dict[str, Any], read: Callable[[bytes], Awaitable[bool]]
) -> dict[str, Any]:
    """Send the request; `read` gets each block of the answer, and returns whether the client stays.
    Returns the start of the answer."""
    is_gone, start = asyncio.Event(), {}
    sent = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if sent:
            return sent.pop()
        await is_gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif not await read(message["body"]):
            is_gone.set()
            await asyncio.sleep(0)

    await handler(scope, receive, send)
    return start


def test_a_download_takes_the_memory_of_a_block(
    handler: OneThreadHandler, scope: dict[str, Any]
) -> None:
    received = 0

    async def read(block: bytes) -> bool:
        nonlocal received
        received += len(block)
        return True

    tracemalloc.start()
    try:
        start = asyncio.run(request(handler, scope, read))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert start["status"] == 200
    assert (b"content-length", str(SIZE).encode()) in start["headers"]
    assert received == SIZE
    assert peak < SIZE / 2


def test_a_download_holds_no_connection_to_the_database(
    handler: OneThreadHandler, scope: dict[str, Any]
) -> None:
    held = []

    async def read(_block: bytes) -> bool:
        held.append(handler.threads.submit(lambda: connection.connection).result())
        return True

    asyncio.run(request(handler, scope, read))
    assert len(held) > 1
    assert set(held) == {None}


def test_a_client_that_leaves_ends_its_download(
    handler: OneThreadHandler, scope: dict[str, Any]
) -> None:
    blocks = []

    async def read(block: bytes) -> bool:
        blocks.append(len(block))
        return False

    asyncio.run(request(handler, scope, read))
    assert sum(blocks) < SIZE / 2


def test_of_a_head_request_no_file_is_read(
    handler: OneThreadHandler, scope: dict[str, Any], world: World
) -> None:
    anna = member(world, "anna", role="gm")
    cookie = f"sessionid={anna.cookies['sessionid'].value}".encode()
    scope["method"], scope["headers"] = "HEAD", [(b"host", b"localhost"), (b"cookie", cookie)]
    scope["path"] = reverse("archive-file", args=[world.slug, ArchiveRun.objects.get().pk])
    blocks = []

    async def read(block: bytes) -> bool:
        blocks.append(block)
        return True

    start = asyncio.run(request(handler, scope, read))
    assert start["status"] == 200
    assert (b"content-length", str(SIZE).encode()) in start["headers"]
    assert blocks == [b""]
