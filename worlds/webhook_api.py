"""REST for webhooks: make, change, test and delete them, and read what was delivered."""

from typing import Literal
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status

from retrieval.errors import NotFound
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_by_id, find_campaign
from worlds.rest import GONE, NeedsKey, check_match, own_transaction, require_gm, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.versions import digest_of_row
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhook_schemas import (
    AttemptOut,
    Deliveries,
    DeliveryOut,
    SecretRotation,
    WebhookChange,
    WebhookIn,
    WebhookList,
    WebhookOut,
)
from worlds.webhooks.addresses import check_url
from worlds.webhooks.attempts import disable, enable, redeliver, send_test
from worlds.webhooks.registry import create_webhook
from worlds.webhooks.secret import rotate

router = Router(tags=["webhooks"], auth=NeedsKey(Scope.ADMIN))
SORTS = {"created": "id", "updated": "updated_at", "name": "type"}


class DeliveryQuery(ListQuery):
    state: Literal["retrying", "delivered", "dead"] | None = None


@router.get(
    "/webhooks", operation_id="webhook_list", summary="List the webhooks", response=WebhookList
)
def list_webhooks(request: HttpRequest) -> WebhookList:
    """The newest first. Their secrets are not shown."""
    rows = webhooks_of(require_gm(request)).order_by("-id")
    return WebhookList(webhooks=[present_webhook(row) for row in rows])


@router.post(
    "/webhooks",
    operation_id="webhook_create",
    summary="Make a webhook",
    response={201: WebhookOut},
    openapi_extra={"responses": {410: GONE}},
)
def post_webhook(
    request: HttpRequest, response: HttpResponse, entry: Body[WebhookIn]
) -> Status[WebhookOut]:
    """Events are posted to its address from now on. The answer holds the secret, this once."""
    caller = require_gm(request)
    campaign = caller.campaign
    if entry.campaign_id:
        campaign = find_campaign(caller.world, entry.campaign_id, only=caller.campaign)
    reader = Caller(
        caller.world,
        audience=caller.as_audience(entry.audience).audience,
        campaign=campaign,
    )
    webhook, secret = create_webhook(
        reader,
        name=entry.name,
        url=entry.url,
        kinds=entry.kinds,
        format=entry.format,
        since=str(entry.since),
    )
    response["Location"] = f"/api/v1/world/webhooks/{webhook.pk}"
    return Status(201, present_webhook(webhook, secret))


@router.get(
    "/webhooks/{uuid:webhook_id}",
    operation_id="webhook_get",
    summary="Get a webhook",
    response=WebhookOut,
)
def get_webhook(request: HttpRequest, response: HttpResponse, webhook_id: UUID) -> WebhookOut:
    """Without its secret."""
    webhook = find_webhook(require_gm(request), webhook_id)
    tag(response, digest_of(webhook))
    return present_webhook(webhook)


@router.patch(
    "/webhooks/{uuid:webhook_id}",
    operation_id="webhook_change",
    summary="Change a webhook",
    response=WebhookOut,
)
@transaction.atomic
def patch_webhook(
    request: HttpRequest, response: HttpResponse, webhook_id: UUID, change: Body[WebhookChange]
) -> WebhookOut:
    """The fields that are sent change. `enabled: true` goes on with the event at which it
    stopped."""
    webhook = find_webhook(require_gm(request), webhook_id)
    check_match(request, digest_of(webhook))
    values = change.model_dump(exclude_unset=True)
    enabled = values.pop("enabled", None)
    if "url" in values:
        check_url(values["url"])
    for name, value in values.items():
        setattr(webhook, name, value)
    webhook.save(update_fields=[*values, "updated_at"])
    if enabled is True:
        enable(webhook)
    elif enabled is False:
        disable(webhook, Webhook.Disabled.BY_HAND)
    fresh = find_webhook(require_gm(request), webhook_id)
    tag(response, digest_of(fresh))
    return present_webhook(fresh)


@router.delete(
    "/webhooks/{uuid:webhook_id}",
    operation_id="webhook_delete",
    summary="Delete a webhook",
    response={204: None},
)
@transaction.atomic
def delete_webhook(request: HttpRequest, webhook_id: UUID) -> Status[None]:
    """With the log of its deliveries."""
    webhook = find_webhook(require_gm(request), webhook_id)
    check_match(request, digest_of(webhook))
    webhook.delete()
    return Status(204, None)


@router.post(
    "/webhooks/{uuid:webhook_id}/rotate-secret",
    operation_id="webhook_rotate_secret",
    summary="Give a webhook a new secret",
    response=WebhookOut,
)
def rotate_secret(
    request: HttpRequest, webhook_id: UUID, rotation: Body[SecretRotation]
) -> WebhookOut:
    """The answer holds it, this once. Meanwhile messages have two signatures."""
    webhook = find_webhook(require_gm(request), webhook_id)
    check_match(request, digest_of(webhook))
    secret = rotate(webhook, hours=rotation.hours)
    return present_webhook(webhook, secret)


@router.post(
    "/webhooks/{uuid:webhook_id}/test",
    operation_id="webhook_test",
    summary="Send a test message",
    response=DeliveryOut,
)
@own_transaction
def post_test(request: HttpRequest, webhook_id: UUID) -> DeliveryOut:
    """It is sent once, at once; the answer says what came of it."""
    return present_delivery(send_test(find_webhook(require_gm(request), webhook_id)))


@router.get(
    "/webhooks/{uuid:webhook_id}/deliveries",
    operation_id="webhook_deliveries",
    summary="List the deliveries of a webhook",
    response=Deliveries,
)
def list_deliveries(
    request: HttpRequest, response: HttpResponse, webhook_id: UUID, query: Query[DeliveryQuery]
) -> Deliveries:
    """What was sent, with the attempts. It is kept for some weeks."""
    webhook = find_webhook(require_gm(request), webhook_id)
    rows = WebhookDelivery.objects.filter(webhook=webhook)
    if query.state:
        rows = rows.filter(state=query.state)
    page = page_of(request, response, rows, query, SORTS)
    deliveries = [present_delivery(row) for row in page.rows]
    return Deliveries(deliveries=deliveries, next_cursor=page.next_cursor)


@router.post(
    "/webhooks/{uuid:webhook_id}/deliveries/{uuid:delivery_id}/redeliver",
    operation_id="webhook_redeliver",
    summary="Send a message again",
    response=DeliveryOut,
)
@own_transaction
def post_redelivery(request: HttpRequest, webhook_id: UUID, delivery_id: UUID) -> DeliveryOut:
    """Once, at once, under the same id. 409 for one that is still tried."""
    webhook = find_webhook(require_gm(request), webhook_id)
    delivery = WebhookDelivery.objects.filter(webhook=webhook, pk=delivery_id).first()
    if delivery is None:
        raise NotFound(f"This webhook has no delivery {delivery_id}.")
    return present_delivery(redeliver(webhook, delivery))


def webhooks_of(caller: Caller) -> "QuerySet[Webhook]":
    """Those that the caller may see: of its campaign if its key is bound to one."""
    rows = Webhook.objects.filter(world=caller.world)
    rows = rows.select_related("world", "campaign", "progress")
    return rows.filter(campaign=caller.campaign) if caller.campaign else rows


def find_webhook(caller: Caller, webhook_id: UUID) -> Webhook:
    return find_by_id(webhooks_of(caller), webhook_id, what="webhook")


@transaction.atomic
def digest_of(webhook: Webhook) -> str | None:
    return digest_of_row(Webhook.objects.filter(pk=webhook.pk))


def present_webhook(webhook: Webhook, secret: str | None = None) -> WebhookOut:
    progress = webhook.progress
    return WebhookOut(
        id=webhook.pk,
        name=webhook.name,
        url=webhook.url,
        audience=webhook.audience,
        campaign_id=webhook.campaign.slug if webhook.campaign else None,
        kinds=webhook.kinds,
        format=webhook.format,
        enabled=not webhook.disabled,
        disabled_reason=webhook.disabled or None,
        disabled_at=webhook.disabled_at,
        failing_since=progress.failing_since,
        next_attempt_at=progress.next_attempt_at,
        last_success_at=progress.last_success_at,
        created_at=webhook.created_at,
        updated_at=webhook.updated_at,
        secret=secret,
    )


def present_delivery(delivery: WebhookDelivery) -> DeliveryOut:
    return DeliveryOut(
        id=delivery.pk,
        message_id=delivery.message_id,
        type=delivery.type,
        state=delivery.state,
        attempt_count=delivery.attempt_count,
        attempts=[AttemptOut(**each) for each in delivery.attempts],
        created_at=delivery.created_at,
        updated_at=delivery.updated_at,
    )
