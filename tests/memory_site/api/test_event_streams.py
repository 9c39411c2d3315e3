"""Streams of events: prompt, resumable, only what the audience may know, and gone with the key."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.db import connection
from django.utils import timezone

from memory_site.asgi import Application
from npcs.models import NPC
from tests import cast
from tests.conftest import ApiClient
from tests.memory_site.api.deletion import delete_locked
from tests.memory_site.api.event_reader import reading, wait_for
from tests.memory_site.api.serving import serve
from worlds import keys, reveals
from worlds.audiences import Audience
from worlds.event_log import streams
from worlds.event_model import Event
from worlds.models import ApiKey, Party, World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def url(world: World) -> Iterator[str]:
    with serve(Application()) as address:
        yield address


def key_of(world: World, audience: str = "gm", **more: Any) -> str:
    given = {"name": "stream", "audience": audience, "scopes": ["tools:read"], **more}
    return keys.create_key(world, **given)[1]


@pytest.fixture
def gm(world: World) -> str:
    return key_of(world)


@pytest.fixture
def party(world: World) -> Party:
    return cast.create_party(cast.create_campaign(world))


def create(world: World, name: str, **fields: Any) -> NPC:
    return NPC.objects.create(world=world, slug=name, name=name.title(), **fields)


def test_a_change_comes_within_a_second(world: World, url: str, gm: str) -> None:
    took = []
    with reading(url, gm, "since=latest") as reader:
        for number in range(5):
            start = time.monotonic()
            create(world, f"npc-{number}")
            assert wait_for(lambda: len(reader.events) > number)  # noqa: B023
            took.append(reader.came_at[-1] - start)
    assert min(took) < 1.0  # the others may have waited for a processor
    assert reader.seen == [("npc", f"npc-{number}", "created") for number in range(5)]


def test_a_reveal_reaches_the_party_within_a_second(world: World, url: str, party: Party) -> None:
    spies, took = [create(world, f"spy-{number}") for number in range(3)], []
    with reading(url, key_of(world, f"party:{party.slug}"), "since=latest&kind=npc") as reader:
        for number, spy in enumerate(spies):
            start = time.monotonic()
            reveals.reveal(spy, Audience("party", party.slug))
            assert wait_for(lambda: len(reader.events) > number)  # noqa: B023
            took.append(reader.came_at[-1] - start)
    assert min(took) < 1.0  # the others may have waited for a processor
    assert reader.seen == [("npc", spy.slug, "created") for spy in spies]
    assert reader.events[0]["version"] is None


def test_the_stream_says_what_the_list_says(
    world: World, engine: ApiClient, url: str, gm: str
) -> None:
    for name in ("ada", "bo", "cy"):
        create(world, name)
    with reading(url, gm) as reader:
        assert wait_for(lambda: len(reader.events) == 3)
    assert reader.events == engine.get("events")[1]["events"]


def test_an_interrupted_reader_goes_on_where_it_was(world: World, url: str, gm: str) -> None:
    with reading(url, gm, "since=latest") as reader:
        create(world, "ada")
        assert wait_for(lambda: reader.events)
    create(world, "bo")
    # A browser sends the address that it was given, with the last id as a header.
    again = {"Last-Event-ID": reader.last_id}
    with reading(url, gm, "since=latest", **again) as second:
        create(world, "cy")
        assert wait_for(lambda: len(second.events) == 2)
    assert [ref for _kind, ref, _action in second.seen] == ["bo", "cy"]


@pytest.mark.parametrize("exists", [True, False], ids=["an event before", "no event before"])
def test_a_reader_that_got_nothing_yet_misses_nothing(
    world: World, url: str, gm: str, exists: bool
) -> None:
    if exists:
        create(world, "old")
    with reading(url, gm, "since=latest") as reader:
        pass
    create(world, "ada")
    with reading(url, gm, "since=latest", **{"Last-Event-ID": reader.last_id}) as second:
        assert wait_for(lambda: second.events)
    assert [ref for _kind, ref, _action in second.seen] == ["ada"]


def test_more_than_a_batch_comes_whole_and_in_order(
    world: World, url: str, gm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BATCH", 7)
    names = [f"npc-{number:03}" for number in range(100)]
    NPC.objects.bulk_create([NPC(world=world, slug=name, name=name) for name in names])
    with reading(url, gm) as reader:
        assert wait_for(lambda: len(reader.events) >= 100)
    assert sorted(ref for _kind, ref, _action in reader.seen) == names
    listed = Event.objects.filter(world=world).order_by("position").values_list("pk", flat=True)
    assert [each["id"] for each in reader.events] == [str(pk) for pk in listed]


def test_hidden_changes_leave_no_trace_in_a_players_stream(
    world: World, engine: ApiClient, url: str, party: Party
) -> None:
    spy = create(world, "spy")
    ada = create(world, "ada", visibility="public")
    player = key_of(world, f"party:{party.slug}")
    with reading(url, player, "since=latest") as reader, reading(url, player) as whole:
        before = list(reader.lines)
        NPC.objects.filter(pk=spy.pk).update(role="traitor")
        engine.put("world/npcs", {"npc_id": "ada", "voice": "Hoarse.", "goals": ["Betray them."]})
        spy.delete()
        time.sleep(1.5)
        assert reader.lines == before, "not even a sign of life at another time"
        NPC.objects.filter(pk=ada.pk).update(name="Ada Crane")
        assert wait_for(lambda: reader.events)
    assert reader.seen == [("npc", "ada", "changed")]
    assert not [each for each in whole.seen if "spy" in each]


@pytest.mark.parametrize("change", ["revoked", "expired", "narrowed", "deleted"])
def test_a_stream_ends_soon_after_its_key(world: World, url: str, change: str) -> None:
    key, text = keys.create_key(world, name="k", audience="gm", scopes=["tools:read"])
    with reading(url, text, "since=latest") as reader:
        row = ApiKey.objects.filter(pk=key.pk)
        if change == "revoked":
            keys.revoke(key)
        elif change == "expired":
            row.update(expires_at=timezone.now() - timedelta(seconds=1))
        elif change == "narrowed":
            row.update(audience="public")
        else:
            row.delete()
        assert wait_for(lambda: reader.end, seconds=5)
        assert "key" in reader.end
        reader.thread.join(5)
        assert not reader.thread.is_alive(), "the server closes the connection"
    create(world, "secret")
    assert reader.events == []


def test_using_a_key_does_not_end_its_streams(world: World, url: str, gm: str) -> None:
    with reading(url, gm, "since=latest") as reader:
        ApiKey.objects.update(last_used_at=timezone.now(), name="renamed")
        time.sleep(1.5)
        create(world, "ada")
        assert wait_for(lambda: reader.events)
    assert reader.end == ""


def test_a_stream_ends_with_its_world(world: World, url: str) -> None:
    _key, text = keys.create_key(None, name="all", audience="gm", scopes=["admin"])
    with reading(url, text, **{"X-World": world.slug}) as reader:
        delete_locked(world)
        assert wait_for(lambda: reader.end, seconds=5)
    assert "world" in reader.end


def test_a_key_has_a_number_of_streams(world: World, url: str, gm: str, settings: Any) -> None:
    settings.EVENT_STREAMS_PER_KEY = 2
    with reading(url, gm), reading(url, gm):
        with reading(url, gm) as third:
            assert third.status == 429
            assert third.answer
            assert third.answer.json()["code"] == "too_many_streams"
            assert third.answer.headers["Retry-After"]
        with reading(url, key_of(world)) as of_another:
            assert of_another.status == 200

    def opens_again() -> bool:
        with reading(url, gm) as reader:
            return reader.status == 200

    assert wait_for(opens_again), "a closed stream makes room for another"


def test_a_server_has_a_number_of_streams(world: World, url: str, gm: str, settings: Any) -> None:
    settings.EVENT_STREAMS = 1
    with reading(url, gm), reading(url, key_of(world)) as second:
        assert second.status == 503


def test_what_cannot_be_resumed_is_refused_before_the_stream(
    world: World, url: str, gm: str, engine: ApiClient
) -> None:
    create(world, "ada")
    other = World.objects.create(slug="other", name="Other")
    create(other, "far")
    foreign = str(Event.objects.get(world=other).pk)
    for refused, status, code in [
        ({"query": f"since={foreign}"}, 410, "events_gone"),
        ({"Last-Event-ID": foreign}, 410, "events_gone"),
        ({"Last-Event-ID": "7"}, 422, "invalid"),
        ({"query": "since=yesterday"}, 422, "invalid"),
        ({"query": "kinds=npc"}, 422, "invalid"),
    ]:
        with reading(url, gm, **refused) as reader:
            assert (reader.status, reader.answer and reader.answer.json()["code"]) == (
                status,
                code,
            ), refused
    with reading(url, "m37_no_key") as reader:
        assert reader.status == 401


def test_a_process_without_an_event_loop_says_so(engine: ApiClient) -> None:
    status, problem = engine.get("events/stream")
    assert (status, problem["code"]) == (501, "stream_needs_asgi")


def test_pages_of_other_hosts_read_with_a_key_that_names_them(world: World, url: str) -> None:
    page, elsewhere = "https://table.example.org", "https://elsewhere.example.org"
    text = key_of(world, "public", origins=[page])
    with reading(url, text, Origin=page) as reader:
        assert reader.answer
        assert reader.answer.headers["access-control-allow-origin"] == page
    with reading(url, text, Origin=elsewhere) as refused:
        assert refused.status == 403
        assert refused.answer
        assert "access-control-allow-origin" not in refused.answer.headers
    asked = {
        "Origin": page,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization,last-event-id",
    }
    answer = httpx2.options(f"{url}/api/v1/events/stream", headers=asked)
    assert "last-event-id" in answer.headers["access-control-allow-headers"]


def test_nothing_on_the_way_holds_events_back(world: World, url: str, gm: str) -> None:
    with reading(url, gm, **{"Accept-Encoding": "gzip"}) as reader:
        assert reader.answer
        headers = reader.answer.headers
    assert headers["content-type"] == "text/event-stream"
    assert "content-encoding" not in headers
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]


def test_an_idle_stream_shows_signs_of_life(
    world: World, url: str, gm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.2)
    with reading(url, gm, "since=latest") as reader:
        assert wait_for(lambda: sum(line.startswith(":") for line in reader.lines) >= 3)


def test_open_streams_hold_neither_threads_nor_connections(
    world: World, url: str, gm: str, settings: Any
) -> None:
    """More of them than the web process has threads, and than the pool has connections."""
    count = settings.EVENT_STREAMS_PER_KEY = settings.WEB_THREADS + 8
    with ExitStack() as stack:
        readers = [stack.enter_context(reading(url, gm, "since=latest")) for _each in range(count)]
        start = time.monotonic()
        answer = httpx2.get(
            f"{url}/api/v1/me", headers={"Authorization": f"Bearer {gm}"}, timeout=20
        )
        assert answer.status_code == 200
        assert time.monotonic() - start < 2
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND state LIKE 'idle in transaction%'"
            )
            assert cursor.fetchone() == (0,)
        create(world, "ada")
        assert wait_for(lambda: all(reader.events for reader in readers))


def test_the_poller_stops_when_nobody_reads(world: World, url: str, gm: str) -> None:
    with reading(url, gm):
        assert streams.poller.thread is not None
    assert wait_for(lambda: streams.poller.thread is None)
