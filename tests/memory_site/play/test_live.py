"""The stream of events for pages: by the session of a person, and gone with it."""

import time
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session as SignIn
from django.test import Client

from memory_site.asgi import Application
from memory_site.play.live import PageAccess, rights_in_worlds
from npcs.models import NPC
from tests import cast
from tests.conftest import ApiClient
from tests.memory_site.api.event_reader import Reader, wait_for
from tests.memory_site.api.serving import serve
from tests.memory_site.play.conftest import PREPARE, make_entry, member
from worlds import reveals
from worlds.audiences import Audience
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def url(world: World) -> Iterator[str]:
    with serve(Application()) as address:
        yield address


@pytest.fixture
def party(world: World) -> Party:
    return cast.create_party(cast.create_campaign(world))


def opened(url: str, client: Client | None, query: str = "since=latest", **headers: str) -> Reader:
    """A stream as a browser opens it, with the cookie of `client`."""
    reader = Reader(url, "", **headers)
    reader.address = f"{url}/w/ferrymark/live/?{query}"
    reader.headers = dict(headers)
    if client:
        reader.headers["Cookie"] = f"sessionid={client.cookies['sessionid'].value}"
    reader.thread.start()
    assert reader.opened.wait(20)
    return reader


def test_a_change_reaches_the_page_within_a_second_and_an_interruption_loses_none(
    world: World, url: str
) -> None:
    anna = member(world, "anna", role="gm")
    reader = opened(url, anna)
    took = []
    for number, name in enumerate(("ada", "abe", "ann")):
        start = time.monotonic()
        NPC.objects.create(world=world, slug=name, name=name)
        assert wait_for(lambda: len(reader.events) > number)  # noqa: B023
        took.append(reader.came_at[-1] - start)
    assert min(took) < 1.0  # the others may have waited for a processor
    reader.hang_up()
    for name in ("bo", "cy"):
        NPC.objects.create(world=world, slug=name, name=name)
    again = opened(url, anna, "", **{"Last-Event-ID": reader.last_id})
    assert wait_for(lambda: len(again.events) == 2)
    assert [ref for _kind, ref, _action in again.seen] == ["bo", "cy"]
    again.hang_up()


def test_a_player_is_told_of_what_the_party_may_know_alone(
    world: World, url: str, party: Party
) -> None:
    pat = member(world, "pat", role="player", party=party)
    reader = opened(url, pat)
    spy = NPC.objects.create(world=world, slug="spy", name="Spy", visibility="gm")
    reveals.reveal(spy, Audience("npc", "jory-fenn"))
    time.sleep(0.8)
    assert reader.events == []
    reveals.reveal(spy, Audience("party", party.slug))
    assert wait_for(lambda: len(reader.events) == 2)
    assert {each["ref"] for each in reader.events} == {"spy", "npc"}
    reader.hang_up()


@pytest.mark.parametrize("change", ["signed out", "role", "password", "removed"])
def test_a_stream_ends_within_two_seconds_of_the_right(
    world: World, url: str, change: str, party: Party
) -> None:
    anna = member(world, "anna", role="gm")
    reader = opened(url, anna)
    user, row = get_user_model().objects.get(), Membership.objects.get()
    if change == "signed out":
        SignIn.objects.all().delete()
    elif change == "password":
        user.set_password("another")
        user.save()
    elif change == "removed":
        row.delete()
    else:
        row.role, row.party = "player", party
        row.save()
    assert wait_for(lambda: reader.end, 4)
    assert "withdrawn" in reader.end


def test_strangers_get_no_stream(world: World, url: str) -> None:
    assert opened(url, None).status == 302
    other = cast.create_world(slug="other", name="Other")
    assert opened(url, member(other, "mo", role="gm")).status == 404


def test_a_position_that_is_none_is_refused(world: World, url: str) -> None:
    anna = member(world, "anna", role="gm")
    assert opened(url, anna, "since=yesterday").status in (400, 422)
    gone = "since=0199b0aa-0000-7000-8000-000000000000"
    assert opened(url, anna, gone).status == 410


def test_a_server_without_streams_says_so_quietly(world: World, db: None) -> None:
    anna = member(world, "anna", role="gm")
    assert anna.get("/w/ferrymark/live/").status_code == 204
    assert "data-live-stream" not in anna.get("/w/ferrymark/").content.decode()


def test_rights_are_those_of_the_world_alone(world: World) -> None:
    member(world, "anna", role="gm")
    user = get_user_model().objects.get()
    assert rights_in_worlds({user.pk}, {world.pk})
    access = PageAccess(user.pk, "no such key", world.pk, ())
    assert PageAccess.find_ended({access}) == {access}


def test_what_was_written_since_the_last_session_is_told(engine: ApiClient, party: Party) -> None:
    summary = {"summary_id": "e", "party_id": party.slug, "session_id": "s", "what": "Rain."}
    make_entry(party.world, "Old Mill")
    assert engine.post("world/episodes", summary)[0] == 200
    make_entry(party.world, "Toll Bell")
    page = member(party.world, "anna", role="gm").get(PREPARE).content.decode()
    told = page.split("What has changed since")[1]
    assert "Toll Bell" in told
    assert "Old Mill" not in told
