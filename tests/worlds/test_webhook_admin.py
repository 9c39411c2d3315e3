"""Webhooks in the admin: made, tried out and followed without REST."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from standardwebhooks import Webhook as Verifier

from tests import cast
from tests.admin_forms import save_form
from tests.memory_site.api.webhook_receiver import Receiver, receiving
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Membership, World
from worlds.webhook_model import Webhook, WebhookDelivery
from worlds.webhooks.registry import create_webhook

pytestmark = pytest.mark.django_db
LIST = "/admin/worlds/webhook/"
LOG = "/admin/worlds/webhookdelivery/"


@pytest.fixture
def target(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def designer(world: World) -> Client:
    user = User.objects.create_user("dora")
    Membership.objects.create(user=user, world=world, role="designer")
    client = Client()
    client.force_login(user)
    return client


def form(world: World, address: str, **more: Any) -> dict[str, Any]:
    fields = {"name": "bot", "url": address, "world": str(world.pk), "audience": "gm"}
    return {**fields, "format": "standard", "kinds": ["npc"], **more}


def make(designer: Client, world: World, target: Receiver) -> tuple[Webhook, str]:
    page = designer.post(f"{LIST}add/", form(world, target.url), follow=True).content.decode()
    secret = re.search(r"whsec_[\w+/=]+", page)
    assert secret, page
    return Webhook.objects.get(), secret[0]


def test_the_secret_of_a_new_webhook_is_shown_once(
    designer: Client, world: World, target: Receiver
) -> None:
    webhook, secret = make(designer, world, target)
    assert (webhook.kinds, webhook.audience, webhook.progress.position) == (["npc"], "gm", 0)
    change = designer.get(f"{LIST}{webhook.pk}/change/").content.decode()
    assert secret not in change + designer.get(LIST).content.decode()


def test_labels_begin_with_a_capital(designer: Client) -> None:
    page = designer.get(f"{LIST}add/").content.decode()
    labels = [text.strip() for text in re.findall(r"<label[^>]*>\s*([^<\s][^<]*)<", page)]
    assert "Kinds" in labels
    assert "kinds" not in labels


def test_the_test_button_says_what_came_of_it(
    designer: Client, world: World, target: Receiver
) -> None:
    webhook, secret = make(designer, world, target)
    button = f"{LIST}{webhook.pk}/test/"
    assert "Delivered in" in designer.get(button, follow=True).content.decode()
    [(headers, body)] = target.messages
    assert Verifier(secret).verify(body, headers)
    target.status = 500
    assert "Not delivered: " in designer.get(button, follow=True).content.decode()
    log = designer.get(LOG).content.decode()
    assert "Given up" in log
    assert "Delivered" in log


def test_a_message_of_the_log_is_sent_again(
    designer: Client, world: World, target: Receiver
) -> None:
    webhook, _secret = make(designer, world, target)
    target.status = 500
    designer.get(f"{LIST}{webhook.pk}/test/")
    target.status = 204
    delivery = WebhookDelivery.objects.get()
    action = {"action": "send_again", "_selected_action": [str(delivery.pk)]}
    assert "Delivered in" in designer.post(LOG, action, follow=True).content.decode()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempt_count) == ("delivered", 2)
    assert target.ids[0] == target.ids[1]


def test_a_webhook_is_changed_disabled_and_enabled(
    designer: Client, world: World, target: Receiver
) -> None:
    webhook, _secret = make(designer, world, target)
    changed = {"name": "other", "url": target.url, "kinds": [], "audience": "public"}
    save_form(designer, f"{LIST}{webhook.pk}/change/", changed)
    webhook.refresh_from_db()
    # What waits was written for the audience.
    assert (webhook.name, webhook.kinds, webhook.audience) == ("other", [], "gm")
    for action, disabled in (("switch_off", "by_hand"), ("switch_on", "")):
        designer.post(LIST, {"action": action, "_selected_action": [str(webhook.pk)]})
        webhook.refresh_from_db()
        assert webhook.disabled == disabled


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"url": "http://169.254.169.254/x"}, "no public address"),
        ({"audience": "god"}, "Unknown audience"),
    ],
)
def test_what_rest_refuses_the_form_refuses(
    designer: Client, world: World, target: Receiver, wrong: dict[str, str], told: str
) -> None:
    page = designer.post(f"{LIST}add/", form(world, target.url, **wrong)).content.decode()
    assert told in page
    assert not Webhook.objects.exists()


def test_another_worlds_webhooks_are_not_there(designer: Client, world: World) -> None:
    elsewhere = cast.create_world(slug="elsewhere", name="Elsewhere")
    caller = Caller(elsewhere, audience=Audience("gm"))
    webhook, _secret = create_webhook(
        caller,
        name="foreign",
        url="https://engine.example.org/x",
        kinds=[],
        format="standard",
        since="latest",
    )
    WebhookDelivery.objects.create(webhook=webhook, message_id="m", type="npc.hidden", body="{}")
    assert "foreign" not in designer.get(LIST).content.decode()
    assert "npc.hidden" not in designer.get(LOG).content.decode()
    assert designer.get(f"{LIST}{webhook.pk}/test/").status_code in (302, 403, 404)
    assert WebhookDelivery.objects.count() == 1
