"""Delivers events to webhooks, in threads of the worker process (docs/decisions/0056).

The work is what lies in the log behind a webhook's position, so there is no message to lose. A
lease makes one thread of all workers serve a webhook; when its worker is killed, the lease runs out
and another goes on where the position is.
"""

import logging
import threading
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from worlds.event_log.read import SeenEvent, events_beyond, last_positions
from worlds.webhook_model import Webhook, WebhookDelivery, WebhookProgress
from worlds.webhooks.attempts import LEASE, send, store_outcome
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
    with Sender(webhook.url) as sender:
        for seen in events:
            if not deliver_event(webhook, seen, sender, lease):
                return
    if not has_more:
        held.update(position=head)


def deliver_event(webhook: Webhook, seen: SeenEvent, sender: Sender, lease: UUID) -> bool:
    """Send one event; return whether the next one may follow."""
    # An address, a secret or a state that was changed meanwhile holds from the next event on.
    current = Webhook.objects.filter(pk=webhook.pk, disabled="", url=webhook.url).first()
    if current is None:
        return False
    current.world, current.campaign = webhook.world, webhook.campaign
    known = WebhookDelivery.objects.filter(webhook=webhook, event_id=seen.event.pk).first()
    delivery = known or WebhookDelivery(
        webhook=current,
        event_id=seen.event.pk,
        message_id=str(seen.event.pk),
        type=type_of(seen),
        body=event_message(current, seen),
    )
    # The message is sent while no connection to the database is held.
    connection.close()
    answer = send(current, delivery, sender)
    delivery.webhook = current
    return store_outcome(delivery, answer, position=seen.event.position or 0, lease=lease)
