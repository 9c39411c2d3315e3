"""The scheduler that sends the tasks which are due."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery, current_app

from memory_site.scheduler import Scheduler


@pytest.fixture
def scheduler(tmp_path: Path) -> Any:
    app = Celery("test", broker="memory://", set_as_current=False)
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


def test_tasks_of_this_process_are_sent_by_the_application_of_the_site() -> None:
    """Another one that a test imports or makes would send them by the broker of the site's own
    database."""
    assert current_app.main == "memory37"
