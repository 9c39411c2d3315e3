"""What is kept for a while only."""

from celery import shared_task

from worlds import audit, idempotency


@shared_task
def delete_old_records() -> dict[str, int]:
    """Delete audited calls and stored answers that are older than the site keeps them. Returns how
    many of each."""
    return {
        "audited calls": audit.delete_old_calls(),
        "stored answers": idempotency.delete_old_writes(),
    }
