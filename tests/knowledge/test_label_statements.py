"""`lore_assert` over facts whose label says more than their relation, whatever the relation is."""

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from worlds.callers import Caller

pytestmark = pytest.mark.django_db

ENTITIES = [
    ("Character", "Queen Aldis", ["королева Алдис", "알디스 여왕"]),
    ("Character", "Prince Tovar", ["принц Товар", "토바르 왕자"]),
    ("Character", "Lady Brenna", ["леди Бренна", "브렌나 부인"]),
    ("Character", "Edda Crane", ["Эдда Крейн", "에다 크레인"]),
    ("Character", "Hask Ondrel", ["Хаск Ондрел", "하스크 온드렐"]),
    ("Faction", "Salt Fleet", ["Соляной флот", "소금 함대"]),
    ("Item", "Grey Heron", ["«Серая цапля»", "회색왜가리호"]),
    ("Location", "Tarn Isle", ["остров Тарн", "타른섬"]),
    ("Location", "Low Country", []),
    ("Location", "Marrow Abbey", ["аббатство Марроу", "매로 수도원"]),
    ("Event", "Reed Treaty", ["Тростниковый договор", "갈대 조약"]),
]
FACTS = [
    ("Queen Aldis", "KNOWS", "Prince Tovar", "mother of", {}),
    ("Prince Tovar", "KNOWS", "Lady Brenna", "betrothed to", {}),
    ("Edda Crane", "PART_OF", "Salt Fleet", "admiral of", {"since": 200.0}),
    ("Edda Crane", "RELATES_TO", "Grey Heron", "captain of", {}),
    ("Hask Ondrel", "PART_OF", "Salt Fleet", "first mate of", {"until": 300.0}),
    ("Hask Ondrel", "KNOWS", "Edda Crane", "sailed with", {"until": 300.0}),
    ("Lady Brenna", "KNOWS", "Hask Ondrel", "owes 4,000 crowns to", {}),
    ("Hask Ondrel", "KNOWS", "Lady Brenna", "godfather of", {}),
    ("Marrow Abbey", "PART_OF", "Low Country", "", {}),
    ("Tarn Isle", "PART_OF", "Low Country", "", {}),
    ("Salt Fleet", "LOCATED_IN", "Tarn Isle", "had its hideout on", {"until": 300.0}),
    ("Reed Treaty", "LOCATED_IN", "Marrow Abbey", "was signed in", {"since": 5.0, "until": 6.0}),
]


@pytest.fixture
def labelled(world):
    nodes = [NodeFact(kind=kind, name=name, aliases=more) for kind, name, more in ENTITIES]
    edges = [
        EdgeFact(src=src, relation=relation, dst=dst, label=label, **days)
        for src, relation, dst, label, days in FACTS
    ]
    rows = [*(GraphFact(node=node) for node in nodes), *(GraphFact(edge=edge) for edge in edges)]
    upsert_facts(world, rows)
    return world


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Prince Tovar is Queen Aldis's son.", "true"),
        ("Queen Aldis is the daughter of Prince Tovar.", "false"),
        ("У королевы Алдис нет сына.", "unknown"),
        ("Принц Товар — сын королевы Алдис.", "true"),
        ("토바르 왕자는 알디스 여왕의 아들이다.", "true"),
        ("Lady Brenna is engaged to Prince Tovar.", "true"),
        ("Prince Tovar is betrothed to Edda Crane.", "false"),
        ("Принц Товар помолвлен с леди Бренной.", "true"),
        ("토바르 왕자는 에다 크레인과 약혼한 사이다.", "false"),
        ("Edda Crane commands the Salt Fleet.", "true"),
        ("Хаск Ондрел — адмирал Соляного флота.", "false"),
        ("에다 크레인은 회색왜가리호의 선장이다.", "true"),
        ("에다 크레인은 회색왜가리호의 선장이 아니다.", "false"),
        ("Lady Brenna owes money to Hask Ondrel.", "true"),
        ("Hask Ondrel owes money to Lady Brenna.", "false"),
        ("Lady Brenna is Hask Ondrel's godmother.", "false"),
        ("브렌나 부인은 하스크 온드렐의 대녀다.", "true"),
    ],
)
def test_a_label_is_read_whatever_the_relation(labelled, statement, result):
    assert lore_assert(Assertion(fact=statement), Caller.gm(labelled)).result == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("Hask Ondrel used to be first mate of the Salt Fleet.", "true"),
        ("Hask Ondrel is first mate of the Salt Fleet.", "false"),
        ("The Salt Fleet still have their hideout on Tarn Isle.", "false"),
        ("The Salt Fleet no longer has its hideout on Tarn Isle.", "true"),
        ("Hask Ondrel sailed with Edda Crane.", "unknown"),
        ("Hask Ondrel did not sail with Edda Crane.", "unknown"),
        ("Hask Ondrel once sailed with Edda Crane.", "true"),
        ("Hask Ondrel is second mate of the Salt Fleet.", "unknown"),
    ],
)
def test_the_tense_decides_about_the_words_of_a_label_too(labelled, statement, result):
    assert lore_assert(Assertion(fact=statement), Caller.gm(labelled)).result == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("The Reed Treaty was signed in Marrow Abbey.", "true"),
        ("The Reed Treaty was signed at Tarn Isle.", "false"),
        ("Тростниковый договор подписали в аббатстве Марроу.", "true"),
        ("Тростниковый договор был заключён на острове Тарн.", "false"),
        ("갈대 조약은 매로 수도원에서 체결되었다.", "true"),
        ("갈대 조약은 타른섬에서 체결되었다.", "false"),
    ],
)
def test_where_something_happened_never_ends(labelled, statement, result):
    assert lore_assert(Assertion(fact=statement), Caller.gm(labelled)).result == result
