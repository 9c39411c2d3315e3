"""`/health/ready`: which parts work, and what to do about those that do not."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from memory_site import checks, health
from memory_site.broker import conninfo
from memory_site.presence import BEAT_KEYS, WORKER_KEYS, is_beat_running, is_locked
from retrieval.embedders import serving_models
from retrieval.models import ServingModel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lock_holder() -> Iterator[Any]:
    with psycopg.connect(conninfo(), autocommit=True) as raw:
        yield raw


def ready(client: Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/health/ready").json()
    return answer


def test_a_site_without_worker_and_scheduler_says_so(client: Client, lock_holder: Any) -> None:
    answer = ready(client)
    assert (answer["parts"]["worker"], answer["parts"]["beat"]) == ("down", "down")
    assert {"worker", "beat"} <= set(answer["degraded"])
    assert "started again" in answer["reasons"]["worker"]
    lock_holder.execute("SELECT pg_advisory_lock_shared(%s, %s)", WORKER_KEYS)
    lock_holder.execute("SELECT pg_advisory_lock(%s, %s)", BEAT_KEYS)
    answer = ready(client)
    assert (answer["parts"]["worker"], answer["parts"]["beat"]) == ("ok", "ok")
    assert not {"worker", "beat"} & set(answer["reasons"])


def test_a_probe_by_address_over_plain_http_is_answered(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.METRICS = True, True
    settings.ALLOWED_HOSTS = ["memory.example.org"]
    probe = Client(HTTP_HOST="10.0.0.9:8000")
    for path in ("/health/live", "/health/ready", "/metrics"):
        answer = probe.get(path)
        assert answer.status_code == 200, path
        assert answer["X-Content-Type-Options"] == "nosniff"
    assert probe.get("/api/v1/tools/openai.json").status_code == 400
    moved = Client(HTTP_HOST="memory.example.org").get("/api/v1/tools/openai.json")
    assert moved.status_code == 301


def test_without_a_database_the_answer_waits_for_nothing(client: Client, monkeypatch: Any) -> None:
    def fail() -> None:
        raise psycopg.OperationalError("connection refused")

    database = health.PARTS[0]._replace(probe=fail)
    monkeypatch.setattr(health, "probe_database", fail)
    monkeypatch.setattr(health, "PARTS", (database, *health.PARTS[1:]))
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    parts = answer.json()["parts"]
    assert parts["database"] == "down"
    assert {parts[each] for each in ("migrations", "vectors", "worker", "beat")} == {"unknown"}
    assert next(iter(answer.json()["reasons"])) == "database"


def test_one_of_several_schedulers_runs(lock_holder: Any) -> None:
    assert is_locked(lock_holder)
    with psycopg.connect(conninfo(), autocommit=True) as second:
        assert not is_locked(second)
        lock_holder.execute("SELECT pg_advisory_unlock_all()")
        assert is_locked(second)
        assert is_beat_running()


def test_vectors_of_another_model_are_reported(client: Client) -> None:
    ServingModel.objects.create(domain="lore", model="a hosted model")
    serving_models.read_serving_models()
    answer = ready(client)
    assert answer["status"] == "ready"
    assert "vector" in answer["degraded"]
    assert "switch_model" in answer["reasons"]["vectors"]


def test_a_graph_server_that_does_not_answer_is_reported(client: Client, settings: Any) -> None:
    settings.NEO4J_URL = "bolt://127.0.0.1:9"
    answer = ready(client)
    assert "graph" in answer["degraded"]
    assert "PostgreSQL answers" in answer["reasons"]["graph"]


def test_a_database_of_a_newer_version_is_refused(client: Client) -> None:
    MigrationRecorder.Migration.objects.create(app="knowledge", name="9999_from_the_future")
    try:
        message = checks.check_database("default")[-1]
        # Two versions run side by side during an upgrade, so the older one goes on serving.
        assert ready(client)["status"] == "ready"
    finally:
        MigrationRecorder.Migration.objects.filter(name="9999_from_the_future").delete()
    assert message.id == "memory37.E008"
    assert "knowledge.9999_from_the_future" in str(message.msg)
    assert "upgrading.md" in str(message.hint)
    assert checks.check_database("default") == []
