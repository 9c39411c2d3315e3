"""Agent memory's periodic work."""

from celery import shared_task

from memories import forgetting


@shared_task
def expire_memories() -> int:
    """Take out of use what has expired."""
    return forgetting.expire()
