"""Delivers events to webhooks, in threads of the worker process (docs/decisions/0056).

The work is what lies in the log behind a webhook's position, so there is no message to lose. A
lease makes one thread of all workers serve a webhook; when its worker is killed, the lease runs out
and another goes on where the position is.
"""

import logging
import threading
from collections import deque
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from worlds.event_log.read import SeenEvent, events_beyond, last_positions
from worlds.webhook_model import Webhook, WebhookDelivery, WebhookProgress
from worlds.webhooks.attempts import LEASE, refused_delivery, send, store_outcome, store_probe
from worlds.webhooks.messages import caller_of_webhook, event_message, type_of
from worlds.webhooks.sender import Sender

logger = logging.getLogger(__name__)
IDLE_SECONDS = 1.0
BATCH = 200

CLAIM = """
UPDATE worlds_webhookprogress
SET lease = %(lease)s, leased_until = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE webhook_id = (
  SELECT progress.webhook_id
  FROM worlds_webhookprogress AS progress
  JOIN worlds_webhook AS webhook ON webhook.id = progress.webhook_id
  WHERE webhook.disabled = ''
    AND (progress.leased_until IS NULL OR progress.leased_until < clock_timestamp())
    AND (progress.next_attempt_at IS NULL OR progress.next_attempt_at <= clock_timestamp())
    AND EXISTS (SELECT FROM worlds_event AS event
      WHERE event.world_id = webhook.world_id AND event.position > progress.position)
  ORDER BY progress.next_attempt_at NULLS FIRST, progress.last_success_at NULLS FIRST
  LIMIT 1 FOR UPDATE OF progress SKIP LOCKED)
RETURNING webhook_id
"""


def start_couriers(**_signal: object) -> None:
    """Start the threads of this process; they run until it ends."""
    for number in range(settings.WEBHOOK_THREADS):
        name = f"webhook courier {number}"
        threading.Thread(target=run_courier, name=name, daemon=True).start()


def run_courier() -> None:
    pause = threading.Event()
    while True:
        try:
            has_worked = serve_next_webhook()
        except Exception:  # a database that restarts; what is not stored is done again
            logger.exception("A webhook could not be served; it is tried again")
            has_worked = False
        finally:
            connection.close()
        if not has_worked:
            pause.wait(IDLE_SECONDS)


def serve_next_webhook() -> bool:
    """Deliver a batch to a webhook for which events wait; return False when there is none."""
    lease = uuid4()
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"lease": lease, "seconds": LEASE.total_seconds()})
        row = cursor.fetchone()
    if row is None:
        return False
    try:
        webhook = Webhook.objects.select_related("world", "campaign").get(pk=row[0])
        deliver_batch(webhook, lease)
    finally:
        held = WebhookProgress.objects.filter(webhook_id=row[0], lease=lease)
        held.update(lease=None, leased_until=None)
    return True


def deliver_batch(webhook: Webhook, lease: UUID) -> None:
    """Deliver what comes next, until an event fails. Events that the webhook is not told of are
    passed over."""
    held = WebhookProgress.objects.filter(webhook=webhook, lease=lease)
    position = held.values_list("position", flat=True).first()
    head = last_positions([webhook.world_id]).get(webhook.world_id, 0)
    if position is None:
        return
    events, has_more = events_beyond(
        caller_of_webhook(webhook), position, limit=BATCH, kinds=webhook.kinds, until=head
    )
    waiting = deque(events)
    with Sender(webhook.url) as sender:
        while waiting:
            seen = waiting.popleft()
            if deliver_event(webhook, seen, sender, lease):
                continue
            # The target may be down, or refuse this one event alone: the next one tells.
            if not waiting or not deliver_instead(webhook, seen, waiting[0], sender, lease):
                return
            waiting.popleft()
    if not has_more:
        held.update(position=head)


def deliver_event(webhook: Webhook, seen: SeenEvent, sender: Sender, lease: UUID) -> bool:
    """Send one event; return whether the next one may follow."""
    delivery = delivery_of(webhook, seen)
    if delivery is None:
        return False
    # The message is sent while no connection to the database is held.
    connection.close()
    answer = send(delivery.webhook, delivery, sender)
    return store_outcome(delivery, answer, position=seen.event.position or 0, lease=lease)


def deliver_instead(
    webhook: Webhook, refused: SeenEvent, following: SeenEvent, sender: Sender, lease: UUID
) -> bool:
    """Send the event `following` when the one before has been `refused` for long; return whether
    the target accepted it, so that the refused one is given up."""
    held = refused_delivery(webhook, refused.event.pk)
    delivery = delivery_of(webhook, following) if held else None
    if held is None or delivery is None:
        return False
    connection.close()
    answer = send(delivery.webhook, delivery, sender)
    position = following.event.position or 0
    return store_probe(delivery, answer, refused=held, position=position, lease=lease)


def delivery_of(webhook: Webhook, seen: SeenEvent) -> WebhookDelivery | None:
    """Return the delivery of an event, which may be new; None when the webhook was disabled,
    deleted or given another address meanwhile."""
    # A secret or a state that was changed meanwhile holds from the next event on.
    current = Webhook.objects.filter(pk=webhook.pk, disabled="", url=webhook.url).first()
    if current is None:
        return None
    current.world, current.campaign = webhook.world, webhook.campaign
    delivery = WebhookDelivery.objects.filter(webhook=webhook, event_id=seen.event.pk).first()
    if delivery is None:
        delivery = WebhookDelivery(
            event_id=seen.event.pk,
            message_id=str(seen.event.pk),
            type=type_of(seen),
            body=event_message(current, seen),
        )
    delivery.webhook = current
    return delivery
