"""`lore_assert` on sentences that tell two things: what belongs to the one verb is not said of the
other."""

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from tests.knowledge.fact_rows import write_facts
from worlds.callers import Caller

SENTENCES = [
    ("en", "Moth Hall", "Moth Hall burned down in 1120 and was rebuilt in 1123."),
    ("en", "Gull Tower", "Gull Tower was begun in 1201, finished in 1215 and collapsed in 1230."),
    ("en", "Otto Brenn", "Otto Brenn was born in Deepwell and died in Karst Gate."),
    ("en", "Deepwell", "A village."),
    ("en", "Karst Gate", "A city."),
    (
        "en",
        "Rime Bridge",
        "The Rime Bridge was built by dwarves and repaired by weavers. "
        "It costs two coppers on foot and nine coppers with a cart.",
    ),
    ("en", "Weir House", "The Weir House has four chimneys and nine windows."),
    ("en", "Oak Hall", "Oak Hall burned in 1120, and the roof collapsed in 1130."),
    ("ru", "Дом Ветров", "Дом Ветров построен в 1003 году и сгорел в 1077 году."),
    ("ru", "Сизая Башня", "Сизая Башня, построенная в 1201 году, рухнула в 1230 году."),
    ("ko", "나방홀", "나방홀은 1120년에 불탔고 1123년에 재건되었다."),
    ("ko", "저녁종", "저녁종은 388년에 주조되었지만 401년에 금이 갔다."),
]


@pytest.fixture
def town(world):
    for language, title, body in SENTENCES:
        shown = {"visibility": "public", "status": "published", "kind": "custom"}
        lore = {"title": title, "language": language, "body": body, **shown}
        upsert_lore(world, LoreIn.model_validate(lore))
    names = [title for _language, title, _body in SENTENCES]
    kinds = {"Otto Brenn": "Character"}
    nodes = [(f"n{n}", kinds.get(name, "Location"), name, []) for n, name in enumerate(names)]
    write_facts(world, nodes, [])
    return world


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Moth Hall burned down in 1120.", "true"),
        ("Moth Hall burned down in 1123.", "false"),
        ("Moth Hall was rebuilt in 1120.", "false"),
        ("Moth Hall burned down in 1123 and was rebuilt in 1120.", "unknown"),
        ("Gull Tower was finished in 1215.", "true"),
        ("Gull Tower collapsed in 1201.", "false"),
        ("Otto Brenn was born in Deepwell.", "true"),
        ("Otto Brenn died in Deepwell.", "unknown"),
        ("Otto Brenn was born in Karst Gate.", "unknown"),
        ("The Rime Bridge was built by dwarves.", "true"),
        ("The Rime Bridge was repaired by dwarves.", "unknown"),
        ("The Rime Bridge costs nine coppers on foot.", "unknown"),
        ("The Rime Bridge costs nine coppers with a cart.", "true"),
        ("The Weir House has nine windows.", "true"),
        ("The Weir House has nine chimneys.", "false"),
        ("Oak Hall burned in 1120.", "true"),
        ("Oak Hall collapsed in 1130.", "unknown"),
        ("Дом Ветров сгорел в 1077 году.", "true"),
        ("Дом Ветров сгорел в 1003 году.", "false"),
        ("Дом Ветров построен в 1077 году.", "false"),
        ("Сизая Башня рухнула в 1201 году.", "false"),
        ("나방홀은 1120년에 불탔다.", "true"),
        ("나방홀은 1123년에 불탔다.", "false"),
        ("저녁종은 388년에 금이 갔다.", "false"),
    ],
)
def test_what_belongs_to_one_verb_is_not_said_of_another(town, statement, wanted):
    assert lore_assert(Assertion(fact=statement), Caller.gm(town)).result == wanted


PLACES = [
    ("elsbeth", "Character", "Elsbeth Rook", []),
    ("hall", "Location", "Moth Hall", []),
    ("gate", "Location", "Karst Gate", []),
    ("lowick", "Location", "Lowick Village", []),
    ("upwick", "Location", "Upwick Village", []),
    ("bo", "Character", "Bo Lind", []),
]
WHEREABOUTS = [
    {"src": "elsbeth", "relation": "LOCATED_IN", "dst": "hall"},
    {"src": "bo", "relation": "LOCATED_IN", "dst": "lowick"},
]


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("Elsbeth Rook is in Moth Hall.", "true"),
        ("Elsbeth Rook is in Karst Gate.", "unknown"),
        ("Bo Lind is in Upwick Village.", "false"),
    ],
)
def test_a_place_that_may_contain_another_excludes_nothing(world, statement, wanted):
    write_facts(world, PLACES, WHEREABOUTS)
    assert lore_assert(Assertion(fact=statement), Caller.gm(world)).result == wanted


def test_places_beside_each_other_in_a_third_one_are_apart(world):
    parts = [
        {"src": "hall", "relation": "PART_OF", "dst": "lowick"},
        {"src": "gate", "relation": "PART_OF", "dst": "lowick"},
    ]
    write_facts(world, PLACES, [*WHEREABOUTS, *parts])
    answer = lore_assert(Assertion(fact="Elsbeth Rook is in Karst Gate."), Caller.gm(world))
    assert answer.result == "false"
