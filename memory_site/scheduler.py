"""When the tasks that are due are sent.

Not in `memory_site.beat`, whose import makes its application the one that this process sends by.
"""

from typing import Any

from celery.beat import PersistentScheduler


class Scheduler(PersistentScheduler):  # type: ignore[misc]
    """Celery's own, which would send nothing for as long as the clock was set back."""

    def tick(self, *args: Any, **options: Any) -> Any:
        now, entries = self.app.now(), self.schedule.values()
        late = [entry for entry in entries if entry.last_run_at and entry.last_run_at > now]
        for entry in late:
            entry.last_run_at = now
        if late:
            self.populate_heap()
        return super().tick(*args, **options)
