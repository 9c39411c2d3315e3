"""The scheduler that sends the tasks which are due."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from memory_site.beat import Scheduler


@pytest.fixture
def scheduler(tmp_path: Path) -> Any:
    app = Celery("test", broker="memory://")
    app.conf.beat_schedule = {
        "mirror": {"task": "mirror", "schedule": 10.0},
        "sweep": {"task": "sweep", "schedule": 60.0},
    }
    scheduler = Scheduler(app=app, schedule_filename=str(tmp_path / "schedule"), lazy=True)
    scheduler.setup_schedule()
    yield scheduler
    scheduler.close()


def test_a_clock_that_is_set_back_delays_no_task_beyond_its_interval(scheduler: Any) -> None:
    scheduler.tick()
    for entry in scheduler.schedule.values():
        entry.last_run_at = scheduler.app.now() + timedelta(hours=3)
    scheduler.populate_heap()
    # The wait until the next task is due.
    assert scheduler.tick() <= 10
    last = {entry.name: entry.last_run_at for entry in scheduler.schedule.values()}
    assert all(when <= scheduler.app.now() for when in last.values())
