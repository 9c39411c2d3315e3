"""Make webhooks."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from retrieval.errors import Conflict
from worlds.callers import Caller
from worlds.event_log.read import last_positions, position_of
from worlds.webhook_model import Webhook, WebhookProgress
from worlds.webhooks.addresses import check_url
from worlds.webhooks.secret import encrypt, new_secret

MOST_WEBHOOKS = 50
LATEST, OLDEST = "latest", "oldest"


@transaction.atomic
def create_webhook(
    caller: Caller, *, name: str, url: str, kinds: Sequence[str], format: str, since: str
) -> tuple[Webhook, str]:
    """Store a webhook that is told what `caller` may know, and return it with its secret. It begins
    after the event `since`, or with the `latest` or `oldest`. Raises `Invalid`, `Conflict`,
    `EventsGone`."""
    webhook = Webhook(
        world=caller.world,
        campaign=caller.campaign,
        name=name,
        url=url,
        audience=str(caller.audience),
        kinds=sorted(set(kinds)),
        format=format,
    )
    return webhook, store_webhook(webhook, since=since)


@transaction.atomic
def store_webhook(webhook: Webhook, *, since: str = LATEST) -> str:
    """Store a new webhook and return its secret. Raises as `create_webhook` does."""
    require_sound_webhook(webhook)
    text = new_secret()
    webhook.secret = encrypt(text)
    webhook.save(force_insert=True)
    begin_after(webhook, since)
    return text


def require_sound_webhook(webhook: Webhook) -> None:
    """Raise `Invalid` for an address that may not be posted to, `Conflict` if a new one would be
    one too many."""
    check_url(webhook.url)
    others = Webhook.objects.filter(world_id=webhook.world_id)
    if webhook._state.adding and others.count() >= MOST_WEBHOOKS:
        raise Conflict(
            _("A world has at most %(count)s webhooks: delete one that nobody needs.")
            % {"count": MOST_WEBHOOKS}
        )


def begin_after(webhook: Webhook, since: str) -> None:
    if since == LATEST:
        position = last_positions([webhook.world_id]).get(webhook.world_id, 0)
    else:
        position = 0 if since == OLDEST else position_of(Caller.gm(webhook.world), UUID(since))
    WebhookProgress.objects.create(webhook=webhook, position=position)
