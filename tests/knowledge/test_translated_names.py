"""Rules are found by translations of their names that nobody entered, and by transliterations."""

import pytest

from knowledge.entry_store import save_all, save_entry
from knowledge.glossary.name_search import KnownRule, NameSearch, title_words
from knowledge.glossary.question_frames import name_in_question
from knowledge.glossary.terms import read_terms, read_variants, read_words
from knowledge.models import Document, Rule
from knowledge.schemas import RulesQuestion
from knowledge.tools import rules_lookup
from knowledge.translated_names import find_form, find_translated, word_meanings
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import World

TITLES = (
    *("Fireball", "Wall of Fire", "Wall of Ice", "Greater Invisibility", "Cure Wounds"),
    *(
        "Dwarven Thrower",
        "Giant Spider",
        "Boots of Speed",
        "Ring of Protection",
        "Spell Scroll 1st",
    ),
)


@pytest.fixture
def english_rules(world: World) -> None:
    book = Document.objects.create(slug="book", title="A book", system=world.system)
    rules = [
        Rule(key=f"book/{number}", document=book, kind="section", title=title, body=f"{title}.")
        for number, title in enumerate(TITLES)
    ]
    save_all(rules)


def titles(world: World, question: str, *, gm: bool = True) -> list[str]:
    caller = Caller.gm(world) if gm else Caller(world, PUBLIC)
    return [hit.title for hit in rules_lookup(RulesQuestion(term=question), caller).hits]


@pytest.mark.usefixtures("english_rules")
class TestLookingUp:
    @pytest.mark.parametrize(
        ("question", "title"),
        [
            ("파이어 볼", "Fireball"),
            ("фаербол", "Fireball"),
            ("불의 장벽", "Wall of Fire"),
            ("얼음장벽", "Wall of Ice"),
            ("ледяная стена", "Wall of Ice"),
            ("드워프 던지기 망치", "Dwarven Thrower"),
            ("신속의 신발", "Boots of Speed"),
            ("кольцо для защиты", "Ring of Protection"),
            ("улучшенная невидимость", "Greater Invisibility"),
        ],
    )
    def test_a_translation_or_transliteration_finds_the_rule(
        self, world: World, question: str, title: str
    ) -> None:
        assert titles(world, question)[0] == title

    @pytest.mark.parametrize("question", ["불의 장벽은 어떻게 써?", "как работает стена из огня?"])
    def test_a_name_within_a_short_question_is_found(self, world: World, question: str) -> None:
        assert titles(world, question)[0] == "Wall of Fire"

    def test_a_question_in_english_is_not_translated(self, world: World) -> None:
        assert find_translated(world, "wall of fire") == []

    def test_a_new_shared_rule_is_found_at_once(self, world: World) -> None:
        titles(world, "파이어 볼")
        book = Document.objects.get(slug="book")
        save_entry(
            Rule(key="book/new", document=book, kind="spell", title="Lightning Spear", body="New.")
        )
        assert titles(world, "라이트닝 스피어")[0] == "Lightning Spear"

    def test_a_rule_of_the_world_is_found_by_whoever_may_know_it(self, world: World) -> None:
        book = Document.objects.create(slug="own", title="Own", system=world.system, world=world)
        values = {"document": book, "world": world, "kind": "spell", "body": "A secret."}
        hidden = Visibility.GM
        save_entry(Rule(key="own/1", title="Moonlit Arrow", visibility=hidden, **values))
        assert titles(world, "문릿 애로우")[0] == "Moonlit Arrow"
        assert "Moonlit Arrow" not in titles(world, "문릿 애로우", gm=False)


def test_a_word_list_translates_titles_that_have_no_names() -> None:
    search = NameSearch([KnownRule(title) for title in TITLES], word_meanings())
    assert search.find("거대 거미")[0].title == "Giant Spider"
    assert search.find("гигантский паук")[0].title == "Giant Spider"


def test_a_known_name_is_certain_with_any_spaces_and_letters() -> None:
    rules = [
        KnownRule("Thorn Bow", ("가시 활", "тёрновый лук")),
        KnownRule("Thorn Wall", ("가시벽",)),
    ]
    search = NameSearch(rules, {})
    assert (search.find("가시활")[0].title, search.find("가시활")[0].score) == ("Thorn Bow", 1.0)
    assert search.find("терновый лук")[0].score == 1.0
    assert search.find("лук тёрновый")[0].title == "Thorn Bow"


def test_nothing_in_common_finds_nothing() -> None:
    search = NameSearch([KnownRule("Thorn Bow", ("가시 활",))], {})
    assert search.find("오늘 날씨가 좋다") == []
    assert NameSearch([], {}).find("가시 활") == []


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("сайленс", "Silence"),
        ("смайт", "Divine Smite"),
        ("스마이트", "Divine Smite"),
        ("слип заклинание", "Sleep"),
        ("홀드퍼슨 걸리면", "Hold Person"),
        ("힐링워드 회복량", "Healing Word"),
        ("레이온핸즈 hp", "Lay on Hands"),
        ("플라이", "Fly"),
        ("액션서지", "Action Surge (1 use)"),
        ("스피릿가디언", "Spirit Guardians"),
        ("도지하면", "Dodge"),
    ],
)
def test_a_name_by_its_sound_is_found_within_a_question(question: str, title: str) -> None:
    titles = (
        *("Silence", "Strength", "Divine Smite", "Somatic (S)", "Sleep", "Hold Person", "Healing"),
        *(
            "Healing Word",
            "Lay on Hands",
            "Fly",
            "Action Surge (1 use)",
            "Spirit Guardians",
            "Dodge",
        ),
        *("Warship", "Shield Guardian", "Hold Monster", "Conjuration"),
    )
    search = NameSearch([KnownRule(each) for each in titles], word_meanings())
    forms = name_in_question(question).forms
    found = [each for form in forms for each in search.find(form)]
    assert max(found, key=lambda each: each.score).title == title


@pytest.mark.parametrize("word", ["шрамы", "третьего", "조리", "팔면"])
def test_a_word_that_hardly_sounds_like_a_name_finds_none(word: str) -> None:
    search = NameSearch([KnownRule(each) for each in ("Swarm", "Surnames", "Treant", "Prone")], {})
    assert not search.find(word)


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("플라이 마법", {"플라이 마법", "플라이"}),
        ("화염구는 어떻게 써?", {"화염구는", "화염구"}),
        ("Что такое мистический заряд?", {"мистический заряд"}),
        ("화염구", {"화염구"}),
        ("어떻게 알려줘", set()),
        ("고블린이 도망칠 때 내가 옆에 서 있으면 한 대 때릴 수 있어?", set()),
    ],
)
def test_the_name_in_a_question(question: str, forms: set[str]) -> None:
    assert set(name_in_question(question).forms) == forms


SPOKEN_KINDS = {"spell", "item", "equipment", "feature", "class", "condition"}
NAMES_OF_THEIR_OWN = {
    "antilif",
    "arcanist",
    "cockatric",
    "eriny",
    "all",
    "into",
    "via",
    "rate",
    "x",
}
"""Words that their sound finds, or that stand in no translation."""


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_the_word_list_translates_the_words_of_titles(language: str) -> None:
    known = {
        english
        for term in (*read_words(), *read_terms(), *read_variants())
        if term.names.get(language)
        for english in title_words(term.term)
    }
    titles = [term.term for term in read_terms() if term.kind in SPOKEN_KINDS]
    words = {word for title in titles for word in title_words(title) if word.isalpha()}
    assert words - known - NAMES_OF_THEIR_OWN == set()


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("призрачный соратник", "Phantom Ally"),
        ("оберег от недуга", "Talisman of Health"),
        ("нюх на опасность", "Danger Sense"),
        ("진흙 골렘", "Clay Golem"),
        ("천둥 파도", "Thunderwave"),
    ],
)
def test_a_synonym_of_a_word_finds_a_title_that_nobody_translated(
    question: str, title: str
) -> None:
    others = ("Phantom Steed", "Planar Ally", "Amulet of Life", "Sense Magic", "Iron Golem", "Wave")
    search = NameSearch([KnownRule(each) for each in (title, *others)], word_meanings())
    assert search.find(question)[0].title == title


def test_two_ordinary_words_that_sound_alike_are_no_translations() -> None:
    search = NameSearch([KnownRule("Color Spray"), KnownRule("Mossy Troll")], {})
    assert search.find("король") == []
    assert search.find("король-лич") == []
    assert search.find("тролль")[0].title == "Mossy Troll"


def test_a_word_with_the_stem_of_another_does_not_stand_for_what_that_one_means() -> None:
    search = NameSearch([KnownRule("Half-Elf")], {"пол": ("half",), "поле": ("field",)})
    assert search.find("бегство с поля боя") == []
    assert search.find("пол эльф")[0].title == "Half-Elf"


def test_a_word_that_the_list_knows_is_not_compared_by_sound() -> None:
    rules = [KnownRule("Silence Ward")]
    assert NameSearch(rules, {}).find("сайленс")
    assert NameSearch(rules, {"сайленс": ("quiet",)}).find("сайленс") == []


def test_the_name_of_a_thing_that_the_rules_lack_hardly_names_what_shares_a_word_of_it() -> None:
    rules, names = [KnownRule("Thorn Bow", ("короткий лук",))], ["короткий отдых", "лук"]
    [without] = NameSearch(rules, {}).find("короткий отдых")
    [found] = NameSearch(rules, {}, terms=names).find("короткий отдых")
    assert found.score == without.score / 2
    assert NameSearch(rules, {}, terms=names).find("короткий лук")[0].score == 1.0


@pytest.mark.parametrize("name", ["паук характеристики", "hp паук", "паук"])
def test_a_word_for_values_is_no_part_of_a_name(name: str) -> None:
    rules = [KnownRule("Abilities", ("характеристики",)), KnownRule("Giant Spider", ("паук",))]
    search = NameSearch(rules, {})
    assert [each.title for each in find_form(search, name)] == ["Giant Spider"]
    assert find_form(search, "характеристики")[0].title == "Abilities"
    assert find_form(search, "лесной тролль характеристики") == []


def test_a_known_name_keeps_its_word_for_values() -> None:
    rules = [KnownRule("Extra Armor", ("добавка кд",)), KnownRule("Bonus", ("добавка",))]
    assert find_form(NameSearch(rules, {}), "добавка кд")[0].title == "Extra Armor"
