"""What a webhook is told: the text of a message in each format."""

import re
from typing import Any

import orjson
from django.utils import timezone

from worlds.audiences import Audience, resolve_audience
from worlds.callers import Caller
from worlds.event_log.present import present_event
from worlds.event_log.read import SeenEvent
from worlds.webhook_model import Webhook

TEST = "webhook.test"
DISCORD_CHARS = 2000
DISCORD_MARKUP = re.compile(r"([\\*_~`|>\[\]()#-])")


def caller_of_webhook(webhook: Webhook) -> Caller:
    """Whoever reads the messages, with what they may know."""
    audience = resolve_audience(webhook.world, Audience.parse(webhook.audience))
    return Caller(webhook.world, audience=audience, campaign=webhook.campaign)


def type_of(seen: SeenEvent) -> str:
    return f"{seen.event.kind}.{seen.action.value}"


def event_message(webhook: Webhook, seen: SeenEvent) -> str:
    with_version = Audience.parse(webhook.audience).is_gm
    event = present_event(seen, with_version=with_version)
    if webhook.format == Webhook.Format.DISCORD:
        return discord_message(f"{webhook.world.name}: {event.kind} {event.ref} {event.action}")
    return standard_message(webhook, type_of(seen), event.at, event.model_dump())


def check_message(webhook: Webhook) -> str:
    """The message of a test."""
    if webhook.format == Webhook.Format.DISCORD:
        return discord_message(f"{webhook.world.name}: test")
    return standard_message(webhook, TEST, timezone.now(), {"webhook": webhook.pk})


def standard_message(webhook: Webhook, kind: str, at: Any, data: dict[str, Any]) -> str:
    body = {"type": kind, "timestamp": at, "world": webhook.world.slug, "data": data}
    return orjson.dumps(body).decode()


def discord_message(text: str) -> str:
    """A message that notifies nobody by a name in it and shows markup as it is written."""
    content = DISCORD_MARKUP.sub(r"\\\1", text)[:DISCORD_CHARS]
    return orjson.dumps({"content": content, "allowed_mentions": {"parse": []}}).decode()
