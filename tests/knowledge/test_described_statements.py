"""`lore_assert` on statements that describe whom they mean, that say what a label says in its own
words, that are about one name alone, or about two things at once."""

import pytest
from django.db import transaction

from knowledge.fact_check.descriptions import MOST_READINGS, DescriptionReader
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.statements import StatementReader
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.caller_views import view_at
from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from tests.cast import create_world
from tests.saved_rows import SavedRows
from worlds.callers import Caller
from worlds.models import World

pytestmark = pytest.mark.django_db

ENTITIES = [
    ("sefa", "Character", "Sefa Noll", ["Сефа Нолл", "세파 놀"]),
    ("dorn", "Character", "Dorn Fell", ["Дорн Фелл", "도른 펠"]),
    ("nesse", "Character", "Nesse Fell", ["Нессе Фелл", "네세 펠"]),
    ("ilka", "Character", "Ilka Tarn", ["Илка Тарн", "일카 탄"]),
    ("bertil", "Character", "Bertil Onn", ["Бертил Онн", "베르틸 온"]),
    ("crown-fleet", "Faction", "Crown Fleet", ["Королевский флот", "왕실 함대"]),
    ("red-gulls", "Faction", "Red Gulls", ["Красные Чайки", "붉은 갈매기단"]),
    ("ombrel", "Location", "Ombrel", ["Омбрель", "옴브렐"]),
    ("port-lanthe", "Location", "Port Lanthe", ["Порт-Ланте", "란테 항"]),
    ("thorn", "Location", "Thornwater", ["Терновода", "가시물 마을"]),
    ("murn", "Location", "Isle of Murn", ["остров Мурн", "무른섬"]),
    ("dagget", "Location", "Fort Dagget", ["форт Даггет", "다겟 요새"]),
    ("siege", "Event", "Siege of Dagget", ["осада Даггета", "다겟 공성전"]),
    ("bell", "Item", "Queen's Bell", ["Колокол королевы", "여왕의 종"]),
    ("atlas", "Item", "Bone Atlas", ["Костяной атлас", "뼈 지도책"]),
    ("spire", "Location", "Saltspire", ["Солешпиль", "소금첨탑"]),
]
FACTS = [
    ("sefa", "PART_OF", "crown-fleet", "admiral of"),
    ("dorn", "PART_OF", "red-gulls", "captain of"),
    ("nesse", "KNOWS", "dorn", "daughter of"),
    ("sefa", "ENEMY_OF", "dorn", "has sworn to hang"),
    ("nesse", "KNOWS", "sefa", "owes 4,000 crowns to"),
    ("ilka", "KNOWS", "bertil", "former pupil of"),
    ("ilka", "RELATES_TO", "atlas", "drew the last chart of"),
    ("ilka", "KNOWS", "nesse", "friend of"),
    ("bertil", "LOCATED_IN", "dagget", "commander of"),
    ("port-lanthe", "PART_OF", "ombrel", "capital of"),
    ("thorn", "PART_OF", "ombrel", "village in"),
    ("spire", "PART_OF", "thorn", "lighthouse in"),
    ("spire", "RELATES_TO", "red-gulls", "built in the year 544 by"),
    ("dagget", "PART_OF", "murn", ""),
    ("siege", "INVOLVES", "dorn", "maimed"),
    ("bell", "RELATES_TO", "red-gulls", "was cast by"),
]


@pytest.fixture(scope="module")
def harbour_rows(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        world = create_world()
        nodes = [
            {"node": {"slug": slug, "kind": kind, "name": name, "aliases": aliases}}
            for slug, kind, name, aliases in ENTITIES
        ]
        edges = [
            {"edge": {"src": src, "relation": relation, "dst": dst, "label": label}}
            for src, relation, dst, label in FACTS
        ]
        upsert_facts(world, [GraphFact.model_validate(row) for row in [*nodes, *edges]])
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def harbour(harbour_rows, db):
    harbour_rows.write()
    return World.objects.get()


def check(world, statement):
    return lore_assert(Assertion(fact=statement), Caller.gm(world))


CASES = {
    "who is named by an office, a kinship or a kind": [
        ("The admiral and the captain of the Red Gulls are enemies.", "true"),
        ("The admiral is the commander of the fort on Murn.", "false"),
        ("Ilka is a friend of Dorn's daughter.", "true"),
        ("Фортом на острове командует Бертил.", "true"),
        ("Дочь Дорна дружит с Илкой.", "true"),
        ("무른섬에 있는 요새는 베르틸이 지휘한다.", "true"),
        ("도른의 딸은 일카의 친구이다.", "true"),
        ("함대의 제독은 도른의 친구이다.", "false"),
    ],
    "an ambiguous part of a name is settled by a title or by what has a name of its own": [
        ("Dagget is on Murn.", "true"),
        ("펠 선장은 세파의 적이다.", "true"),
        ("Fell is an enemy of Sefa.", "unknown"),
    ],
    "the words of a label, by what they mean, in any language": [
        ("The Queen's Bell was made by the Red Gulls.", "true"),
        ("The Queen's Bell was cast by the Crown Fleet.", "false"),
        ("Колокол королевы отлили Красные Чайки.", "true"),
        ("여왕의 종은 왕실 함대가 만들었다.", "false"),
        ("도른은 다겟에서 불구가 됐다.", "true"),
        ("Dorn has sworn to hang Sefa.", "unknown"),
    ],
    "when something was built": [
        ("The Saltspire was built in 544.", "unknown"),  # the world has no calendar
    ],
    "of one name alone": [
        ("Sefa was admiral but has since retired.", "false"),
        ("Сефа больше не адмирал.", "false"),
        ("세파는 제독이다.", "true"),
        ("Dorn has a daughter.", "true"),
        ("У Дорна нет дочери.", "false"),
        ("Ilka has no brother.", "unknown"),
    ],
    "somebody has somebody": [
        ("Dorn has a daughter called Nesse.", "true"),
        ("У Дорна есть дочь Нессе.", "true"),
        ("도른에게는 네세라는 딸이 있다.", "true"),
        ("베르틸에게는 일카라는 제자가 있었다.", "true"),
    ],
    "how much is owed": [
        ("Nesse owes 4,000 crowns to Sefa.", "true"),
        ("Nesse owes 500 crowns to Sefa.", "false"),
        ("네세는 세파에게 4천 크라운을 빚졌다.", "true"),
        ("Sefa owes 4,000 crowns to Nesse.", "false"),
    ],
    "what a label says is over": [
        ("Ilka used to be Bertil's pupil.", "true"),
        ("Ilka is Bertil's pupil.", "false"),
    ],
    "two things at once": [
        ("Dorn is the father of Nesse and an enemy of Sefa.", "true"),
        ("Dorn is the father of Nesse and a friend of Sefa.", "false"),
    ],
    "a place is in one of two places beside each other": [
        ("The Saltspire is in Port Lanthe.", "false"),
        ("The Saltspire is in Ombrel.", "true"),
        ("The Saltspire is on the Isle of Murn.", "unknown"),
    ],
    "what has no article may be any one of its kind": [
        ("Илка владеет атласом.", "unknown"),
        ("네세는 지도책을 가지고 있다.", "unknown"),
    ],
    "idioms for liking and hating": [
        ("Sefa and Dorn can't stand each other.", "true"),
        ("There is no love lost between Sefa and Dorn.", "true"),
        ("Сефа на дух не переносит Дорна.", "true"),
        ("세파와 도른은 견원지간이다.", "true"),
        ("일카와 네세는 죽마고우다.", "true"),
        ("Sefa made off with the Queen's Bell.", "unknown"),
    ],
}


@pytest.mark.parametrize("construction", CASES)
def test_a_statement_is_read_by(construction, harbour):
    answers = [(said, check(harbour, said).result) for said, _result in CASES[construction]]
    assert answers == CASES[construction]


def test_few_readings_are_tried(harbour):
    view = view_at(Caller.gm(harbour), None, None)
    text = "The admiral of the fleet, the captain, the fort on the island, the bell and the atlas"
    reader = StatementReader(text, view)
    readings = DescriptionReader(text, reader.linker, view).readings([])
    assert 1 < len(list(readings)) <= MOST_READINGS
