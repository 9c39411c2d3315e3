"""One attempt to deliver a message, and what follows from its outcome."""

import logging
import random
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from retrieval.errors import Conflict
from retrieval.models import uuid7
from worlds.webhook_model import Webhook, WebhookDelivery, WebhookProgress
from worlds.webhooks.messages import TEST, check_message
from worlds.webhooks.secret import SecretUnreadable, signature_headers
from worlds.webhooks.sender import Answer, Sender

logger = logging.getLogger(__name__)
State = WebhookDelivery.State
FIRST_DELAY, FACTOR, LONGEST_DELAY = 5.0, 3.0, 4 * 3600.0
ATTEMPTS_KEPT = 30
GONE = 410
USER_AGENT = "Memory37-Webhooks"
LEASE = timedelta(seconds=60)
HOLD = timedelta(minutes=20)
"""How long a refused event delays those after it, whatever happens to them. With the pauses
between attempts it takes about half an hour."""
NEXT_WAS_ACCEPTED = "given up: the target refuses this message and has accepted the next one"


def send(webhook: Webhook, delivery: WebhookDelivery, sender: Sender) -> Answer:
    """Send the message once and note the attempt in `delivery`, which is not saved. The id is the
    same at each attempt, the signature is new."""
    now = timezone.now()
    try:
        headers = signature_headers(
            webhook, message_id=delivery.message_id, body=delivery.body, now=now
        )
    except SecretUnreadable as error:
        answer = Answer(0, 0, error=str(error))
    else:
        headers |= {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        answer = sender.post(headers, delivery.body.encode())
    add_to_log(delivery, answer, now)
    delivery.attempt_count += 1
    return answer


def add_to_log(delivery: WebhookDelivery, answer: Answer, at: datetime) -> None:
    attempt = {
        "at": at.isoformat(),
        "status": answer.status,
        "milliseconds": answer.milliseconds,
        "error": answer.error,
        "answer": answer.text.replace("\0", ""),
    }
    delivery.attempts = [*delivery.attempts, attempt][-ATTEMPTS_KEPT:]


def delay_after(attempts: int, retry_after: int = 0) -> timedelta:
    """Return the time until the next attempt: growing, and spread so that many targets that failed
    together are not called together. A target may ask for more, up to the longest."""
    seconds = min(LONGEST_DELAY, FIRST_DELAY * FACTOR ** min(attempts - 1, 20))
    seconds *= random.uniform(0.8, 1.2)
    return timedelta(seconds=max(seconds, min(retry_after, LONGEST_DELAY)))


@transaction.atomic
def store_outcome(delivery: WebhookDelivery, answer: Answer, *, position: int, lease: UUID) -> bool:
    """Store the attempt and what follows from it; return whether the next event may be sent.
    Nothing is stored by a worker whose lease another has taken over."""
    now = timezone.now()
    progress = extend_lease(delivery.webhook, lease, now)
    if progress is None:
        return False
    if answer.is_success:
        note_success(delivery, progress, now=now, position=position)
    else:
        note_failure(delivery, progress, answer, now=now, position=position)
    delivery.save()
    progress.save()
    return delivery.state != State.RETRYING


def refused_delivery(webhook: Webhook, event_id: UUID) -> WebhookDelivery | None:
    """Return the delivery of this event if it has failed for so long that the next one is tried."""
    progress = WebhookProgress.objects.filter(
        webhook=webhook, failing_since__lte=timezone.now() - HOLD
    )
    rows = WebhookDelivery.objects.filter(webhook=webhook, state=State.RETRYING)
    return rows.filter(event_id=event_id).first() if progress.exists() else None


@transaction.atomic
def store_probe(
    delivery: WebhookDelivery,
    answer: Answer,
    *,
    refused: WebhookDelivery,
    position: int,
    lease: UUID,
) -> bool:
    """Store the attempt to deliver an event before the one that is `refused`; return whether it
    succeeded. Then the refused one is a dead letter; else nothing but the attempt is stored,
    because the target may be down."""
    now = timezone.now()
    progress = extend_lease(delivery.webhook, lease, now)
    if progress is None:
        return False
    if answer.is_success:
        add_to_log(refused, Answer(0, 0, error=NEXT_WAS_ACCEPTED), now)
        refused.state = State.DEAD
        refused.save()
        note_success(delivery, progress, now=now, position=position)
        logger.warning("Webhook %s: message %s was given up", refused.webhook_id, refused.pk)
    else:
        # Not counted: the pauses grow with the attempts since its own turn has come.
        delivery.attempt_count -= 1
        if answer.status == GONE:
            disable(delivery.webhook, Webhook.Disabled.GONE)
    delivery.save()
    progress.save()
    return answer.is_success


def extend_lease(webhook: Webhook, lease: UUID, now: datetime) -> WebhookProgress | None:
    """Lock the progress and extend the lease, which is not saved; None: another has taken over."""
    rows = WebhookProgress.objects.select_for_update()
    progress = rows.filter(webhook=webhook, lease=lease).first()
    if progress is not None:
        progress.leased_until = now + LEASE
    return progress


def note_success(
    delivery: WebhookDelivery, progress: WebhookProgress, *, now: datetime, position: int
) -> None:
    delivery.state = State.DELIVERED
    progress.position, progress.last_success_at = position, now
    progress.failing_since = progress.next_attempt_at = None


def note_failure(
    delivery: WebhookDelivery,
    progress: WebhookProgress,
    answer: Answer,
    *,
    now: datetime,
    position: int,
) -> None:
    progress.failing_since = progress.failing_since or now
    if delivery.give_up_after is None:
        delivery.give_up_after = now + timedelta(days=settings.WEBHOOK_RETRY_DAYS)
    if answer.status == GONE:
        disable(delivery.webhook, Webhook.Disabled.GONE)
    elif now - progress.failing_since >= timedelta(days=settings.WEBHOOK_DISABLE_DAYS):
        disable(delivery.webhook, Webhook.Disabled.FAILING)
    if now >= delivery.give_up_after:
        # A dead letter: it can be sent again by hand, and what came after it goes on.
        delivery.state, progress.position = State.DEAD, position
        progress.next_attempt_at = None
    else:
        progress.next_attempt_at = now + delay_after(delivery.attempt_count, answer.retry_after)


def disable(webhook: Webhook, reason: Webhook.Disabled) -> None:
    now = timezone.now()
    Webhook.objects.filter(pk=webhook.pk, disabled="").update(
        disabled=reason, disabled_at=now, updated_at=now
    )


@transaction.atomic
def enable(webhook: Webhook) -> None:
    """Go on with the event at which the webhook stopped, as if it had not failed before."""
    Webhook.objects.filter(pk=webhook.pk).update(
        disabled="", disabled_at=None, updated_at=timezone.now()
    )
    WebhookProgress.objects.filter(webhook=webhook).update(failing_since=None, next_attempt_at=None)
    waiting = WebhookDelivery.objects.filter(webhook=webhook, state=State.RETRYING)
    waiting.update(give_up_after=None)


def send_test(webhook: Webhook) -> WebhookDelivery:
    """Send a test message, once, also to a webhook that is disabled."""
    delivery = WebhookDelivery(
        webhook=webhook, message_id=f"test_{uuid7()}", type=TEST, body=check_message(webhook)
    )
    return send_once(webhook, delivery)


def redeliver(webhook: Webhook, delivery: WebhookDelivery) -> WebhookDelivery:
    """Send a message of the log again, once. Raises `Conflict` for one that is still tried."""
    if delivery.state == State.RETRYING:
        raise Conflict("This message is still tried: it will be sent again by itself.")
    return send_once(webhook, delivery)


def send_once(webhook: Webhook, delivery: WebhookDelivery) -> WebhookDelivery:
    if not connection.in_atomic_block:
        connection.close()  # others may use it while the target answers
    with Sender(webhook.url) as sender:
        answer = send(webhook, delivery, sender)
    was_delivered = delivery.state == State.DELIVERED
    delivery.state = State.DELIVERED if answer.is_success or was_delivered else State.DEAD
    delivery.save()
    return delivery


def delete_old_deliveries() -> int:
    """Delete deliveries that are done and older than `WEBHOOK_LOG_DAYS`; return how many."""
    horizon = timezone.now() - timedelta(days=settings.WEBHOOK_LOG_DAYS)
    old = WebhookDelivery.objects.filter(updated_at__lt=horizon).exclude(state=State.RETRYING)
    return old.delete()[0]
