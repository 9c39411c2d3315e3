"""The list of NPCs: who is hostile, who belongs where, who was seen when; and what players get."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from knowledge.models import Lore
from npcs.models import NPC
from tests.conftest import ApiClient
from tests.worlds.test_people_pages import signed_in
from worlds.models import Party, World
from worlds.roles import Role

pytestmark = pytest.mark.django_db


def names(client: Client, query: str = "") -> list[str]:
    """Return the names that the list shows, in its order."""
    page = client.get(f"/w/ferrymark/npcs/?{query}").content.decode()
    return re.findall(
        r'<th scope="row">.*?<a href="/w/ferrymark/npcs/[^"]+">([^<]+)</a>', page, re.S
    )


def ingest(engine: ApiClient, number: int, session: int, what: str, **more: object) -> None:
    body = {
        "summary_id": f"ep-{number}",
        "session_id": f"s-{session}",
        "party_id": "lanternbearers",
        "when": {"real": f"2026-09-{number:02d}T18:00:00Z", "in_world_at": number},
        "what": what,
        **more,
    }
    status, answer = engine.post("world/episodes", body)
    assert status == 200, answer


@pytest.fixture
def gm(world: World) -> Client:
    return signed_in("gil", world, Role.GM)


@pytest.fixture
def player(lanternbearers: Party) -> Client:
    return signed_in("pat", lanternbearers.world, Role.PLAYER, party=lanternbearers)


@pytest.fixture(autouse=True)
def history(
    engine: ApiClient, mira: NPC, jory: NPC, ninth_oarsman: NPC, lanternbearers: Party
) -> None:
    NPC.objects.filter(pk=mira.pk).update(faction="Ferry Guild", home="Lower Landing")
    NPC.objects.filter(pk=jory.pk).update(faction="Ferry Guild", home="Toll House")
    ingest(
        engine,
        1,
        1,
        "Jory cursed the party.",
        who={"npcs": ["jory-fenn"]},
        relations_delta=[{"npc": "jory-fenn", "delta": -30, "reason": "They broke the bell."}],
    )
    ingest(
        engine,
        2,
        2,
        "Mira Voss thanked the party.",
        who={"npcs": ["mira-voss"]},
        where="Salt Stairs",
        relations_delta=[{"npc": "mira-voss", "delta": 25, "reason": "They saved her brother."}],
    )


def test_who_is_hostile_to_us(gm: Client, jory: NPC, mira: NPC) -> None:
    assert names(gm, "label=unfriendly") == [jory.name]
    assert names(gm, "sort=worst")[0] == jory.name
    assert names(gm, "sort=best")[0] == mira.name
    page = gm.get("/w/ferrymark/npcs/?party=lanternbearers").content.decode()
    assert re.search(r"<b>unfriendly</b> 1<", page, re.S)


def test_faction_home_and_text(gm: Client, jory: NPC, mira: NPC, ninth_oarsman: NPC) -> None:
    assert set(names(gm, "faction=Ferry+Guild")) == {jory.name, mira.name}
    assert names(gm, "home=Toll+House") == [jory.name]
    assert names(gm, "faction=-") == [ninth_oarsman.name]
    assert names(gm, "text=mira") == [mira.name]
    assert names(gm, "text=nobody-of-this-name") == []


def test_last_seen(gm: Client, jory: NPC, mira: NPC, ninth_oarsman: NPC) -> None:
    assert names(gm, "sort=seen") == [mira.name, jory.name, ninth_oarsman.name]
    assert names(gm, "sort=unseen") == [jory.name, mira.name, ninth_oarsman.name]
    assert names(gm, "seen=session") == [mira.name]
    assert names(gm, "seen=never") == [ninth_oarsman.name]
    page = gm.get("/w/ferrymark/npcs/").content.decode()
    assert re.search(r'episodes/ep-2/">Salt Stairs<', page, re.S)


def test_players_filter_by_what_they_know_alone(
    player: Client, engine: ApiClient, jory: NPC, mira: NPC
) -> None:
    """Jory's faction is secret, and he was at the second meeting in disguise."""
    guild = Lore.objects.create(
        world=mira.world, slug="ferry-guild", title="Ferry Guild", kind="faction", visibility="gm"
    )
    NPC.objects.all().update(visibility="public")
    NPC.objects.filter(pk=jory.pk).update(faction_visibility="gm")
    NPC.objects.filter(pk=mira.pk).update(faction_lore=guild)
    ingest(engine, 3, 3, "Mira Voss met a cloaked man.", who={"npcs": ["jory-fenn", "mira-voss"]})

    page = player.get("/w/ferrymark/npcs/").content.decode()
    assert "Ferry Guild" not in page
    assert names(player, "faction=Ferry+Guild") == []
    assert jory.name in names(player, "faction=-")
    assert names(player, "seen=session") == [mira.name]
    assert names(player, "sort=seen")[0] == mira.name


def test_unknown_values_of_an_address_are_left_out(gm: Client) -> None:
    every = names(gm)
    assert len(every) == 3
    assert names(gm, "label=angry&sort=luck&seen=tomorrow&party=nobody&page=x") == every


def test_a_page_is_a_fixed_number_of_statements(gm: Client, world: World) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            gm.get("/w/ferrymark/npcs/?sort=seen&label=neutral")
        return len(captured)

    statements()
    before = statements()
    for number in range(30):
        NPC.objects.create(world=world, slug=f"npc-{number}", name=f"Person {number}")
    assert statements() == before
