"""Texts that a person sends to a channel by hand, once, with the outcome in the log of deliveries.

delivery = send_text(channel, "Session 4 …", kind="recap", audience=Audience("party", "gulls"))
"""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from retrieval.errors import Forbidden, Invalid
from retrieval.models import uuid7
from worlds.audiences import Audience
from worlds.models import World
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhooks.attempts import send_once
from worlds.webhooks.messages import DISCORD_CHARS, discord_message
from worlds.webhooks.registry import store_webhook

MOST_MESSAGES = 5
SHARE_OF_TEXT = 0.8
"""Share of a message that text fills: backslashes before its marks take the rest."""


def may_receive(webhook: Webhook, audience: Audience) -> bool:
    """Whether those who read the webhook may read what is made for `audience`."""
    return Audience.parse(webhook.audience).covers(audience)


@transaction.atomic
def create_channel(world: World, *, name: str, url: str, audience: Audience) -> Webhook:
    """Store a Discord channel that gets no events: only what is sent by hand. One with this address
    and audience that is there already is used again. Raises `Invalid`, `Conflict`."""
    rows = Webhook.objects.filter(world=world, url=url, audience=str(audience))
    if known := rows.filter(format=Webhook.Format.DISCORD).first():
        return known
    webhook = Webhook(
        world=world,
        name=name,
        url=url,
        audience=str(audience),
        format=Webhook.Format.DISCORD,
        disabled=Webhook.Disabled.BY_HAND,
        disabled_at=timezone.now(),
    )
    store_webhook(webhook)
    return webhook


def send_text(webhook: Webhook, text: str, *, kind: str, audience: Audience) -> WebhookDelivery:
    """Send `text`, which is made for `audience`, once; a long one as several messages, until one
    fails. Return the last delivery. Raises `Forbidden`, `Invalid`. Must not run in a
    transaction."""
    if not may_receive(webhook, audience):
        raise Forbidden(
            _("%(webhook)s is read by %(audience)s, not by %(other)s.")
            % {"webhook": webhook.name, "audience": webhook.audience, "other": audience}
        )
    if not text.strip():
        raise Invalid(_("There is nothing to send yet."))
    for part in parts_of(text):
        delivery = WebhookDelivery(
            webhook=webhook,
            message_id=f"{kind}_{uuid7()}",
            type=kind,
            body=discord_message(part),
        )
        delivery = send_once(webhook, delivery)
        if delivery.state != WebhookDelivery.State.DELIVERED:
            break
    return delivery


def parts_of(text: str) -> list[str]:
    """Cut the text between words into messages that Discord takes."""
    most = int(DISCORD_CHARS * SHARE_OF_TEXT)
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > most and len(parts) < MOST_MESSAGES - 1:
        cut = max(rest.rfind("\n", 0, most), rest.rfind(" ", 0, most))
        cut = cut if cut > most // 2 else most
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*parts, rest[:most]]
