"""lore_search finds entries by names in another script that nobody entered, by their sound."""

import pytest

from knowledge.models import Lore
from knowledge.schemas import LoreQuestion
from knowledge.search import find_lore
from retrieval.text import sound_keys
from tests.knowledge.test_lore_search import Write
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import World


@pytest.fixture
def people(world: World, write: Write) -> None:
    write("서하린", "봄에 강가로 온 약초꾼이다.", slug="seo")
    write("백무진", "손가락 하나가 없는 검객이다.", slug="baek")
    write("Хан Тугарин", "Владыка степи, боится огня.", slug="tugarin")
    write("Ждан Рыжий", "Кузнец, который продаёт подковы.", slug="zhdan")
    write("Dunmarrow", "A town below the hills.", slug="dunmarrow")
    write("Duke Aldous of Harrowgate", "He rules by letters.", slug="aldous")
    write("The Grey Gull", "A ship of three masts.", slug="gull")
    for number in range(8):
        write(f"Ledger {number}", "A page about what a fire costs.")


def first(world: World, question: str) -> tuple[str, str]:
    hit = find_lore(LoreQuestion(query=question), Caller.gm(world)).hits[0]
    return hit.id, hit.match


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("question", "slug"),
    [
        ("Who is Seo Harin?", "seo"),
        ("who is seoharin", "seo"),
        ("Кто такая Со Харин?", "seo"),
        ("Baek Mujin's missing finger", "baek"),
        ("Khan Tugarin", "tugarin"),
        ("Who is Khan Tugarin?", "tugarin"),
        ("투가린은 누구야?", "tugarin"),
        ("What does Zhdan sell?", "zhdan"),
        ("Данмарроу", "dunmarrow"),
        ("Где находится Дунмарров?", "dunmarrow"),
        ("Что есть в Данмарроу?", "dunmarrow"),
        ("둔마로우는 어디에 있어?", "dunmarrow"),
        ("더니마로우", "dunmarrow"),
        ("Кто такой Олдос?", "aldous"),
    ],
)
def test_a_name_in_another_script_finds_its_entry(world: World, question: str, slug: str) -> None:
    assert first(world, question) == (slug, "fuzzy")


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    "question", ["Who is Gandalf?", "Кто такой король?", "왕은 누구야?", "Tell me about the Fire"]
)
def test_other_words_are_not_found_by_their_sound(world: World, question: str) -> None:
    hits = find_lore(LoreQuestion(query=question), Caller.gm(world)).hits
    assert "fuzzy" not in {hit.match for hit in hits}


@pytest.mark.parametrize("hidden", [{"visibility": Visibility.GM}, {"status": "draft"}])
def test_a_hidden_name_is_not_found_by_its_sound(
    world: World, write: Write, hidden: dict[str, str]
) -> None:
    write("The Quay", "The ferrymen drink here.")
    question = LoreQuestion(query="Who is Seo Harin?")
    before = find_lore(question, Caller(world, PUBLIC)).model_dump_json()
    write("서하린", "봄에 강가로 온 약초꾼이다.", slug="seo", **hidden)
    assert find_lore(question, Caller(world, PUBLIC)).model_dump_json() == before


def test_a_name_in_its_own_script_is_not_compared_by_sound(world: World, write: Write) -> None:
    write("Kuzma", "A ferryman.")
    write("Кузьма", "Паромщик.", slug="other")
    assert first(world, "Who is Kuzma?") == ("kuzma", "alias")


def test_entries_are_stored_with_the_sound_of_their_names(world: World, write: Write) -> None:
    write("Хан Тугарин", "Владыка степи.", slug="tugarin", aliases=["투가린"])
    stored = set(Lore.objects.get(slug="tugarin").name_keys)
    assert stored >= sound_keys("Хан Тугарин") | sound_keys("투가린")
    assert max(map(len, stored)) <= 16
