"""Changes of what is hidden leave no trace in a player's stream of events or webhook: no event, no
gap, no sign of life at another time."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from memory_site.asgi import Application
from npcs.models import NPC
from tests.conftest import ApiClient
from tests.memory_site.api.event_reader import Reader, reading, wait_for
from tests.memory_site.api.hidden_changes import CHANGES, PARTY, world_with_secrets
from tests.memory_site.api.serving import serve
from tests.memory_site.api.webhook_receiver import Receiver, receiving
from worlds import keys, reveals
from worlds.audiences import Audience
from worlds.characters import set_members
from worlds.event_log import streams
from worlds.event_model import Event
from worlds.models import Party, World
from worlds.webhook_model import WebhookDelivery, WebhookProgress
from worlds.webhooks.courier import serve_next_webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
PLAYERS = (PARTY, "character:ana", "public")
HEARTBEAT = 0.5


@pytest.fixture
def gm(world: World, lanternbearers: Party, gilded_oath: Party) -> ApiClient:
    set_members(lanternbearers, ["Ana"])
    return world_with_secrets(world)


@pytest.fixture
def url(gm: ApiClient) -> Iterator[str]:
    with serve(Application()) as address:
        yield address


def key_of(world: World, audience: str) -> str:
    return keys.create_key(world, name="p", audience=audience, scopes=["tools:read"])[1]


def change_what_is_hidden(gm: ApiClient) -> None:
    refused = {
        name: answer
        for name, change in CHANGES.items()
        for status, answer in [change(gm)]
        if status >= 300
    }
    assert refused == {}


def told_lines(reader: Reader) -> list[str]:
    """All that came but signs of life."""
    return [line for line in reader.lines if line and not line.startswith(":")]


def signs_of_life(reader: Reader) -> int:
    return sum(line.startswith(":") for line in reader.lines)


def test_a_players_stream_tells_nothing_of_hidden_changes(
    world: World, gm: ApiClient, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", HEARTBEAT)
    texts = {audience: key_of(world, audience) for audience in PLAYERS}
    with ExitStack() as stack:
        readers = {
            (audience, since): stack.enter_context(reading(url, text, f"since={since}"))
            for audience, text in texts.items()
            for since in ("latest", "oldest")
        }
        assert wait_for(lambda: all(signs_of_life(each) > 1 for each in readers.values()))
        before = {who: told_lines(reader) for who, reader in readers.items()}
        alive = {who: signs_of_life(reader) for who, reader in readers.items()}
        begin, position = time.monotonic(), Event.objects.count()
        change_what_is_hidden(gm)
        assert Event.objects.count() > position + len(CHANGES), "the game master is told of them"
        time.sleep(2 * streams.POLL_SECONDS)
        due = (time.monotonic() - begin) / HEARTBEAT
        assert {who: told_lines(reader) for who, reader in readers.items()} == before
        # A change that woke the stream would put off its next sign of life.
        late = {
            who: (signs_of_life(reader) - alive[who], due)
            for who, reader in readers.items()
            if signs_of_life(reader) - alive[who] < 0.6 * due
        }
        assert late == {}
        assert first_ids(url, texts) == {
            audience: told_lines(readers[audience, "latest"])[1] for audience in PLAYERS
        }
        NPC.objects.filter(slug="ada").update(name="Ada Heron")
        assert wait_for(lambda: all(told_lines(each) != before[w] for w, each in readers.items()))
        for who, reader in readers.items():
            new_id, data = told_lines(reader)[len(before[who]) :]
            event = json.loads(data.removeprefix("data: "))
            assert new_id == f"id: {event['id']}"
            assert UUID(event["id"]).version == 4, "a number would tell how many are hidden"
            assert (event["kind"], event["ref"], event["version"]) == ("npc", "ada", None)


def first_ids(url: str, texts: dict[str, str]) -> dict[str, str]:
    """The id by which each player's new stream would be resumed."""
    found = {}
    for audience, text in texts.items():
        with reading(url, text, "since=latest") as reader:
            found[audience] = told_lines(reader)[1]
    return found


def test_the_id_of_a_hidden_event_is_like_one_that_never_was(
    world: World, gm: ApiClient, url: str
) -> None:
    hidden = str(Event.objects.filter(kind="npc", ref="spy").values_list("pk", flat=True)[0])
    never = "0198f7a0-0000-4000-8000-00000000dead"
    for audience in PLAYERS:
        player = ApiClient(world, audience=audience, scopes=["tools:read"])
        told = [player.get(f"events?since={each}") for each in (hidden, never)]
        for status, problem in told:
            assert (status, problem["code"]) == (410, "events_gone")
        assert told[0][1]["detail"] == told[1][1]["detail"]
        with reading(url, key_of(world, audience), f"since={hidden}") as reader:
            assert reader.status == 410
    assert gm.get(f"events?since={hidden}")[0] == 200


@pytest.fixture
def targets(gm: ApiClient, settings: Any) -> Iterator[dict[tuple[str, str], Receiver]]:
    """Where the webhooks of each form and each player's audience lead."""
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with ExitStack() as stack:
        found = {}
        for form, audience in product(("standard", "discord"), PLAYERS):
            target = found[form, audience] = stack.enter_context(receiving())
            entry = {"name": f"{form} {audience}", "url": target.url}
            status, answer = gm.post(
                "world/webhooks", {**entry, "audience": audience, "format": form}
            )
            assert status == 201, answer
        yield found


def deliver() -> None:
    while serve_next_webhook():
        pass


def test_a_players_webhook_tells_nothing_of_hidden_changes(
    gm: ApiClient, targets: dict[tuple[str, str], Receiver]
) -> None:
    change_what_is_hidden(gm)
    deliver()
    assert {who: target.messages for who, target in targets.items() if target.messages} == {}
    assert not WebhookDelivery.objects.exists()
    NPC.objects.filter(slug="ada").update(name="Ada Heron")
    deliver()
    for (form, _audience), target in targets.items():
        ((headers, body),) = target.messages
        assert not re.search(rb"spy|plot|twist|vault|gilded", body)
        assert set(headers) >= {"webhook-id", "webhook-timestamp", "webhook-signature"}
        if form == "standard":
            told = json.loads(body)
            assert (told["type"], told["data"]["version"]) == ("npc.changed", None)
            assert UUID(told["data"]["id"]).version == 4
    last = Event.objects.order_by("position").values_list("position", flat=True).last()
    positions = WebhookProgress.objects.values_list("position", flat=True)
    assert list(positions) == [last] * len(targets)


def test_a_secret_of_an_npc_is_told_to_those_who_know_the_npc(
    world: World, gm: ApiClient, lanternbearers: Party
) -> None:
    """The reveal of a secret names its NPC by a click: whoever may not know the NPC gets none."""
    gm.put("world/npcs", {"npc_id": "ada", "name": "Ada Crane", "secrets": ["She is a spy."]})
    gm.put("world/npcs", {"npc_id": "spy", "name": "Spy", "secrets": ["He sells the charts."]})
    spy, ada = (NPC.objects.get(slug=slug) for slug in ("spy", "ada"))
    party = ApiClient(world, audience=PARTY, scopes=["tools:read"])
    ana = ApiClient(world, audience="character:ana", scopes=["tools:read"])
    public = ApiClient(world, audience="public", scopes=["tools:read"])

    def reveals_told(reader: ApiClient) -> list[str]:
        events = reader.get("events?kind=reveal&limit=500")[1]["events"]
        return [each["ref"] for each in events]

    for audience in (Audience("party", "lanternbearers"), Audience("character", "ana")):
        reveals.reveal(spy.secrets.get(), audience, note="from the letter")
    assert [reveals_told(each) for each in (party, ana, public)] == [[], [], []]
    reveals.reveal(ada.secrets.get(), Audience("character", "ana"))
    assert [reveals_told(each) for each in (party, ana, public)] == [["secret"], ["secret"], []]
    entry = gm.get("world/reveals")[1]
    assert "from the letter" in json.dumps(entry)
    for each in (party, ana, public):
        assert "letter" not in json.dumps(each.get("events?limit=500")[1])
