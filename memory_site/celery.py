"""The Celery application. Tasks live in each app's `tasks` module."""

import os

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")


def _broker() -> dict[str, object]:
    from memory_site.broker import (
        celery_defaults,
    )  # needs configured settings, so not at import time

    return celery_defaults()


app = Celery("memory37")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.add_defaults(_broker)
app.autodiscover_tasks()


def sweep_at_start(**_signal: object) -> None:
    """Sweep as soon as a worker is there: after a crash, a restart or the first import nobody waits
    for the clock."""
    app.send_task("retrieval.tasks.sweep")


worker_ready.connect(sweep_at_start)
