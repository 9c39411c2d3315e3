"""Who may ask as whom."""

import pytest

from retrieval.errors import AudienceAboveCap, Invalid, NotFound
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Party, World


@pytest.mark.parametrize(
    ("cap", "asked", "granted"),
    [
        ("gm", "gm", True),
        ("gm", "npc:mira-voss", True),
        ("gm", "public", True),
        ("party:lanternbearers", "party:lanternbearers", True),
        ("party:lanternbearers", "public", True),
        ("party:lanternbearers", "gm", False),
        ("party:lanternbearers", "party:gilded-oath", False),
        ("party:lanternbearers", "party:no-such-party", False),
        ("party:lanternbearers", "npc:mira-voss", False),
        ("npc:mira-voss", "party:lanternbearers", False),
        ("public", "public", True),
        ("public", "party:lanternbearers", False),
        ("public", "gm", False),
    ],
)
def test_nobody_asks_above_the_cap(world: World, cap: str, asked: str, granted: bool) -> None:
    caller = Caller(world=world, audience=Audience.parse(cap))
    if granted:
        assert str(caller.as_audience(asked).audience) == asked
    else:
        with pytest.raises(AudienceAboveCap):
            caller.as_audience(asked)


def test_without_as_the_answer_is_for_the_cap(world: World) -> None:
    assert Caller.gm(world).as_audience(None).audience.is_gm


def test_a_game_master_names_a_party_as_people_do(lanternbearers: Party) -> None:
    caller = Caller.gm(lanternbearers.world).as_audience("party:lanternBEARERS")
    assert (str(caller.audience), caller.campaign) == (
        "party:lanternbearers",
        lanternbearers.campaign,
    )


def test_an_unknown_party_is_refused_with_candidates(lanternbearers: Party) -> None:
    with pytest.raises(NotFound) as unknown:
        Caller.gm(lanternbearers.world).as_audience("party:torchbearers")
    assert list(unknown.value.candidates) == ["lanternbearers"]


@pytest.mark.parametrize("text", ["god", "party", "party:", "gm:x", "npc:"])
def test_an_audience_that_is_none_is_invalid(world: World, text: str) -> None:
    with pytest.raises(Invalid):
        Caller.gm(world).as_audience(text)
