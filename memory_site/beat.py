"""The scheduler's own Celery application: it only sends the names of tasks, so it loads neither
Django's apps nor the packages of the embedding models, which would take 300 MB.

Any number of schedulers may run; one of them sends (`memory_site.presence`).
"""

import os

from celery import Celery
from celery.signals import beat_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")


def _broker() -> dict[str, object]:
    # Imported late: it needs configured settings.
    from memory_site.broker import celery_defaults

    return celery_defaults()


def wait_for_turn(**_signal: object) -> None:
    from memory_site.presence import hold_beat_lock

    hold_beat_lock()


app = Celery("memory37-beat", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.add_defaults(_broker)
beat_init.connect(wait_for_turn)
