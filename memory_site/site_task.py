"""The class of all tasks: sent at once or not at all, and bulk tasks one at a time."""

import logging
from typing import Any

from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

from memory_site.bulk_line import TaskCall, bulk_line
from memory_site.task_breaker import breaker

logger = logging.getLogger(__name__)


class SiteTask(Task):  # type: ignore[misc]  # celery is not typed
    """A task whose message is sent at once or not at all. What matters is a row, which the next
    sweep finds; a caller whose task is no row gets the error.

    With `is_bulk` it runs when no other bulk task does in this process (`memory_site.bulk_line`).
    """

    abstract = True
    is_bulk = False

    def apply_async(self, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        call = TaskCall(self.name, tuple(args or ()))
        if self.is_bulk and not options and bulk_line.append_if_held(call):
            return None
        breaker.check()
        try:
            return super().apply_async(args, kwargs, **options)
        except OperationalError:
            breaker.open()
            raise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_bulk:
            return super().__call__(*args, **kwargs)
        if not bulk_line.enter(TaskCall(self.name, args)):
            return None
        try:
            return super().__call__(*args, **kwargs)
        finally:
            self._send(bulk_line.leave())

    def _send(self, calls: list[TaskCall]) -> None:
        """Send the tasks that waited. The first to arrive runs, here or in another process."""
        try:
            for call in calls:
                self.app.tasks[call.task].delay(*call.args)
        except OperationalError as problem:
            logger.warning("%d bulk tasks wait for the next sweep: %s", len(calls), problem)


def send_after_commit(task: Task, row: Any) -> None:
    """Send `task` for `row` when the transaction has been committed. A broker that is down fails no
    request: the row is stored, and a sweep finds it. Call it for rows that have such a sweep."""

    def send() -> None:
        try:
            task.delay(str(row.pk))
        except OperationalError as problem:
            logger.warning("%s waits for the next sweep: %s", task.name, problem)

    transaction.on_commit(send)
