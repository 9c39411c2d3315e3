"""World days are shown by the dates that the world's own entries carry, as far as the viewer may
know of those.
"""

import pytest
from django.utils import translation

from knowledge.models import Lore
from worlds.audiences import GM, PUBLIC
from worlds.calendars.presets import preset
from worlds.in_world_days import day_name, names_of_days
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db


def dated(world, slug, at, label, **more):
    given = {
        "visibility": "public",
        "status": "published",
        "in_world_at": at,
        "in_world_label": label,
        **more,
    }
    return Lore.objects.create(world=world, slug=slug, title=slug, **given)


def test_a_day_is_called_by_the_shortest_date_that_something_carries(world):
    dated(
        world,
        "dusk",
        76562,
        "3 Ebb 212, dusk",
        in_world_until=76570,
        in_world_until_label="11 Ebb 212",
    )
    dated(world, "feast", 76562, "3 Ebb 212")
    dated(world, "nameless", 5, "")
    assert names_of_days(world, GM, [76562, 76570, 5, None]) == {
        76562: "3 Ebb 212",
        76570: "11 Ebb 212",
    }


def test_a_hidden_entry_and_a_draft_name_no_day_for_players(world):
    dated(world, "hidden", 7, "the Night of Knives", visibility="gm")
    dated(world, "draft", 8, "Dawn of the End", status="draft")
    assert names_of_days(world, PUBLIC, [7, 8]) == {}
    assert set(names_of_days(world, GM, [7, 8])) >= {7}


def test_a_day_without_a_date_is_told_by_its_number_in_the_readers_language():
    assert [day_name(day, {3: "3 Ebb"}) for day in (None, 3, 76562.0, 0.5)] == [
        "…",
        "3 Ebb",
        "day 76,562",
        "day 0.5",
    ]
    with translation.override("ru"):
        assert day_name(12, {}) == "день 12"


def test_a_world_with_a_calendar_shows_its_days_as_dates(world):
    dated(world, "dusk", 40, "the day of fog")
    save_calendar(world, preset("twelve-times-thirty", "en"), by="mira")
    names = names_of_days(world, GM, [40, None])
    assert [day_name(day, names) for day in (None, 40, 40.5)] == [
        "…",
        "11 Thaw 1",
        "11 Thaw 1, 12:00",
    ]
