"""The overlay of a campaign on the pages: read, listed and searched in its campaign alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from knowledge.models import Lore
from tests import cast
from worlds.models import Campaign, Membership, World

Write = Callable[..., Lore]
pytestmark = pytest.mark.django_db


def sign_in(world: World, name: str, **membership: Any) -> Client:
    user = get_user_model().objects.create_user(name)
    Membership.objects.create(user=user, world=world, **membership)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def other_campaign(world: World) -> Campaign:
    return cast.create_campaign(world, slug="high-water", name="High Water")


@pytest.fixture
def gm(world: World) -> Client:
    return sign_in(world, "anna", role="gm")


def choose(client: Client, world: World, campaign: str) -> int:
    return client.post(f"/w/{world.slug}/campaign/", {"campaign": campaign}).status_code


@pytest.fixture
def bells(write: Write, campaign: Campaign) -> Lore:
    """The bell of canon, and the bell that replaces it in the campaign, under the same slug."""
    canon = write("Toll Bell", "It hangs in the tower.", slug="toll-bell")
    return write(
        "Toll Bell", "It lies in the river.", slug="toll-bell", campaign=campaign, overrides=canon
    )


def test_the_overlay_answers_in_its_campaign_and_the_canon_stays_one_click_away(
    gm: Client, world: World, campaign: Campaign, other_campaign: Campaign, bells: Lore
) -> None:
    page = f"/w/{world.slug}/lore/toll-bell/"
    assert choose(gm, world, campaign.slug) == 302
    assert "lies in the river" in gm.get(page).content.decode()
    assert "hangs in the tower" in gm.get(f"{page}?canon").content.decode()
    assert choose(gm, world, other_campaign.slug) == 302
    assert "hangs in the tower" in gm.get(page).content.decode()


def test_an_entry_of_one_campaign_is_listed_and_found_there(
    gm: Client, world: World, campaign: Campaign, other_campaign: Campaign, write: Write
) -> None:
    write("Eel Court", "Eels judge the drowned.", campaign=campaign)
    for chosen, is_listed in ((campaign.slug, True), (other_campaign.slug, False), ("-", False)):
        choose(gm, world, chosen)
        listed = "Eel Court" in gm.get(f"/w/{world.slug}/lore/").content.decode()
        answer = gm.get(f"/w/{world.slug}/search/", {"q": "who judges the drowned?"})
        assert (listed, "Eel Court" in answer.content.decode()) == (is_listed, is_listed)
        assert gm.get(f"/w/{world.slug}/lore/eel-court/").status_code == 200


def test_a_player_sees_the_overlay_of_their_own_campaign_alone(
    world: World, campaign: Campaign, other_campaign: Campaign, bells: Lore
) -> None:
    own = cast.create_party(campaign)
    other = cast.create_party(other_campaign, **cast.GILDED_OATH)
    page = f"/w/{world.slug}/lore/toll-bell/"
    pat = sign_in(world, "pat", role="player", party=own)
    kim = sign_in(world, "kim", role="player", party=other)
    assert "lies in the river" in pat.get(page).content.decode()
    # The address of the canon is for game masters.
    assert "hangs in the tower" not in pat.get(f"{page}?canon").content.decode()
    assert "hangs in the tower" in kim.get(page).content.decode()


def test_nobody_chooses_a_campaign_that_is_not_theirs(gm: Client, world: World) -> None:
    assert choose(gm, world, "unknown") == 404
    assert choose(gm, world, "\x00") == 404
    pat = sign_in(world, "pat", role="player")
    assert choose(pat, world, "low-water") == 404
