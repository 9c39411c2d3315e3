"""What is kept for a while only is deleted by the clock, and nothing younger."""

from datetime import timedelta

import pytest
from django.conf import settings as site
from django.utils import timezone

from memory_site.celery import app
from worlds import audit
from worlds.callers import Caller
from worlds.keys import create_key
from worlds.models import AuditedCall, IdempotentWrite
from worlds.tasks import delete_old_records

pytestmark = pytest.mark.django_db
LATE, EARLY = timedelta(days=8), timedelta(days=6)


@pytest.fixture
def rows(world, settings):
    """A call and a stored answer of eight days ago, and of six."""
    settings.AUDIT_DAYS = settings.IDEMPOTENCY_DAYS = 7
    key, _text = create_key(world, name="engine")
    for token, age in (("late", LATE), ("early", EARLY)):
        audit.record(audit.Call(token, "rest", Caller.gm(world), status=200, milliseconds=1.0))
        AuditedCall.objects.filter(tool=token).update(at=timezone.now() - age)
        IdempotentWrite.objects.create(key=key, token=token, fingerprint="x")
        IdempotentWrite.objects.filter(token=token).update(created_at=timezone.now() - age)


def left():
    return set(AuditedCall.objects.values_list("tool", flat=True)), set(
        IdempotentWrite.objects.values_list("token", flat=True)
    )


def test_what_is_older_than_the_site_keeps_it_is_deleted_batch_by_batch(rows, monkeypatch):
    monkeypatch.setattr(audit, "DELETE_BATCH", 1)  # so that there are several
    AuditedCall.objects.filter(tool="early").update(at=timezone.now() - LATE)
    assert delete_old_records() == {
        "audited calls": 2,
        "stored answers": 1,
        "events": 0,
        "deliveries": 0,
        "rows in the trash": 0,
    }
    assert left() == (set(), {"early"})
    assert delete_old_records() == {
        "audited calls": 0,
        "stored answers": 0,
        "events": 0,
        "deliveries": 0,
        "rows in the trash": 0,
    }


def test_what_is_young_enough_stays(rows):
    delete_old_records()
    assert left() == ({"early"}, {"early"})


def test_with_no_limit_the_audit_is_kept_for_ever(rows, settings):
    settings.AUDIT_DAYS = 0
    assert delete_old_records() == {
        "audited calls": 0,
        "stored answers": 1,
        "events": 0,
        "deliveries": 0,
        "rows in the trash": 0,
    }


def test_every_task_on_the_clock_is_one_that_a_worker_knows():
    app.loader.import_default_modules()
    planned = {entry["task"] for entry in site.CELERY_BEAT_SCHEDULE.values()}
    assert "worlds.tasks.delete_old_records" in planned
    assert planned - set(app.tasks) == set()
