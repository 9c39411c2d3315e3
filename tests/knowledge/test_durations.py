"""`lore_assert` on how long something lasted, and on families by the plural of their name."""

import pytest
from django.db import transaction

from knowledge.fact_check.durations import Duration, strip_duration
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from tests.cast import create_world
from tests.saved_rows import SavedRows
from worlds.calendars.definition import CalendarDefinition, Month
from worlds.callers import Caller
from worlds.models import World
from worlds.world_calendar import save_calendar

pytestmark = pytest.mark.django_db

YEAR = 360
NOW = 640 * YEAR
ENTITIES = [
    ("sefa", "Character", "Sefa Noll", ["Сефа Нолл", "세파 놀"]),
    ("corrin", "Character", "Corrin Tamsel", ["Коррин Тамсель", "코린 탐셀"]),
    ("ilvane", "Character", "Ilvane Tamsel", ["Ильвейн Тамсель", "일베인 탐셀"]),
    ("tamsel", "Faction", "House Tamsel", ["дом Тамсель", "탐셀 가문"]),
    ("fleet", "Faction", "Crown Fleet", ["Королевский флот", "왕실 함대"]),
    ("gulls", "Faction", "Red Gulls", ["Красные Чайки", "붉은 갈매기단"]),
    ("murn", "Location", "Isle of Murn", ["остров Мурн", "무른섬"]),
    ("war", "Event", "Well War", ["Колодезная война", "우물 전쟁"]),
]
FACTS = [
    {"src": "sefa", "relation": "RELATES_TO", "dst": "fleet", "label": "leads", "since": 633},
    {"src": "sefa", "relation": "LOCATED_IN", "dst": "murn", "since": 635},
    {"src": "corrin", "relation": "RELATES_TO", "dst": "gulls", "label": "leads"},
    {"src": "war", "relation": "LOCATED_IN", "dst": "murn", "since": 612, "until": 618},
    {"src": "fleet", "relation": "ALLY_WITH", "dst": "tamsel"},
]


@pytest.fixture(scope="module")
def dated_rows(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        world = create_world()
        months = [Month(name=f"Month {number}", days=30) for number in range(1, 13)]
        definition = CalendarDefinition(name="Year", months=months, year_one_begins=YEAR)
        save_calendar(world, definition, by="test")
        nodes = [
            {"node": {"slug": slug, "kind": kind, "name": name, "aliases": aliases}}
            for slug, kind, name, aliases in ENTITIES
        ]
        edges = [
            {
                "edge": {
                    **fact,
                    **{end: fact[end] * YEAR for end in ("since", "until") if end in fact},
                }
            }
            for fact in FACTS
        ]
        upsert_facts(world, [GraphFact.model_validate(row) for row in [*nodes, *edges]])
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def island(dated_rows, db):
    dated_rows.write()
    return World.objects.get()


def check(world, statement, at=None):
    return lore_assert(Assertion(fact=statement, at=at), Caller.gm(world)).result


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Sefa has led the Crown Fleet for seven years.", "true"),
        ("Sefa has led the Crown Fleet for twenty years.", "false"),
        ("Sefa has led the Crown Fleet for less than ten years.", "true"),
        ("Sefa has led the Crown Fleet for more than ten years.", "false"),
        ("Сефа живёт на острове Мурн уже пять лет.", "true"),
        ("Сефа живёт на острове Мурн двадцать лет.", "false"),
        ("세파는 무른섬에서 산 지 5년째이다.", "true"),
        ("세파는 무른섬에서 산 지 20년째이다.", "false"),
        ("Corrin has led the Red Gulls for seven years.", "unknown"),
    ],
)
def test_how_long_something_has_lasted_is_counted_to_the_day_of_the_question(
    island, statement, wanted
):
    assert check(island, statement, at=NOW) == wanted
    assert check(island, statement) == "unknown"


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The Well War lasted six years.", "true"),
        ("The Well War dragged on for eleven years.", "false"),
        ("Колодезная война длилась шесть лет.", "true"),
        ("Колодезная война шла двадцать лет.", "false"),
        ("우물 전쟁은 6년 동안 이어졌다.", "true"),
        ("우물 전쟁은 11년 동안 계속되었다.", "false"),
        ("The Well War lasted about six years.", "true"),
    ],
)
def test_how_long_an_event_lasted_is_told_by_its_facts(island, statement, wanted):
    assert check(island, statement) == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The Crown Fleet is allied with the Tamsels.", "true"),
        ("Тамсели и Королевский флот — союзники.", "true"),
    ],
)
def test_a_surname_in_the_plural_is_the_family(island, statement, wanted):
    assert check(island, statement) == wanted


def test_a_surname_of_two_people_stays_ambiguous(island):
    assert check(island, "Tamsel leads the Red Gulls.") == "unknown"


def test_a_year_is_no_duration():
    assert strip_duration("M0 возглавляет M1_x с 622 года", "ru")[1] is None
    assert strip_duration("с 622 года M0 возглавляет M1_x", "ru")[1] is None
    assert strip_duration("M0 was built in year 622", "en")[1] is None
    assert strip_duration("M0_은 622년에 M1_을 세웠다", "ko")[1] is None


def test_what_was_years_ago_is_no_duration():
    assert strip_duration("M0 left M1 three years ago", "en")[1] is None
    assert strip_duration("M0 ушел от M1_x три года назад", "ru")[1] is None


def test_a_year_more_or_less_is_left_open():
    assert Duration(6).fits(6)
    assert Duration(7).fits(6)
    assert Duration(5).fits(6) is None
    assert Duration(11).fits(6) is False
    assert Duration(10, "less").fits(10) is None
