"""Bulk tasks run one at a time in a process, and wait in order; other tasks run at once."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memory_site.bulk_line import BulkLine, TaskCall, bulk_line
from memory_site.celery import app as site
from memory_site.task_breaker import Breaker
from tests.conftest import ApiClient
from worlds.models import ImportRun, World

FIRST, SECOND, THIRD = (TaskCall(name, ()) for name in ("first", "second", "third"))


@pytest.fixture
def sent() -> list[tuple[str, tuple[Any, ...]]]:
    return []


@pytest.fixture
def tasks(sent: list[tuple[str, tuple[Any, ...]]], monkeypatch: Any) -> Iterator[Celery]:
    """An application whose messages are recorded instead of sent."""
    app = Celery(
        "test", broker="memory://", set_as_current=False, task_cls="memory_site.site_task:SiteTask"
    )
    monkeypatch.setattr(
        app, "send_task", lambda name, args=(), *_rest, **_more: sent.append((name, tuple(args)))
    )
    monkeypatch.setattr(
        "celery.app.task.Task.apply_async",
        lambda task, args=(), *_rest, **_more: sent.append((task.name, tuple(args))),
    )
    yield app
    app.close()


def in_thread(work: Any) -> Any:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()
    thread.join(10)
    return answers[0]


def test_a_bulk_task_waits_while_another_one_runs(tasks: Celery, sent: list[Any]) -> None:
    @tasks.task(name="test.read", is_bulk=True)  # type: ignore[untyped-decorator]
    def read(text: str) -> str:
        return text

    @tasks.task(name="test.other")  # type: ignore[untyped-decorator]
    def other() -> str:
        return "done"

    @tasks.task(name="test.embed", is_bulk=True)  # type: ignore[untyped-decorator]
    def embed() -> str:
        assert in_thread(lambda: read("a")) is None
        assert in_thread(other) == "done", "a task that is no bulk task does not wait"
        assert sent == []
        return "embedded"

    assert embed() == "embedded"
    assert sent == [("test.read", ("a",))], "it is sent when the running one has ended"
    assert read("a") == "a"


def test_a_task_that_continues_comes_after_those_that_waited(
    tasks: Celery, sent: list[Any]
) -> None:
    @tasks.task(name="test.read_next", is_bulk=True)  # type: ignore[untyped-decorator]
    def read() -> None:
        """Nothing to do."""

    @tasks.task(name="test.embed_more", is_bulk=True)  # type: ignore[untyped-decorator]
    def embed() -> None:
        in_thread(read)
        in_thread(read)
        embed.delay()

    embed()
    assert sent == [("test.read_next", ()), ("test.embed_more", ())]


def test_a_bulk_task_that_fails_lets_the_next_one_run(tasks: Celery) -> None:
    @tasks.task(name="test.read_faulty", is_bulk=True)  # type: ignore[untyped-decorator]
    def read(text: str) -> str:
        if not text:
            raise ValueError("a text that cannot be read")
        return text

    with pytest.raises(ValueError, match="cannot be read"):
        read("")
    assert read("a") == "a"


def test_waiting_calls_are_returned_once_and_in_order() -> None:
    line = BulkLine()
    assert line.enter(FIRST)
    assert not line.enter(SECOND)
    assert not line.enter(THIRD)
    assert not line.enter(SECOND)
    assert line.leave() == [SECOND, THIRD]
    assert line.enter(SECOND)
    assert line.leave() == []


def test_what_takes_long_and_nobody_waits_for_is_a_bulk_task() -> None:
    names = {name.rpartition(".")[2] for name, task in site.tasks.items() if task_is_bulk(task)}
    assert names >= {"embed", "sweep", "switch_vectors", "read_saved_texts", "read_texts_of_world"}
    assert not names & {"read_import", "check_import", "write_import", "make_archive"}
    assert bulk_line.enter(FIRST), "no test leaves the line held"
    assert bulk_line.leave() == []


def task_is_bulk(task: Any) -> bool:
    return bool(getattr(task, "is_bulk", False))


@pytest.fixture
def no_broker(monkeypatch: Any) -> None:
    """As if the broker had failed a moment ago."""
    failed = Breaker()
    failed.open()
    monkeypatch.setattr("memory_site.site_task.breaker", failed)


@pytest.mark.django_db
@pytest.mark.usefixtures("no_broker")
def test_an_upload_is_taken_while_the_broker_is_down(
    world: World, engine: ApiClient, django_capture_on_commit_callbacks: Any, caplog: Any
) -> None:
    """Whoever got an error would send it again, and both would be imported later."""
    file = SimpleUploadedFile("notes.md", b"- Lio keeps the ferry.")
    with django_capture_on_commit_callbacks(execute=True):
        answer = engine.client.post("/api/v1/world/imports", {"files": file})
    assert answer.status_code == 201, answer.content
    assert ImportRun.objects.get().state == ImportRun.State.READING
    assert "read_import waits for the next sweep" in caplog.text


@pytest.mark.django_db
@pytest.mark.usefixtures("no_broker")
def test_work_that_no_row_stands_for_is_refused_while_the_broker_is_down(
    world: World, engine: ApiClient, admin_client: Client
) -> None:
    status, answer = engine.post("world/fact-proposals/read", {})
    assert (status, answer["code"]) == (503, "worker_down"), answer
    assert "worker" in answer["title"]
    page = admin_client.post(reverse("fact-proposals-read", args=[world.slug]))
    assert page.status_code == 503
