"""What is stored of sign-ins is kept for a while only: it holds the addresses of people."""

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from memory_site.tasks import delete_old_sign_ins

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=91)


def sign_in(django_user_model: Any, name: str) -> None:
    """Sign in as `name`, after a wrong password of somebody else."""
    django_user_model.objects.create_user(name, password="salt-and-oars")
    visitor = Client()
    visitor.post("/login/", {"username": f"not {name}", "password": "a guess"})
    visitor.post("/login/", {"username": name, "password": "salt-and-oars"})


@pytest.fixture
def pat_long_ago_and_olga_now(django_user_model: Any) -> None:
    sign_in(django_user_model, "pat")
    AccessLog.objects.update(attempt_time=timezone.now() - LONG_AGO)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    sign_in(django_user_model, "olga")


def names(model: Any) -> list[str]:
    return sorted(model.objects.values_list("username", flat=True))


@pytest.mark.usefixtures("pat_long_ago_and_olga_now")
def test_ended_sessions_and_old_records_are_deleted_and_the_others_stay() -> None:
    assert names(AccessLog) == ["olga", "pat"]
    assert delete_old_sign_ins() == {"sessions": 1, "sign-ins": 1}
    assert names(AccessLog) == ["olga"]
    assert "not olga" in names(AccessAttempt), "olga's lock must not open early"
    assert Session.objects.count() == 1


@pytest.mark.usefixtures("pat_long_ago_and_olga_now")
def test_where_the_audit_is_kept_for_ever_so_are_the_records(settings: Any) -> None:
    settings.AUDIT_DAYS = 0
    assert delete_old_sign_ins() == {"sessions": 1, "sign-ins": 0}
    assert names(AccessLog) == ["olga", "pat"]
