"""A calendar is saved, read and restored; the stored days never change."""

import pytest

from retrieval.errors import StaleVersion
from tests.conftest import ApiClient
from worlds.calendar_model import CalendarVersion
from worlds.calendars.presets import preset
from worlds.world_calendar import calendar_of, restore_calendar, save_calendar

pytestmark = pytest.mark.django_db


def test_every_calendar_stays_and_can_be_restored(world):
    assert calendar_of(world) is None
    first = save_calendar(world, preset("gregorian", "en"), by="mira")
    save_calendar(world, preset("gregorian", "en"), by="mira")
    save_calendar(world, preset("twelve-times-thirty", "en"), by="odo")
    assert calendar_of(world).definition.months[0].name == "Frostmoon"
    restore_calendar(world, first.version, by="mira")
    assert calendar_of(world).definition.months[0].name == "January"
    restore_calendar(world, 0, by="mira")
    assert calendar_of(world) is None
    made = CalendarVersion.objects.filter(world=world).values_list("version", "made_by")
    assert [*made] == [(4, "mira"), (3, "mira"), (2, "odo"), (1, "mira")]


def test_of_two_people_who_change_the_same_calendar_one_is_told(world):
    save_calendar(world, preset("gregorian", "en"), by="mira", expected_version=0)
    with pytest.raises(StaleVersion):
        save_calendar(world, None, by="odo", expected_version=0)


def test_an_engine_sets_the_calendar_and_asks_for_dates(engine):
    assert engine.get("world/calendar")[1]["definition"] is None
    assert engine.get("world/calendar/date?at=76530")[1]["text"] == "day 76,530"
    status, stored = engine.put("world/calendar", {"preset": "ten-day-weeks-and-festivals"})
    assert (status, stored["version"]) == (200, 1)
    day = engine.get("world/calendar/parse?text=Midwinter Day 1492")[1]
    assert day["first"] == day["last"]
    date = engine.get(f"world/calendar/date?at={day['first']}&language=ko")[1]
    assert (date["text"], date["festivals"]) == ("1492년 Midwinter Day", ["Midwinter Day"])
    definition = stored["definition"] | {"weekdays": []}
    assert engine.put("world/calendar", {"definition": definition})[1]["version"] == 2
    versions = engine.get("world/calendar/versions")[1]["versions"]
    assert [row["version"] for row in versions] == [2, 1]


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ({"preset": "martian"}, "the presets are gregorian"),
        ({"definition": {"name": "X", "months": []}}, "months"),
        ({"definition": {"name": "X", "months": [{"name": "A", "days": 0}]}}, "At least one"),
    ],
)
def test_a_calendar_that_cannot_work_is_refused_with_the_reason(engine, body, advice):
    status, problem = engine.put("world/calendar", body)
    assert status == 422
    assert advice in str(problem)
    assert engine.get("world/calendar")[1]["version"] == 0


def test_a_text_that_is_no_date_is_refused_in_the_chosen_language(engine):
    engine.put("world/calendar", {"preset": "gregorian"})
    status, problem = engine.get("world/calendar/parse?text=someday&language=en")
    assert status == 422
    assert "3 January 100" in problem["detail"]
    assert engine.get("world/calendar/date?at=1e300")[0] == 422


def test_a_key_for_players_reads_the_calendar_and_changes_nothing(engine, world):
    player = ApiClient(world, scopes=["tools:read", "world:write"], audience="public")
    assert player.get("world/calendar")[0] == 200
    assert player.put("world/calendar", {"preset": "gregorian"})[0] == 403
    assert player.get("world/calendar/versions")[0] == 403
