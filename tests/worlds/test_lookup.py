"""What decides where a write goes, or what a caller may see, is found by its exact name."""

import pytest

from retrieval.errors import NotFound
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.lookup import find_campaign
from worlds.models import Campaign, Party, World


@pytest.mark.parametrize("reference", ["low-water", "Low Water", "LOW WATER"])
def test_a_campaign_is_found_by_its_whole_name(campaign: Campaign, reference: str) -> None:
    assert find_campaign(campaign.world, reference) == campaign


@pytest.mark.parametrize("reference", ["low-watr", "Low Waters", "Low"])
def test_a_slip_in_the_name_of_a_campaign_is_refused(campaign: Campaign, reference: str) -> None:
    with pytest.raises(NotFound):
        find_campaign(campaign.world, reference)


def test_an_audience_is_not_guessed(world: World, lanternbearers: Party) -> None:
    caller = Caller(world=world, audience=GM)
    assert caller.as_audience("party:lanternbearers").audience.slug == "lanternbearers"
    with pytest.raises(NotFound):
        caller.as_audience("party:lanternbarers")
