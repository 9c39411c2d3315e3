"""lore_search tolerates slips in names inside of questions, by names that the caller may know."""

import pytest

from knowledge.schemas import LoreQuestion
from knowledge.search import find_lore
from tests.knowledge.test_lore_search import Write
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import World


@pytest.fixture
def guild(world: World, write: Write) -> None:
    names = ["Гильдия паромщиков", "뱃사공 길드"]
    write("Ferrymen's Guild", "It was founded by Oda.", slug="ferrymens-guild", aliases=names)
    for number in range(8):
        write(f"Leader {number}", "A leader of nobody in the league of leaders.")


@pytest.mark.usefixtures("guild")
@pytest.mark.parametrize(
    "question",
    [
        "Who is the leader of the Feryymen's Guild?",
        "who leads the ferymens guild now",
        "Кто глава Гильдии паормщиков?",
        "뱃사궁 길드의 대장은 누구야?",
    ],
)
def test_a_name_with_a_slip_inside_a_question_is_found(world: World, question: str) -> None:
    for caller in (Caller.gm(world), Caller(world, PUBLIC)):
        hit = find_lore(LoreQuestion(query=question), caller).hits[0]
        assert (hit.id, hit.match) == ("ferrymens-guild", "fuzzy")


def test_a_name_spelled_as_it_should_be_is_no_fuzzy_match(world: World, guild: None) -> None:
    hit = find_lore(LoreQuestion(query="who leads the Ferrymen's Guild?"), Caller.gm(world)).hits[0]
    assert (hit.id, hit.match) == ("ferrymens-guild", "alias")


def test_a_word_of_a_text_is_no_slip(world: World, write: Write) -> None:
    write("The Lodger", "He came by night.")
    write("Mira Voss", "She keeps the ledger.")
    hit = find_lore(LoreQuestion(query="who keeps the ledger"), Caller.gm(world)).hits[0]
    assert hit.id == "mira-voss"


@pytest.mark.parametrize("hidden", [{"visibility": Visibility.GM}, {"status": "draft"}])
@pytest.mark.parametrize("title", ["Ferrymen's Guild", "Feryymen's Guild"])
def test_a_hidden_name_neither_corrects_a_question_nor_keeps_it(
    world: World, write: Write, title: str, hidden: dict[str, str]
) -> None:
    write("The Quay", "The ferrymen drink here with the guild.")
    write("Ferrymen's Hall", "A leader speaks here.", slug="hall")
    question = LoreQuestion(query="Who is the leader of the Feryymen's Guild?")
    before = find_lore(question, Caller(world, PUBLIC)).model_dump_json()
    write(title, "The Feryymen's secret.", slug="hidden", **hidden)
    assert find_lore(question, Caller(world, PUBLIC)).model_dump_json() == before
