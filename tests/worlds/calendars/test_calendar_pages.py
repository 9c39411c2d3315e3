"""Everybody reads the calendar; game masters choose, change, import and restore it."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from worlds.calendar_model import CalendarVersion
from worlds.calendars.presets import PRESETS, preset
from worlds.models import Membership
from worlds.world_calendar import calendar_of, save_calendar

pytestmark = pytest.mark.django_db
KANKA = {
    "name": "Georgian Calendar",
    "months": [
        {"name": "Dawn", "length": 30, "type": "standard"},
        {"name": "Feast", "length": 1, "type": "intercalary"},
        {"name": "Dusk", "length": 31, "type": "standard", "alias": "Du"},
    ],
    "weekdays": ["Sul", "Mol", "Zol"],
    "seasons": [{"name": "Spring", "month": 1, "day": 1}],
    "moons": [{"name": "Zar", "fullmoon": "13", "offset": 0}],
    "suffix": "BC",
    "has_leap_year": True,
    "leap_year_amount": 4,
    "leap_year_month": 3,
    "leap_year_offset": 3,
    "leap_year_start": 233,
}
SIMPLE = {
    "calendar": {
        "leapYear": {"rule": "gregorian", "customMod": 0},
        "months": [
            {
                "name": "January",
                "abbreviation": "Jan",
                "numberOfDays": 31,
                "numberOfLeapYearDays": 32,
                "intercalary": False,
                "startingWeekday": None,
            }
        ],
        "weekdays": [{"name": "Sunday"}, {"name": "Monday"}],
        "year": {"postfix": " DR", "firstWeekday": 1},
        "seasons": [{"name": "Winter", "startingMonth": 0, "startingDay": 20}],
        "moons": [{"name": "Moon", "cycleLength": 29.5, "cycleDayAdjust": 0.5}],
        "time": {"hoursInDay": 20, "minutesInHour": 50},
    }
}


def client_of(world, role):
    user = User.objects.create_user(role)
    Membership.objects.create(user=user, world=world, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def master(world):
    return client_of(world, "gm")


@pytest.fixture
def player(world):
    return client_of(world, "player")


def address(world, rest=""):
    return f"/w/{world.slug}/calendar/{rest}"


def typed(page):
    """Return what a browser would send of the form of a calendar."""
    editor = page.context["editor"]
    forms = [editor.main, *(rows.management_form for _title, rows in editor.parts)]
    forms += [form for _title, rows in editor.parts for form in rows]
    return {
        field.html_name: field.value()
        for form in forms
        for field in form
        if field.value() is not None and field.value() is not False
    }


def text(page):
    return page.content.decode()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_saved_as_it_is_offered(master, world, name):
    page = master.get(address(world, f"edit/?preset={name}"))
    assert calendar_of(world) is None
    assert master.post(address(world, "edit/"), typed(page)).status_code == 302
    assert calendar_of(world).definition == preset(name, world.language)


def test_a_calendar_is_moved_to_the_stored_days_by_one_known_date(master, world):
    page = master.get(address(world, "edit/?preset=twelve-times-thirty"))
    sent = typed(page) | {"anchor_day": "76562", "anchor_date": "3 Vintage 212"}
    assert master.post(address(world, "edit/"), sent).status_code == 302
    page = master.get(address(world), {"date": "76562"})
    assert "3 Vintage 212" in text(page)
    assert "day 76,562" in text(page)


def test_rows_are_added_and_removed(master, world):
    save_calendar(world, preset("twelve-times-thirty", "en"), by="mira")
    page = master.get(address(world, "edit/"))
    more = master.post(address(world, "edit/"), typed(page) | {"more": "festivals"})
    assert more.context["editor"].parts[4][1].total_form_count() == 4
    sent = typed(page) | {
        "festivals-0-name": "Night of Lamps",
        "festivals-0-month": "Thaw",
        "festivals-0-day": "4",
    }
    sent["seasons-0-name"] = ""
    assert master.post(address(world, "edit/"), sent).status_code == 302
    definition = calendar_of(world).definition
    assert [each.name for each in definition.festivals] == ["Night of Lamps"]
    assert len(definition.seasons) == 3


def test_what_cannot_work_comes_back_with_the_reason(master, world):
    page = master.get(address(world, "edit/?preset=gregorian"))
    answer = master.post(address(world, "edit/"), typed(page) | {"months-1-name": "January"})
    assert answer.status_code == 422
    assert "occurs twice" in text(answer)
    assert 'value="December"' in text(answer)
    assert calendar_of(world) is None


def test_of_two_people_with_the_form_open_the_second_is_told(master, world):
    page = master.get(address(world, "edit/?preset=gregorian"))
    save_calendar(world, preset("twelve-times-thirty", "en"), by="odo")
    assert master.post(address(world, "edit/"), typed(page)).status_code == 409
    assert calendar_of(world).definition.months[0].name == "Frostmoon"


def test_an_older_calendar_is_used_again(master, world):
    save_calendar(world, preset("gregorian", "en"), by="mira")
    save_calendar(world, None, by="mira")
    assert master.post(address(world, "versions/1/restore/")).status_code == 302
    assert calendar_of(world).months[0].name == "January"
    master.post(address(world, "versions/0/restore/"))
    assert calendar_of(world) is None
    assert CalendarVersion.objects.count() == 4


@pytest.mark.parametrize(
    ("content", "months", "weekday", "leap"),
    [(KANKA, ["Dawn", "Feast", "Dusk"], "Sul", 4), (SIMPLE, ["January"], "Monday", 1)],
)
def test_a_calendar_of_another_program_fills_in_the_form(
    master, world, content, months, weekday, leap
):
    file = SimpleUploadedFile("calendar.json", json.dumps(content).encode())
    page = master.post(address(world, "edit/"), {"file": file})
    assert calendar_of(world) is None
    assert master.post(address(world, "edit/"), typed(page)).status_code == 302
    calendar = calendar_of(world)
    assert [month.name for month in calendar.months] == months
    assert calendar.weekday_of(calendar.date_of(0)) == weekday
    assert calendar.definition.leap_rules[0].days == leap


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"calendars": []}', b"\xff\xfe"])
def test_another_file_is_refused_with_the_reason(master, world, content):
    file = SimpleUploadedFile("calendar.json", content or b" ")
    answer = master.post(address(world, "edit/"), {"file": file}, follow=True)
    assert 'class="bad' in text(answer) or "bad" in text(answer)
    assert calendar_of(world) is None


def test_players_read_the_calendar_and_change_nothing(player, world):
    save_calendar(world, preset("gregorian", "en"), by="the designer")
    page = player.get(address(world), {"date": "3 February 1492"})
    assert page.status_code == 200
    assert "the designer" not in text(page)
    assert player.get(address(world, "edit/")).status_code == 404
    assert player.post(address(world, "versions/0/restore/")).status_code == 404


def test_a_text_that_is_no_date_is_answered_with_what_to_write(master, world):
    save_calendar(world, preset("gregorian", "en"), by="mira")
    assert "3 January 100" in text(master.get(address(world), {"date": "someday"}))
