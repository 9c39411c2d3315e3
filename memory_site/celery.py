"""The Celery application. Tasks live in each app's `tasks` module."""

import os

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")


def _broker() -> dict[str, object]:
    # Imported late: it needs configured settings.
    from memory_site.broker import celery_defaults

    return celery_defaults()


app = Celery("memory37", task_cls="memory_site.site_task:SiteTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.add_defaults(_broker)
app.autodiscover_tasks()


def sweep_at_start(**_signal: object) -> None:
    """Sweep as soon as a worker runs, so that nobody waits for the clock after a crash, a restart,
    an upgrade or the first import."""
    app.send_task("retrieval.tasks.sweep")
    app.send_task("knowledge.tasks.update_rules")
    app.send_task("memories.tasks.embed_intent_examples")


def announce_worker(**_signal: object) -> None:
    from memory_site.presence import announce_worker

    announce_worker()


worker_ready.connect(sweep_at_start)


def deliver_to_webhooks(**_signal: object) -> None:
    from worlds.webhooks.courier import start_couriers

    start_couriers()


def end_long_work(**_signal: object) -> None:
    from retrieval.indexing import request_stop

    request_stop()


worker_ready.connect(announce_worker)
worker_ready.connect(deliver_to_webhooks)
worker_shutting_down.connect(end_long_work)
