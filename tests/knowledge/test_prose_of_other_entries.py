"""`lore_assert` on prose of entries that are about no entity, and on people who are described."""

import pytest
from django.db import transaction

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from tests.cast import create_world
from tests.knowledge.fact_rows import write_facts
from tests.saved_rows import SavedRows
from worlds.callers import Caller
from worlds.models import World

ENTITIES = [
    ("orla", "Character", "Orla Finch", ["Орла Финч", "오를라 핀치"]),
    ("bren", "Character", "Bren Tolk", ["Брен Толк", "브렌 톨크"]),
    ("sava", "Character", "Sava Tolk", ["Сава Толк", "사바 톨크"]),
    ("owls", "Faction", "Night Owls", ["Ночные Совы", "밤부엉이단"]),
    ("clock", "Item", "Deaf Clock", ["Глухие часы", "귀먹은 시계"]),
    ("inn", "Location", "Stuffed Heron", ["Чучело цапли", "박제 왜가리"]),
]
FACTS = [
    {"src": "orla", "relation": "RELATES_TO", "dst": "owls", "label": "leader of"},
    {"src": "bren", "relation": "PART_OF", "dst": "owls", "label": "member of"},
    {"src": "bren", "relation": "RELATES_TO", "dst": "clock", "label": "made"},
    {"src": "inn", "relation": "OWNED_BY", "dst": "orla", "label": "inn of"},
    {"src": "bren", "relation": "RELATES_TO", "dst": "sava", "label": "brother of"},
    {"src": "bren", "relation": "RELATES_TO", "dst": "inn", "label": "died in", "since": 360},
]
LORE = [
    ("en", "Under the heron", "Orla Finch keeps a blind dog. She is sixty-one and drinks no wine."),
    ("ru", "Часы", "Глухие часы выкрашены в жёлтый цвет. В их башне нет ни одного окна."),
    ("ko", "시계", "귀먹은 시계는 자정에 열세 번 울린다. 뒷면은 비어 있다."),
]


@pytest.fixture(scope="module")
def town_rows(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        world = create_world()
        for language, title, body in LORE:
            shown = {"visibility": "public", "status": "published"}
            lore = {"title": title, "kind": "custom", "language": language, "body": body, **shown}
            upsert_lore(world, LoreIn.model_validate(lore))
        write_facts(world, ENTITIES, FACTS)
        saved = SavedRows.read()
        transaction.set_rollback(True)
    return saved


@pytest.fixture
def town(town_rows, db):
    town_rows.write()
    return World.objects.get()


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Orla Finch is sixty-one years old.", "true"),
        ("Orla Finch is forty years old.", "false"),
        ("Орле Финч тридцать лет.", "false"),
        ("Глухие часы выкрашены в синий цвет.", "false"),
        ("귀먹은 시계의 뒷면은 비어 있다.", "true"),
        ("Orla Finch keeps a blind parrot.", "unknown"),
    ],
)
def test_a_sentence_that_names_nobody_is_about_the_topic_of_its_passage(town, statement, wanted):
    assert lore_assert(Assertion(fact=statement), Caller.gm(town)).result == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The man who made the Deaf Clock is dead.", "true"),
        ("The clockmaker is alive.", "false"),
        ("Bren Tolk died in 205.", "unknown"),
        ("The clockmaker is an only child.", "false"),
        ("Bren Tolk and Sava Tolk are strangers.", "false"),
        ("Bren Tolk leads the Night Owls.", "false"),
        ("Until 205 the brother of Orla led the Night Owls.", "unknown"),
    ],
)
def test_people_are_told_by_what_is_said_of_them(town, statement, wanted):
    assert lore_assert(Assertion(fact=statement), Caller.gm(town)).result == wanted
