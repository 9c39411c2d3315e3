"""`lore_assert` on words that no lexicon has, compared by what they mean."""

import pytest
from django.db import transaction

from knowledge.fact_check.lexicon import claim_kinds
from knowledge.fact_check.paraphrases import (
    LETTERS,
    NONE,
    PIECES,
    PLACEHOLDERS,
    mask_names,
    phrase_model,
)
from knowledge.fact_check.schemas import Assertion, LoreAssertResult
from knowledge.fact_check.tool import lore_assert
from retrieval.embedders import CachedEmbedder, get_embedder
from retrieval.errors import EmbedderDown
from tests.cast import create_world
from tests.knowledge.fact_rows import write_facts
from tests.saved_rows import SavedRows
from worlds.callers import Caller
from worlds.models import World

ENTITIES = [
    ("sefa", "Character", "Sefa Noll", ["Сефа Нолл", "세파 놀"]),
    ("dorn", "Character", "Dorn Fell", ["Дорн Фелл", "도른 펠"]),
    ("fleet", "Faction", "Crown Fleet", ["Королевский флот", "왕실 함대"]),
    ("gulls", "Faction", "Red Gulls", ["Красные Чайки", "붉은 갈매기단"]),
    ("murn", "Location", "Isle of Murn", ["остров Мурн", "무른섬"]),
    ("atlas", "Item", "Bone Atlas", ["Костяной атлас", "뼈 지도책"]),
]
FACTS = [
    {"src": "sefa", "relation": "RELATES_TO", "dst": "fleet", "label": "leads", "since": 30},
    {
        "src": "dorn",
        "relation": "RELATES_TO",
        "dst": "fleet",
        "label": "leads",
        "since": 10,
        "until": 30,
    },
    {"src": "dorn", "relation": "RELATES_TO", "dst": "gulls", "label": "leads"},
    {"src": "dorn", "relation": "LOCATED_IN", "dst": "murn"},
    {"src": "dorn", "relation": "RELATES_TO", "dst": "atlas", "label": "author of"},
    {"src": "fleet", "relation": "ENEMY_OF", "dst": "gulls"},
]
STATEMENTS = [
    ("Sefa gives the orders in the Crown Fleet.", "true"),
    ("It is Dorn who calls the shots in the Red Gulls.", "true"),
    ("Костяной атлас вышел из-под пера Дорна Фелла.", "true"),
    ("도른은 무른섬에 터를 잡고 산다.", "true"),
    ("There is no love lost between the Crown Fleet and the Red Gulls.", "true"),
    ("Sefa gives the orders in the Red Gulls.", "false"),
    ("Sefa knows who gives the orders in the Red Gulls.", "unknown"),
    ("Dorn wants to leave the Red Gulls.", "unknown"),
    ("Sefa plays cards with Dorn every evening.", "unknown"),
    ("Сефа мечтает купить Костяной атлас.", "unknown"),
    ("Seven people give the orders in the Red Gulls beside Dorn.", "unknown"),
]


@pytest.fixture(scope="module")
def island_rows(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        world = create_world()
        write_facts(world, ENTITIES, FACTS)
        saved = SavedRows.read()
        transaction.set_rollback(True)
    return saved


@pytest.fixture
def island(island_rows, db, settings):
    settings.EMBEDDER = "local"
    island_rows.write()
    return World.objects.get()


def check(world: World, statement: str) -> LoreAssertResult:
    return lore_assert(Assertion(fact=statement), Caller.gm(world))


@pytest.mark.parametrize(("statement", "wanted"), STATEMENTS)
def test_words_that_no_lexicon_has_are_understood_by_their_meaning(island, statement, wanted):
    assert check(island, statement).result == wanted


def test_the_facts_that_decide_are_named(island):
    answer = check(island, "Sefa gives the orders in the Crown Fleet.")
    assert answer.understood
    assert [source.statement for source in answer.sources] == ["Sefa Noll – leads – Crown Fleet"]


def test_a_probable_meaning_refutes_what_only_another_one_can_be(island):
    answer = check(island, "Sefa gives the orders in the Red Gulls.")
    assert [source.statement for source in answer.sources] == ["Dorn Fell – leads – Red Gulls"]


def test_without_the_embedder_of_the_weights_such_words_are_not_understood(island, settings):
    settings.EMBEDDER = "hashing"
    assert not check(island, "Sefa gives the orders in the Crown Fleet.").understood


def test_an_embedder_that_is_down_costs_only_the_understanding(island, monkeypatch):
    def refuse(self: object, texts: list[str]) -> object:
        raise EmbedderDown("It does not answer.")

    monkeypatch.setattr(CachedEmbedder, "embed_query", refuse)
    assert not check(island, "Sefa gives the orders in the Crown Fleet.").understood


def test_names_become_words_for_their_kinds():
    assert mask_names("M0 runs M1", ("P", "F"), "en") == "anna runs guild"
    assert mask_names("M1_s brother hates M0", ("P", "P"), "en") == "anna's brother hates boris"
    assert mask_names("M0_x дружит с M1_x", ("F", "F"), "ru") == "гильдия дружит с орден"
    assert mask_names("M0_은 M1_에 산다", ("P", "L"), "ko") == "안나은 도시에 산다"


def test_every_class_of_the_weights_is_a_claim_of_the_lexicon():
    model = phrase_model()
    for kinds, classes in model.classes.items():
        claims = {name.partition(":")[0] for name in classes}
        assert claims - {NONE} <= claim_kinds().keys()
        assert set(kinds) <= set(LETTERS.values())
        group = "".join(sorted(kinds))
        assert model.weights[group].shape[1] == len(classes) == len(model.shares[group])
        assert model.pieces[group].shape == (PIECES, len(classes))


@pytest.mark.django_db
def test_the_weights_are_those_of_the_embedder_that_ships(settings):
    settings.EMBEDDER = "local"
    assert phrase_model().embedder == get_embedder("lore").name


def test_every_language_has_a_word_for_every_kind():
    assert all(set(words) == set(LETTERS.values()) for words in PLACEHOLDERS.values())
