"""Parties and characters on pages have their names, which are never read as markup."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.models import Lore
from npcs.models import NPC
from worlds.models import Membership, Party, World

pytestmark = pytest.mark.django_db
BODY = "The mill.\n\n:::secret party:lanternbearers\nIt is hollow.\n:::\n"


def client_of(world: World, role: str, party: Party | None = None) -> Client:
    user = User.objects.create_user(role)
    Membership.objects.create(user=user, world=world, role=role, party=party)
    client = Client()
    client.force_login(user)
    return client


def save_mill(world: World, body: str) -> str:
    """Save a published entry; return the address of its page."""
    save_entry(
        Lore(
            world=world,
            slug="mill",
            title="Mill",
            body=body,
            visibility="public",
            status="published",
        )
    )
    return f"/w/{world.slug}/lore/mill/"


@pytest.fixture
def mill(world: World, lanternbearers: Party) -> str:
    return save_mill(world, BODY)


def test_a_secret_says_by_name_who_knows_it(world: World, lanternbearers: Party, mill: str) -> None:
    page = client_of(world, "gm").get(mill).content.decode()
    assert '<span class="tag gm">Secret: Lanternbearers</span>' in page
    page = client_of(world, "player", lanternbearers).get(mill).content.decode()
    assert "It is hollow." in page
    assert "party:lanternbearers" not in page


def test_a_secret_that_an_npc_knows_says_so_by_the_npcs_name(world: World, mira: NPC) -> None:
    body = ":::secret npc:mira-voss, npc:nobody\nIt is hollow.\n:::\n"
    page = client_of(world, "gm").get(save_mill(world, body)).content.decode()
    assert "Secret: Mira Voss, npc:nobody" in page


def test_an_audience_that_nobody_has_is_shown_as_it_is_written(
    world: World, lanternbearers: Party
) -> None:
    body = ":::secret party:lanternbearers, party:nobody\nIt is hollow.\n:::\n"
    page = client_of(world, "gm").get(save_mill(world, body)).content.decode()
    assert "Secret: Lanternbearers, party:nobody" in page


def test_names_of_audiences_are_no_markup(world: World, lanternbearers: Party, mill: str) -> None:
    Party.objects.filter(pk=lanternbearers.pk).update(name="<b>Lamps & Sons</b>")
    page = client_of(world, "gm").get(mill).content.decode()
    assert "<b>Lamps" not in page
    name = "&lt;b&gt;Lamps &amp; Sons&lt;/b&gt;"
    assert f'name="as" value="party:lanternbearers">{name}</button>' in page
    assert f'<option value="party:lanternbearers">{name}</option>' in page


def test_the_audience_that_a_page_is_viewed_as_is_marked(
    world: World, lanternbearers: Party, mill: str
) -> None:
    client = client_of(world, "gm")
    marked = 'name="as" value="party:lanternbearers" aria-current="true">Lanternbearers<'
    assert marked not in client.get(mill).content.decode()
    client.post(f"/w/{world.slug}/as/", {"as": "party:lanternbearers"})
    assert marked in client.get(mill).content.decode()
