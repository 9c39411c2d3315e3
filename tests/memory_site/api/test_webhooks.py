"""Webhooks: signed, in order, at least once, only to permitted addresses, within the audience."""

import json
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from npcs.models import NPC
from retrieval.errors import Invalid
from tests import cast
from tests.conftest import ApiClient
from tests.memory_site.api.webhook_receiver import Receiver, drip, receiving
from worlds import reveals
from worlds.audiences import Audience
from worlds.models import Campaign, World
from worlds.webhook_model import Webhook, WebhookDelivery, WebhookProgress
from worlds.webhooks.addresses import check_url
from worlds.webhooks.courier import serve_next_webhook

pytestmark = pytest.mark.django_db(transaction=True)
Made = tuple[str, str]


@pytest.fixture
def target(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def admin(world: World) -> ApiClient:
    return ApiClient(world, scopes=["admin"])


def make(admin: ApiClient, target: Receiver, **more: Any) -> Made:
    """Make a webhook; return its address in the API and its secret."""
    entry = {"name": "engine", "url": target.url, "audience": "gm", **more}
    status, answer = admin.post("world/webhooks", entry)
    assert status == 201, answer
    return f"world/webhooks/{answer['id']}", answer["secret"]


def create(world: World, name: str, **fields: Any) -> NPC:
    return NPC.objects.create(world=world, slug=name, name=name, **fields)


def deliver() -> None:
    while serve_next_webhook():
        pass


def later(**shift: float) -> None:
    """Let time pass for what waits."""
    delta = timedelta(**shift)
    for progress in WebhookProgress.objects.all():
        progress.next_attempt_at = timezone.now()
        if progress.failing_since:
            progress.failing_since -= delta
        progress.save()
    for delivery in WebhookDelivery.objects.exclude(give_up_after=None):
        delivery.give_up_after -= delta
        delivery.save()


def test_changes_are_told_in_order_and_signed(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    create(world, "before")
    path, secret = make(admin, target)
    for name in ("ada", "bo", "cy"):
        create(world, name)
    deliver()
    assert target.refs == ["ada", "bo", "cy"]
    headers, body = target.messages[0]
    message = Verifier(secret).verify(body, headers)
    assert (message["type"], message["world"]) == ("npc.created", world.slug)
    assert message["data"] == admin.get("events")[1]["events"][1]
    with pytest.raises(WebhookVerificationError):
        Verifier(secret).verify(body + b" ", headers)
    assert "secret" not in {k for k, v in admin.get(path)[1].items() if v}
    assert secret not in Webhook.objects.get().secret


def test_kinds_narrow_what_is_told(world: World, admin: ApiClient, target: Receiver) -> None:
    make(admin, target, kinds=["campaign"])
    create(world, "ada")
    cast.create_campaign(world)
    deliver()
    assert [body["type"] for body in target.bodies] == ["campaign.created"]


def test_players_are_told_what_they_may_know(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    party = cast.create_party(cast.create_campaign(world))
    make(admin, target, audience=f"party:{party.slug}", kinds=["npc"])
    spy = create(world, "spy", role="traitor")
    NPC.objects.filter(pk=spy.pk).update(role="double traitor")
    create(world, "gone").delete()
    deliver()
    assert target.messages == []
    assert not WebhookDelivery.objects.exists()
    reveals.reveal(spy, Audience("party", party.slug))
    deliver()
    assert [(body["type"], body["data"]["version"]) for body in target.bodies] == [
        ("npc.created", None)
    ]


def test_a_failed_event_holds_back_the_next_and_keeps_its_id(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, _secret = make(admin, target)
    target.status = 500
    create(world, "ada")
    create(world, "bo")
    deliver()
    assert target.refs == ["ada"]
    state = admin.get(path)[1]
    assert state["failing_since"]
    assert state["next_attempt_at"]
    deliver()
    assert target.refs == ["ada"], "not before its time"
    target.status = 204
    later()
    deliver()
    assert target.refs == ["ada", "ada", "bo"]
    assert target.ids[0] == target.ids[1]
    first = admin.get(f"{path}/deliveries?sort=created")[1]["deliveries"][0]
    assert [each["status"] for each in first["attempts"]] == [500, 204]
    assert admin.get(path)[1]["failing_since"] is None


def test_a_target_that_asks_for_time_gets_it(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    make(admin, target)
    target.status, target.headers = 429, {"Retry-After": "600"}
    create(world, "ada")
    deliver()
    wait = WebhookProgress.objects.get().next_attempt_at - timezone.now()  # type: ignore[operator]
    assert 500 < wait.total_seconds() <= 600


def test_a_target_that_fails_for_a_day_gets_everything_after_it(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    make(admin, target)
    target.status = 500
    create(world, "ada")
    for _hour in range(24):
        deliver()
        later(hours=1)
    create(world, "bo")
    target.status = 204
    deliver()
    assert target.refs[-2:] == ["ada", "bo"]
    assert len(set(target.ids)) == 2
    assert Webhook.objects.get().disabled == ""


def test_after_days_an_event_is_given_up_and_the_webhook_disabled(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, _secret = make(admin, target)
    target.status = 500
    create(world, "ada")
    create(world, "bo")
    deliver()
    later(days=3.1)
    deliver()
    assert target.refs == ["ada", "ada", "bo"]
    dead = admin.get(f"{path}/deliveries?state=dead")[1]["deliveries"]
    assert len(dead) == 1
    later(days=2)
    deliver()
    assert admin.get(path)[1]["disabled_reason"] == "failing"
    later()
    deliver()
    assert target.refs == ["ada", "ada", "bo", "bo"], "a disabled webhook is not called"
    target.status = 204
    assert admin.send("PATCH", path, {"enabled": True})[0] == 200
    deliver()
    assert target.refs[-1] == "bo"
    again = admin.post(f"{path}/deliveries/{dead[0]['id']}/redeliver")[1]
    assert again["state"] == "delivered"
    assert target.ids[-1] == dead[0]["message_id"]


def test_a_target_that_is_gone_is_not_called_again(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, _secret = make(admin, target)
    target.status = 410
    create(world, "ada")
    deliver()
    later()
    deliver()
    assert len(target.messages) == 1
    state = admin.get(path)[1]
    assert (state["enabled"], state["disabled_reason"]) == (False, "gone")


def test_a_redirect_is_not_followed(world: World, admin: ApiClient, target: Receiver) -> None:
    with receiving() as private:
        path, _secret = make(admin, target)
        target.status, target.headers = 307, {"Location": private.url}
        create(world, "ada")
        deliver()
        assert private.messages == []
    delivery = admin.get(f"{path}/deliveries")[1]["deliveries"][0]
    assert "redirects are not followed" in delivery["attempts"][0]["error"]


@pytest.mark.timeout(60)
def test_a_target_that_hangs_costs_its_time_and_no_more(
    world: World, admin: ApiClient, target: Receiver, settings: Any
) -> None:
    settings.WEBHOOK_TIMEOUT = 0.5
    path, _secret = make(admin, target)
    target.before_answer = drip(5)
    create(world, "ada")
    start = time.monotonic()
    deliver()
    assert time.monotonic() - start < 3
    delivery = admin.get(f"{path}/deliveries")[1]["deliveries"][0]
    assert (delivery["state"], delivery["attempts"][0]["status"]) == ("retrying", 0)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.1.2.3/",
        "https://192.168.0.1/",
        "https://100.100.100.200/",
        "https://192.0.0.192/",
        "https://0.0.0.0/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://[fd00:ec2::254]/",
        "https://[fe80::1]/",
        "https://224.0.0.1/",
        "http://93.184.216.34/",
        "https://user:secret@example.org/",
        "https://example.org/#x",
        "ftp://example.org/",
        "https://",
    ],
)
def test_addresses_that_are_refused_at_once(url: str) -> None:
    with pytest.raises(Invalid):
        check_url(url)


def test_a_name_is_checked_at_the_connection(
    world: World, admin: ApiClient, target: Receiver, settings: Any, monkeypatch: Any
) -> None:
    """The name was harmless when the webhook was made."""
    port = target.url.split(":")[2].split("/")[0]
    path, _secret = make(admin, target, url=f"https://engine.example.org:{port}/hook")
    settings.WEBHOOK_PRIVATE_ADDRESSES = []
    local = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port)))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked: local)
    status, delivery = admin.post(f"{path}/test")
    assert status == 200
    assert "127.0.0.1 is no public address" in delivery["attempts"][0]["error"]
    assert target.messages == []


def test_both_secrets_hold_while_one_is_replaced(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, old = make(admin, target)
    new = admin.post(f"{path}/rotate-secret", {"hours": 1})[1]["secret"]
    admin.post(f"{path}/test")
    headers, body = target.messages[-1]
    assert Verifier(old).verify(body, headers) == Verifier(new).verify(body, headers)
    Webhook.objects.update(previous_secret_until=timezone.now())
    admin.post(f"{path}/test")
    headers, body = target.messages[-1]
    with pytest.raises(WebhookVerificationError):
        Verifier(old).verify(body, headers)
    assert Verifier(new).verify(body, headers)["type"] == "webhook.test"


def test_a_secret_that_cannot_be_read_is_named(
    world: World, admin: ApiClient, target: Receiver, settings: Any
) -> None:
    path, _secret = make(admin, target)
    Webhook.objects.update(secret="other")
    delivery = admin.post(f"{path}/test")[1]
    assert "SECRET_KEY" in delivery["attempts"][0]["error"]
    assert target.messages == []


def test_discord_gets_a_message_that_notifies_nobody(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    make(admin, target, format="discord")
    create(world, "ada_crane")
    deliver()
    (body,) = target.bodies
    assert body["allowed_mentions"] == {"parse": []}
    assert body["content"] == "Ferrymark: npc ada\\_crane created"


def test_a_worker_that_lost_its_lease_stores_nothing(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    make(admin, target)
    create(world, "ada")

    def take_lease() -> None:
        WebhookProgress.objects.update(lease=None, leased_until=None)
        connection.close()

    target.before_answer = take_lease
    serve_next_webhook()
    assert not WebhookDelivery.objects.exists()
    target.before_answer = lambda: None
    deliver()
    assert target.refs == ["ada", "ada"]
    assert len(set(target.ids)) == 1


def test_a_webhook_is_made_changed_and_deleted(
    world: World, admin: ApiClient, target: Receiver, client_with_key: Any
) -> None:
    path, _secret = make(admin, target)
    assert [each["name"] for each in admin.get("world/webhooks")[1]["webhooks"]] == ["engine"]
    assert admin.send("PATCH", path, {"name": "x"}, **{"If-Match": '"other"'})[0] == 412
    changed = admin.send("PATCH", path, {"name": "combat", "enabled": False})[1]
    assert (changed["name"], changed["disabled_reason"]) == ("combat", "by_hand")
    assert admin.send("PATCH", path, {"audience": "public"})[0] == 422
    for key in ({"scopes": ["tools:read"]}, {"audience": "public", "scopes": ["admin"]}):
        assert client_with_key(**key).get("world/webhooks")[0] == 403
    other = ApiClient(World.objects.create(slug="other", name="Other"), scopes=["admin"])
    assert other.get(path)[0] == 404
    assert admin.send("DELETE", path)[0] == 204
    assert admin.get(path)[0] == 404
    assert json.dumps(admin.get("world/webhooks")[1]) == '{"webhooks": []}'


def test_a_key_of_a_campaign_makes_webhooks_of_no_other(
    world: World, campaign: Campaign, target: Receiver
) -> None:
    cast.create_campaign(world, slug="high-water", name="High Water")
    bound = ApiClient(world, scopes=["admin"], campaign=campaign)
    entry = {"name": "engine", "url": target.url, "audience": "gm"}
    status, problem = bound.post("world/webhooks", {**entry, "campaign_id": "high-water"})
    assert (status, problem["code"]) == (404, "not_found")
    assert bound.post("world/webhooks", entry)[1]["campaign_id"] == campaign.slug


def test_a_message_that_the_target_refuses_delays_the_others_by_half_an_hour(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, _secret = make(admin, target)
    refuse(target, "ada")
    for name in ("ada", "bo", "carl"):
        create(world, name)
    deliver()
    later(minutes=10)
    deliver()
    assert target.refs == ["ada", "ada"], "the order holds for a while"
    later(minutes=30)
    deliver()
    assert target.refs == ["ada", "ada", "ada", "bo", "carl"]
    dead = admin.get(f"{path}/deliveries?state=dead")[1]["deliveries"]
    assert [each["attempts"][-1]["error"] for each in dead] == [
        "given up: the target refuses this message and has accepted the next one"
    ]
    later(minutes=60)
    deliver()
    assert len(target.refs) == 5, "what was given up is sent by hand alone"
    target.before_answer = lambda: None
    target.status = 204
    again = admin.post(f"{path}/deliveries/{dead[0]['id']}/redeliver")[1]
    assert (again["state"], target.refs[-1]) == ("delivered", "ada")


def test_a_target_that_is_down_loses_nothing_of_the_order(
    world: World, admin: ApiClient, target: Receiver
) -> None:
    path, _secret = make(admin, target)
    target.status = 503
    for name in ("ada", "bo", "carl"):
        create(world, name)
    for _attempt in range(4):
        deliver()
        later(minutes=30)
    assert target.refs == ["ada", *["ada", "bo"] * 3]
    assert admin.get(f"{path}/deliveries?state=dead")[1]["deliveries"] == []
    target.status, target.messages = 204, []
    deliver()
    assert target.refs == ["ada", "bo", "carl"]
    assert len(set(target.ids)) == 3


def refuse(target: Receiver, ref: str) -> None:
    """Have the target answer 422 to the event of this row, and accept all others."""

    def judge() -> None:
        target.status = 422 if target.refs[-1] == ref else 204

    target.before_answer = judge
