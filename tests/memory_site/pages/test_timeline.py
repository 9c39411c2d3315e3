"""The timeline: what happened when, for those who may know it, in pages."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from episodes.models import Episode, Session
from knowledge.graph.models import GraphEdge, GraphNode, GraphRelation
from knowledge.models import Lore
from npcs.models import Appearance, DispositionChange
from tests.conftest import ApiClient
from worlds.audiences import Audience
from worlds.calendars.presets import preset
from worlds.models import Membership
from worlds.reveals import reveal
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


def client_of(world, role, party=None):
    user = User.objects.create_user(f"{role}-{party}")
    Membership.objects.create(user=user, world=world, role=role, party=party)
    client = Client()
    client.force_login(user)
    return client


def episode(party, ref, at, **more):
    given = {"what": ref, "text": ref, "place": ref, "visibility": "revealed", **more}
    return Episode.objects.create(
        world=party.world,
        campaign=party.campaign,
        party=party,
        external_id=ref,
        in_world_at=at,
        **given,
    )


def relation_between(world, visibility, since, until):
    nodes = [
        GraphNode.objects.create(
            world=world, kind="Faction", slug=slug, name=slug, visibility="public"
        )
        for slug in (f"Heron{since}", f"Gull{since}")
    ]
    return GraphEdge.objects.create(
        world=world,
        relation=GraphRelation.objects.first(),
        src=nodes[0],
        dst=nodes[1],
        src_kind="Faction",
        dst_kind="Faction",
        since=since,
        until=until,
        visibility=visibility,
    )


@pytest.fixture
def told(world, lanternbearers, gilded_oath, mira):
    """One of each kind of event, open and hidden, on the days 10 to 31."""
    mine = episode(lanternbearers, "The Quay", 10)
    episode(lanternbearers, "The Vault", 11, visibility="gm")
    episode(gilded_oath, "The Tower", 12)
    episode(lanternbearers, "The Retracted", 13, retracted_at="2026-01-01T00:00:00Z")
    common = {"world": world, "campaign": lanternbearers.campaign, "party": lanternbearers}
    Session.objects.create(
        **common, external_id="s1", title="First evening", in_world_at=14, visibility="revealed"
    )
    Session.objects.create(**common, external_id="s2", title="Secret evening", in_world_at=15)
    lore = {"world": world, "body": "", "kind": "place"}
    shown = {"visibility": "public", "status": "published"}
    Lore.objects.create(**lore, slug="flood", title="The Flood", in_world_at=16, **shown)
    Lore.objects.create(**lore, slug="pact", title="The Pact", in_world_at=17, status="published")
    Lore.objects.create(**lore, slug="d", title="The Draft", in_world_at=18, visibility="public")
    secret = Lore.objects.create(**lore, slug="bell", title="The Bell", status="published")
    reveal(secret, Audience.parse("party:gilded-oath"), in_world_at=19, by="gm")
    relation_between(world, "public", 20, 21)
    relation_between(world, "gm", 22, 23)
    Appearance.objects.create(npc=mira, episode=mine)
    DispositionChange.objects.create(
        npc=mira,
        party=lanternbearers,
        kind="episode",
        delta=40,
        reason="They came back",
        episode=mine,
        episode_version=mine.version,
        in_world_at=24,
    )
    return world


def titles(client, world, **query):
    page = client.get(f"/w/{world.slug}/timeline/", query)
    assert page.status_code == 200
    return [event.title for day in page.context["days"] for event in day.events]


def test_a_game_master_sees_everything_that_counts(told):
    seen = titles(client_of(told, "gm"), told, order="oldest")
    expected = ["The Quay", "The Vault", "The Tower", "First evening", "Secret evening"]
    expected += ["The Flood", "The Pact", "Gilded Oath: The Bell"]
    assert seen[:8] == expected
    assert len([each for each in seen if each.startswith("Heron")]) == 4
    assert seen[-1].endswith(": +40")
    assert len(seen) == 13


def test_players_see_what_their_party_knows_and_nothing_of_the_rest(told, lanternbearers):
    player = client_of(told, "player", lanternbearers)
    seen = titles(player, told, order="oldest")
    assert seen[:3] == ["The Quay", "First evening", "The Flood"]
    assert all("20" in each for each in seen[3:])
    assert len(seen) == 5
    page = player.get(f"/w/{told.slug}/timeline/").content.decode()
    for hidden in ("Vault", "Tower", "Secret evening", "Pact", "Draft", "Bell", "22", "came back"):
        assert hidden not in re.sub(r"<(head|script).*?</\1>", "", page, flags=re.S), hidden
    for kind in ("reveal", "disposition"):
        assert titles(player, told, kind=kind) == []
    for name in ("The Pact", "The Draft"):
        assert titles(player, told, about=name) == []
    assert player.get(f"/w/{told.slug}/timeline/", {"party": "gilded-oath"}).status_code == 404


def test_a_stranger_has_no_timeline(told):
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger"))
    assert stranger.get(f"/w/{told.slug}/timeline/").status_code == 404


def test_it_is_narrowed_by_kind_party_person_and_period(told, mira):
    save_calendar(told, preset("twelve-times-thirty", "en"), by="gm")
    master = client_of(told, "gm")
    assert titles(master, told, kind="session") == ["Secret evening", "First evening"]
    assert titles(master, told, party="gilded-oath") == ["Gilded Oath: The Bell", "The Tower"]
    assert titles(master, told, about=mira.name)[-1] == "The Quay"
    assert titles(master, told, **{"from": "17 Frostmoon 1", "to": "18 Frostmoon 1"}) == [
        "The Pact",
        "The Flood",
    ]
    assert titles(master, told, **{"from": "someday"}) == []


def test_days_are_shown_as_dates_with_moons_and_festivals_on_request(told):
    save_calendar(told, preset("ten-day-weeks-and-festivals", "en"), by="gm")
    episode(told.parties.first(), "Late", 40)
    client = client_of(told, "gm")
    page = client.get(f"/w/{told.slug}/timeline/", {"sky": "on"}).content.decode()
    assert "11 Frostmoon 1" in page
    assert "Midwinter Day" in page
    assert "🌔" in page
    assert "🌔" not in client.get(f"/w/{told.slug}/timeline/").content.decode()


@pytest.mark.parametrize("order", ["", "oldest"])
def test_pages_follow_each_other_without_gap_or_repetition(told, lanternbearers, order):
    for number in range(70):
        episode(lanternbearers, f"Scene {number}", 100 + number // 9)
    client, seen, query = client_of(told, "gm"), [], f"order={order}"
    while query:
        page = client.get(f"/w/{told.slug}/timeline/?{query}")
        seen += [event.title + event.note for day in page.context["days"] for event in day.events]
        query = page.context["following"]
    assert len(seen) == len(set(seen)) == 83


@pytest.mark.parametrize(
    "after", ["x", "1~1~x", "1~6~x", "nan~1~1", "1~1", "1e400~6~9", "1~6~" + "9" * 40]
)
def test_a_page_that_does_not_exist_is_answered_in_words(told, after):
    page = client_of(told, "gm").get(f"/w/{told.slug}/timeline/", {"after": after})
    assert page.status_code == 200


def test_it_takes_as_many_queries_for_thirty_rows_as_for_three_thousand(told, lanternbearers):
    client, url = client_of(told, "gm"), f"/w/{told.slug}/timeline/"
    counts = []
    for number in (30, 3000):
        common = {"world": told, "campaign": lanternbearers.campaign, "party": lanternbearers}
        rows = [
            Episode(**common, external_id=f"{number}-{at}", what="x", text="x", in_world_at=at)
            for at in range(number)
        ]
        Episode.objects.bulk_create(rows, batch_size=500)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(url).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_session_and_its_only_episode_of_the_same_title_are_one_line(told, lanternbearers):
    evening = Session.objects.get(external_id="s1")
    only = episode(lanternbearers, "First evening", 14.5, session=evening)
    master, player = client_of(told, "gm"), client_of(told, "player", lanternbearers)
    for client in (master, player):
        assert titles(client, told).count("First evening") == 1
        assert titles(client, told, kind="session")[-1:] == ["First evening"]
    # Two episodes, of which the players know one.
    episode(lanternbearers, "The Cellar", 14.6, session=evening, visibility="gm")
    assert titles(master, told).count("First evening") == 2
    assert titles(player, told).count("First evening") == 1
    # Without a day it is not on the timeline, and the session stays.
    only.in_world_at = None
    only.save()
    assert titles(player, told).count("First evening") == 1


def test_who_met_whom_is_said_by_the_episode_alone(world, lanternbearers):
    engine = ApiClient(world)
    for slug, name in (("mira-voss", "Mira Voss"), ("jory-fenn", "Jory Fenn")):
        engine.put("world/npcs", {"npc_id": slug, "name": name, "visibility": "public"})
    engine.post(
        "world/episodes",
        {
            "summary_id": "meeting",
            "party_id": "lanternbearers",
            "what": "Mira Voss paid Jory Fenn.",
            "who": {"npcs": ["mira-voss", "jory-fenn"]},
            "when": {"in_world_at": 10.0},
            "visibility": "revealed",
        },
    )
    assert [fact.label for fact in GraphEdge.objects.all()] == ["first met"]
    master, player = client_of(world, "gm"), client_of(world, "player", lanternbearers)
    for client in (master, player):
        assert len(titles(client, world)) == 1
    assert titles(master, world, kind="fact") == []
    page = master.get(f"/w/{world.slug}/npcs/mira-voss/")
    assert page.context["standing_relations"] == []
    assert [line.other.name for line in page.context["first_meetings"]] == ["Jory Fenn"]
    assert "<summary>First meetings and places: 1</summary>" in page.content.decode()
