"""`lore_assert` on who does what to whom: swapped names, pronouns, relative clauses, and what the
lore says word for word."""

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
    ("ash-gate", "Location", "Ash Gate", []),
    ("cinder-bay", "Location", "Cinder Bay", []),
    ("hollow-forge", "Location", "Hollow Forge", []),
    ("glass-light", "Location", "The Glass Light", []),
    ("cracked-bell", "Location", "The Cracked Bell", []),
    ("quench", "Event", "The Quench", []),
    ("maren", "Character", "Maren Holt", ["Марен Холт"]),
    ("dorrin", "Character", "Dorrin Vale", ["Доррин Вейл", "도린 베일"]),
    ("wardens", "Faction", "Kiln Wardens", []),
    ("tarn", "Location", "Тарн", []),
    ("bridge", "Location", "Серебряный мост", []),
    ("north-gate", "Location", "북문", []),
    ("harbour", "Location", "잿빛 항구", []),
    ("forge-ko", "Location", "검은 대장간", []),
    ("hale-ko", "Character", "헤일", []),
    ("sluice", "Location", "Старый шлюз", []),
]
FACTS = [
    {"src": "glass-light", "relation": "OWNED_BY", "dst": "wardens"},
    {"src": "cracked-bell", "relation": "OWNED_BY", "dst": "maren"},
]
LORE = [
    (
        "en",
        "Ash Gate",
        "It faces [[Cinder Bay]]. It is older than [[The Glass Light]]. It was carved by Brother "
        "Hale, who serves [[Hollow Forge]]. It has nine bells and a bridge to "
        "[[The Cracked Bell]]. The gate guards [[Hollow Forge]] from the sea, and it has a "
        "red roof.",
    ),
    ("en", "Hollow Forge", "It stands north of Cinder Bay. North of the Ash Gate lies the Forge."),
    ("en", "The Glass Light", "[[Maren Holt]] keeps it."),
    ("en", "The Cracked Bell", "It hangs in [[The Glass Light]]."),
    ("en", "The Quench", "In 205 the sea came into Hollow Forge and the mountain went out."),
    ("ru", "Серебряный мост", "Он стоит южнее крепости [[Тарн]]. Он старше, чем [[Старый шлюз]]."),
    ("ru", "Старый шлюз", "Его вырезал брат Гейл, который служит крепости [[Тарн]]."),
    ("ko", "북문", "[[잿빛 항구]]보다 오래되었다. [[검은 대장간]]을 섬기는 [[헤일]]이 조각했다."),
]


@pytest.fixture(scope="module")
def island_rows(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        world = create_world()
        write_facts(world, ENTITIES, FACTS)
        for language, title, body in LORE:
            shown = {"visibility": "public", "status": "published"}
            kind = "event" if title == "The Quench" else "place"
            lore = {"title": title, "kind": kind, "language": language, "body": body, **shown}
            upsert_lore(world, LoreIn.model_validate(lore))
        saved = SavedRows.read()
        transaction.set_rollback(True)
    return saved


@pytest.fixture
def island(island_rows, db):
    island_rows.write()
    return World.objects.get()


def check(world, statement):
    return lore_assert(Assertion(fact=statement), Caller.gm(world)).result


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Ash Gate faces Cinder Bay.", "true"),
        ("Cinder Bay faces Ash Gate.", "unknown"),
        ("Ash Gate is faced by Cinder Bay.", "unknown"),
        ("The Ash Gate is older than The Glass Light.", "true"),
        ("The Glass Light is older than the Ash Gate.", "unknown"),
        ("The Ash Gate guards Hollow Forge from the sea.", "true"),
        ("Hollow Forge guards the Ash Gate from the sea.", "unknown"),
        ("Hollow Forge stands north of Cinder Bay.", "true"),
        ("Cinder Bay stands north of Hollow Forge.", "unknown"),
        ("North of Hollow Forge stands Cinder Bay.", "unknown"),
        ("The Cracked Bell hangs in The Glass Light.", "true"),
        ("The Glass Light hangs in the Cracked Bell.", "unknown"),
        ("Серебряный мост старше, чем Старый шлюз.", "true"),
        ("Старый шлюз старше, чем Серебряный мост.", "unknown"),
        ("Крепость Тарн стоит южнее Серебряного моста.", "unknown"),
        ("북문은 잿빛 항구보다 오래되었다.", "true"),
        ("잿빛 항구는 북문보다 오래되었다.", "unknown"),
        ("북문보다 잿빛 항구가 오래되었다.", "unknown"),
    ],
)
def test_swapped_names_say_something_else(island, statement, wanted):
    assert check(island, statement) == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The Ash Gate has nine bells.", "true"),
        ("The Cracked Bell has nine bells.", "unknown"),
        ("Hollow Forge has a red roof.", "unknown"),
    ],
)
def test_what_is_said_of_the_entry_is_not_said_of_a_place_named_in_the_sentence(
    island, statement, wanted
):
    assert check(island, statement) == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The Ash Gate was carved by Brother Hale, who serves Hollow Forge.", "true"),
        ("The Ash Gate was carved by Brother Hale.", "true"),
        ("The Ash Gate serves Hollow Forge.", "unknown"),
        ("Старый шлюз служит крепости Тарн.", "unknown"),
        ("Старый шлюз вырезал брат Гейл.", "true"),
        ("Крепость Тарн вырезал брат Гейл.", "unknown"),
        ("Hollow Forge was carved by Brother Hale.", "unknown"),
        ("It faces Cinder Bay.", "unknown"),
        ("북문은 검은 대장간을 섬긴다.", "unknown"),
        ("헤일은 검은 대장간을 섬긴다.", "true"),
        ("북문은 헤일이 조각했다.", "true"),
    ],
)
def test_a_relative_clause_is_about_the_noun_beside_it(island, statement, wanted):
    assert check(island, statement) == wanted


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Maren Holt keeps The Glass Light.", "true"),
        ("The Glass Light is kept by Maren Holt.", "true"),
        ("The Kiln Wardens keep The Glass Light.", "true"),
        ("Dorrin Vale owns the Cracked Bell.", "false"),
        ("Dorrin Vale has the Cracked Bell.", "unknown"),
        ("Dorrin Vale keeps the Cracked Bell.", "unknown"),
        ("Dorrin Vale is the keeper of the Cracked Bell.", "unknown"),
        ("Dorrin Vale runs the Cracked Bell.", "unknown"),
        ("The Cracked Bell is held by Dorrin Vale.", "unknown"),
        ("The Cracked Bell is in the hands of Dorrin Vale.", "unknown"),
        ("It is Dorrin Vale who keeps the Cracked Bell going.", "unknown"),
        ("Maren Holt has the Cracked Bell.", "true"),
        ("Dorrin Vale does not keep the Cracked Bell.", "unknown"),
        ("Доррин Вейл владеет The Cracked Bell.", "false"),
        ("Dorrin Vale держит The Cracked Bell.", "unknown"),
        ("Доррин Вейл управляет The Cracked Bell.", "unknown"),
        ("Марен Холт держит The Cracked Bell.", "true"),
        ("도린 베일이 The Cracked Bell을 소유한다.", "false"),
        ("Dorrin Vale가 The Cracked Bell을 보관한다.", "unknown"),
        ("도린 베일은 The Cracked Bell을 가지고 있다.", "unknown"),
        ("도린 베일은 The Cracked Bell을 운영한다.", "unknown"),
    ],
)
def test_who_keeps_or_runs_a_thing_need_not_own_it(island, statement, wanted):
    assert check(island, statement) == wanted


@pytest.mark.parametrize(
    "statement",
    [
        "In 205 the sea came into Hollow Forge and the mountain went out.",
        "Серебряный мост стоит южнее крепости Тарн.",
        "Серебряный мост стоит южнее крепости «Тарн»",
    ],
)
def test_what_the_lore_says_word_for_word_is_true(island, statement):
    assert check(island, statement) == "true"
