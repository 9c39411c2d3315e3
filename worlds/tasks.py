"""What is kept for a while only."""

from celery import shared_task

from worlds import audit, idempotency
from worlds.event_log.read import delete_old_events
from worlds.trash import empty_trash
from worlds.webhooks.attempts import delete_old_deliveries


@shared_task
def delete_old_records() -> dict[str, int]:
    """Delete audited calls, stored answers and rows in the trash that are older than the site keeps
    them. Returns how many of each."""
    return {
        "audited calls": audit.delete_old_calls(),
        "stored answers": idempotency.delete_old_writes(),
        "events": delete_old_events(),
        "deliveries": delete_old_deliveries(),
        "rows in the trash": empty_trash(),
    }
