"""The event log: complete, in the order of commits, and only what the audience may know."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from knowledge.models import Lore
from npcs.models import NPC
from tests import cast
from tests.conftest import ApiClient
from tests.memory_site.api.deletion import delete_locked
from worlds import reveals
from worlds.audiences import Audience
from worlds.event_log.read import delete_old_events
from worlds.event_model import Event
from worlds.models import Party, World

pytestmark = pytest.mark.django_db(transaction=True)


def events(client: ApiClient, query: str = "") -> list[tuple[str, str, str]]:
    status, answer = client.get(f"events?{query}")
    assert status == 200, answer
    return [(each["kind"], each["ref"], each["action"]) for each in answer["events"]]


def latest(client: ApiClient) -> str:
    """Return the parameter with which the client goes on from now. With no event yet there is
    none: all that will come is asked for."""
    last = client.get("events?since=latest")[1]["next"]
    return f"since={last}" if last else ""


@pytest.fixture
def party(world: World) -> Party:
    return cast.create_party(cast.create_campaign(world))


@pytest.fixture
def player(world: World, party: Party) -> ApiClient:
    return ApiClient(world, audience=f"party:{party.slug}", scopes=["tools:read"])


def test_each_change_is_told_once_and_in_order(engine: ApiClient, party: Party) -> None:
    begin = latest(engine)
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn.", "status": "published"})
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn by the river."})
    engine.put("world/lore", {"title": "Tin Heron", "body": "An inn by the river."})
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    told = {"summary_id": "e-1", "party_id": party.slug, "what": "Fog.", "scene_id": "sc-1"}
    engine.post("world/episodes", {**told, "relations_delta": {"ada": 4}})
    engine.post("world/episodes/e-1/retract", {"reason": "Told twice."})
    engine.send("DELETE", "world/lore/tin-heron")
    engine.post("world/lore/tin-heron/restore")
    assert [each for each in events(engine, begin) if each[0] != "fact"] == [
        ("lore", "tin-heron", "created"),
        ("lore", "tin-heron", "changed"),
        ("npc", "ada", "created"),
        ("scene", "sc-1", "created"),
        ("episode", "e-1", "created"),
        ("disposition", "ada", "created"),
        ("episode", "e-1", "deleted"),
        ("lore", "tin-heron", "deleted"),
        ("lore", "tin-heron", "created"),
    ]


def test_a_consumer_goes_on_where_it_was(engine: ApiClient) -> None:
    begin = latest(engine)
    for name in ("a", "b", "c", "d", "e"):
        engine.put("world/npcs", {"npc_id": name, "name": name.upper()})
    seen, since, more = [], begin, True
    while more:
        _status, answer = engine.get(f"events?{since}&limit=2&kind=npc")
        seen += [each["ref"] for each in answer["events"]]
        since, more = f"since={answer['next']}", answer["more"]
    assert seen == ["a", "b", "c", "d", "e"]
    assert events(engine, since) == []


def test_what_is_rolled_back_is_not_told(engine: ApiClient, world: World) -> None:
    begin = latest(engine)
    with transaction.atomic():
        NPC.objects.create(world=world, slug="ghost", name="Ghost")
        transaction.set_rollback(True)
    assert events(engine, begin) == []


def test_writers_that_go_round_the_services_are_told_of(engine: ApiClient, world: World) -> None:
    NPC.objects.create(world=world, slug="ada", name="Ada")
    NPC.objects.create(world=world, slug="bo", name="Bo")
    begin = latest(engine)
    NPC.objects.filter(world=world).update(role="guard")
    assert sorted(events(engine, begin)) == [("npc", "ada", "changed"), ("npc", "bo", "changed")]


def test_the_order_is_that_of_the_commits(engine: ApiClient, world: World) -> None:
    """The transaction that writes first and commits last comes last: whoever has seen the other
    must not miss it."""
    begin = latest(engine)
    has_written, may_commit = threading.Event(), threading.Event()

    def write_slowly() -> None:
        try:
            with transaction.atomic():
                NPC.objects.create(world=world, slug="slow", name="Slow")
                has_written.set()
                may_commit.wait(30)
        finally:
            connections.close_all()

    thread = threading.Thread(target=write_slowly)
    thread.start()
    assert has_written.wait(30)
    NPC.objects.create(world=world, slug="quick", name="Quick")
    assert events(engine, begin) == [("npc", "quick", "created")]
    after_quick = latest(engine)
    may_commit.set()
    thread.join()
    assert events(engine, after_quick) == [("npc", "slow", "created")]
    assert events(engine, begin) == [("npc", "quick", "created"), ("npc", "slow", "created")]


def test_many_writers_lose_nothing(engine: ApiClient, world: World) -> None:
    begin, writers, rows = latest(engine), 6, 25
    seen: list[str] = []

    def write(writer: int) -> None:
        try:
            for number in range(rows):
                NPC.objects.create(world=world, slug=f"{writer}-{number}", name="Extra")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(writers)]
    for thread in threads:
        thread.start()
    since = begin
    # Read while they write: an event that came too late would be missed for ever.
    while any(thread.is_alive() for thread in threads) or engine.get(f"events?{since}")[1]["more"]:
        _status, answer = engine.get(f"events?{since}&kind=npc")
        seen += [each["ref"] for each in answer["events"]]
        since = f"since={answer['next']}" if answer["next"] else begin
    seen += [ref for _kind, ref, _action in events(engine, f"{since}&kind=npc")]
    assert len(seen) == len(set(seen)) == writers * rows
    for writer in range(writers):
        own = [ref for ref in seen if ref.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(rows)]


def test_players_are_not_told_of_what_they_do_not_know(
    engine: ApiClient, player: ApiClient, world: World, party: Party
) -> None:
    begin = latest(player)
    engine.put("world/lore", {"title": "Plot", "body": "x", "status": "published"})
    engine.put(
        "world/lore", {"title": "Draft", "body": "x", "status": "draft", "visibility": "public"}
    )
    engine.put("world/npcs", {"npc_id": "spy", "name": "Spy"})
    other = cast.create_party(party.campaign, **cast.GILDED_OATH)
    told = {"summary_id": "theirs", "party_id": other.slug, "what": "Gold."}
    engine.post("world/episodes", told)
    assert events(player, begin) == []


def test_a_reveal_appears_and_its_undoing_vanishes(
    engine: ApiClient, player: ApiClient, world: World, party: Party
) -> None:
    engine.put("world/npcs", {"npc_id": "spy", "name": "Spy"})
    begin = latest(player)
    npc = NPC.objects.get(slug="spy")
    entry = reveals.reveal(npc, Audience("party", party.slug))
    assert set(events(player, begin)) == {("npc", "spy", "created"), ("reveal", "npc", "created")}
    begin = latest(player)
    reveals.undo_reveal(entry)
    assert set(events(player, begin)) == {("npc", "spy", "deleted"), ("reveal", "npc", "deleted")}


@pytest.mark.parametrize(
    ("path", "row", "secret", "open_change"),
    [
        (
            "npcs",
            {"npc_id": "ada", "name": "Ada", "visibility": "public", "voice": "Low."},
            {"voice": "Hoarse.", "goals": ["Betray them."]},
            {"summary": "A scar."},
        ),
        (
            "lore",
            {"title": "Inn", "slug": "inn", "body": "Old.", "status": "published"},
            {"body": "Old.\n\n:::secret\nA trapdoor.\n:::"},
            {"title": "The Inn"},
        ),
    ],
)
def test_a_change_of_a_secret_part_is_told_to_game_masters_alone(
    engine: ApiClient,
    player: ApiClient,
    path: str,
    row: dict[str, Any],
    secret: dict[str, Any],
    open_change: dict[str, Any],
) -> None:
    row = {**row, "visibility": "public"}
    engine.put(f"world/{path}", row)
    begin, begin_gm = latest(player), latest(engine)
    engine.put(f"world/{path}", {**row, **secret})
    assert events(player, begin) == []
    assert len(events(engine, begin_gm)) == 1
    engine.put(f"world/{path}", {**row, **secret, **open_change})
    assert [action for _kind, _ref, action in events(player, begin)] == ["changed"]
    assert player.get(f"events?{begin}")[1]["events"][0]["version"] is None


def test_another_world_is_not_told_of(engine: ApiClient, world: World) -> None:
    other_world = World.objects.create(slug="other", name="Other")
    other = ApiClient(other_world)
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    assert events(other) == []
    since = latest(engine)
    assert other.get(f"events?{since}")[0] == 410


def test_an_event_that_is_gone_says_what_to_do(engine: ApiClient) -> None:
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    since = latest(engine)
    Event.objects.all().delete()
    status, problem = engine.get(f"events?{since}")
    assert (status, problem["code"]) == (410, "events_gone")
    assert "since=latest" in problem["detail"]


def test_the_last_event_outlasts_its_time(engine: ApiClient) -> None:
    """After a quiet month, who has read all goes on."""
    for name in ("ada", "bo"):
        engine.put("world/npcs", {"npc_id": name, "name": name})
    since = latest(engine)
    Event.objects.update(at=timezone.now() - timedelta(days=365))
    assert delete_old_events() == 1
    assert delete_old_events() == 0
    assert events(engine, since) == []


def test_whether_an_event_is_gone_tells_nothing_of_hidden_ones(
    engine: ApiClient, player: ApiClient, world: World, party: Party
) -> None:
    NPC.objects.create(world=world, slug="ada", name="Ada", visibility="public")
    since = latest(player)
    NPC.objects.create(world=world, slug="spy", name="Spy")
    Event.objects.update(at=timezone.now() - timedelta(days=365))
    delete_old_events()
    assert events(player, since) == []
    assert events(engine, since)[0] == ("npc", "spy", "created")


def test_a_deleted_world_leaves_no_event(engine: ApiClient, world: World) -> None:
    engine.put("world/npcs", {"npc_id": "ada", "name": "Ada"})
    assert Event.objects.filter(world_id=world.pk).exists()
    delete_locked(world)
    assert not Event.objects.exists()


def test_every_event_gets_its_place(engine: ApiClient, world: World) -> None:
    Lore.objects.create(world=world, slug="a", title="A", body="x")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM worlds_event WHERE position IS NULL")
        assert cursor.fetchone() == (0,)
