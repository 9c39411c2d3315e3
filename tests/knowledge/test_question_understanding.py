"""rules_lookup understands what players type: misspelled words and everyday speech."""

import csv
import unicodedata

import pytest

from knowledge.entry_store import save_entry
from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.glossary.expansion import Glossary
from knowledge.glossary.load import load_glossary
from knowledge.glossary.ordinary_words import is_ordinary_word
from knowledge.models import Document, Rule
from knowledge.questions.everyday import (
    CLASS,
    LANGUAGES,
    LONGEST_BEGINNING,
    TABLE,
    everyday_speech,
    forms_of,
    word_classes,
)
from knowledge.questions.misspellings import correct_spelling
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from retrieval.text import KnownName, NameIndex, WordIndex, is_likely_slip
from worlds.audiences import PUBLIC, Visibility
from worlds.callers import Caller
from worlds.models import GameSystem, World

GRAPPLED, PRONE = "srd-5.1/conditions/grappled", "srd-5.1/conditions/prone"
FIREBALL, FLY = "srd-5.1/spells/fireball", "srd-5.1/spells/fly"


def first(world: World, term: str, **options: object) -> str:
    return find_rules(RulesQuestion(term=term, **options), Caller.gm(world)).hits[0].id


@pytest.fixture
def glossary(rules: dict[str, Rule]) -> None:
    load_glossary(GameSystem.objects.get())


@pytest.mark.usefixtures("rules")
class TestMisspelledWords:
    @pytest.mark.parametrize(
        ("question", "rule"),
        [
            ("how does firebal work", FIREBALL),
            ("what is graplped good for", GRAPPLED),
            ("how does flly work", FLY),
        ],
    )
    def test_a_misspelled_name_inside_a_question_is_found(
        self, world: World, question: str, rule: str
    ) -> None:
        assert first(world, question) == rule

    def test_a_word_that_players_use_is_no_slip_for_a_name(self) -> None:
        names = NameIndex([KnownName("gate", "Gate", ["Врата"])])
        known, spoken = WordIndex(["врата"]), everyday_speech("ru").knows
        assert spoken("врет")
        assert correct_spelling("что за вратв", known, names, is_ordinary=spoken)
        assert not correct_spelling("что за вратв", known, names, is_ordinary=lambda _word: True)

    @pytest.mark.parametrize(
        ("word", "language"),
        [
            ("feel", "en"),
            ("feeling", "en"),
            ("them", "en"),
            ("третьего", "ru"),
            ("серебряное", "ru"),
            ("мазали", "ru"),
            ("шрамы", "ru"),
            ("이틀", "ko"),
            ("조리", "ko"),
            ("전리품을", "ko"),
        ],
    )
    def test_a_word_of_the_language_is_no_slip(self, word: str, language: str) -> None:
        assert is_ordinary_word(word, language)

    @pytest.mark.parametrize(
        ("word", "language"),
        [("firebal", "en"), ("огненый", "ru"), ("ашр", "ru"), ("화욤구", "ko")],
    )
    def test_a_misspelled_word_is_none_of_the_language(self, word: str, language: str) -> None:
        assert not is_ordinary_word(word, language)

    @pytest.mark.parametrize(
        ("word", "other"),
        [("dmg", "dog"), ("sorc", "orc"), ("conc", "cone"), ("ворд", "вор"), ("флай", "зла")],
    )
    def test_an_abbreviation_is_no_slip(self, word: str, other: str) -> None:
        assert not is_likely_slip(word, other)

    @pytest.mark.parametrize(
        ("word", "other"),
        [
            ("flly", "fly"),
            ("fyl", "fly"),
            ("dgo", "dog"),
            ("dpg", "dog"),
            ("oine", "line"),
            ("aze", "azer"),
            ("oble", "noble"),
            ("bne", "bane"),
            ("щитт", "щит"),
            ("ашр", "шар"),
            ("firebal", "fireball"),
        ],
    )
    def test_a_short_word_may_be_a_slip_of_the_finger(self, word: str, other: str) -> None:
        assert is_likely_slip(word, other)

    @pytest.mark.parametrize(
        ("question", "meant"),
        [
            ("fast hans", "fast hands"),
            ("lawful evi", "lawful evil"),
            ("em of light", "gem of light"),
        ],
    )
    def test_any_slip_is_corrected_where_it_completes_a_name_of_several_words(
        self, question: str, meant: str
    ) -> None:
        titles = ("Fast Hands", "Lawful Evil", "Gem of Light", "Hands", "Evil", "Gem")
        names = NameIndex(KnownName(title, title) for title in titles)
        known = WordIndex(["fast", "hands", "lawful", "evil", "gem", "of", "light"])
        corrected = correct_spelling(
            question, known, names, is_ordinary=lambda word: is_ordinary_word(word, "en")
        )
        assert corrected.text == meant

    def test_ordinary_words_name_no_other_rule(self, all_names: World) -> None:
        """The word before the arrow was taken for a slip of the one after it."""
        words = {
            "третьего": "Treant",
            "слип": "Blinded",
            "ворд": "Rogue",
            "이틀": "Disengage",
            "조리": "Ring Mail",
            "dmg": "Blink Dog",
            "feel the wind": "Peel",
        }
        for term, wrong in words.items():
            hits = find_rules(RulesQuestion(term=term), Caller.gm(all_names)).hits
            assert wrong not in [hit.title for hit in hits if hit.relevance >= 0.3], term

    def test_one_syllable_before_an_ending_is_no_name(self) -> None:
        glossary = Glossary()
        glossary.add("Warship", "전함")
        glossary.add("Hide", "숨기")
        assert not glossary.find("전리품 팔면")
        assert glossary.find("전함을 팔면")
        assert glossary.find("숨어 있다")

    @pytest.mark.usefixtures("glossary")
    @pytest.mark.parametrize(
        ("question", "rule"),
        [
            ("как работает огненый шар", FIREBALL),
            ("как работает огненный ашр", FIREBALL),
            ("как действует схваечнный", GRAPPLED),
            ("화욤구는 어떻게 작동해?", FIREBALL),
            ("화염궁 설명해줘", FIREBALL),
        ],
    )
    def test_so_is_one_in_russian_and_korean(self, world: World, question: str, rule: str) -> None:
        assert first(world, question) == rule

    @pytest.mark.parametrize("term", ["firebll", "огненый шар", "화엽구"])
    def test_a_misspelled_name_alone_is_found(self, world: World, term: str) -> None:
        hit = find_rules(RulesQuestion(term=term), Caller.gm(world)).hits[0]
        assert (hit.id, hit.match) == (FIREBALL, "fuzzy")

    def test_a_name_spelled_as_it_should_be_is_not_called_fuzzy(self, world: World) -> None:
        hit = find_rules(RulesQuestion(term="fireball"), Caller.gm(world)).hits[0]
        assert (hit.id, hit.match) == (FIREBALL, "exact")

    def test_a_word_of_the_worlds_own_rules_is_no_slip(self, world: World) -> None:
        house_rule = Rule(
            key="house/flyball",
            document=Document.objects.get(),
            world=world,
            title="Flyball",
            body="A game of two teams on brooms.",
        )
        save_entry(house_rule)
        hit = find_rules(RulesQuestion(term="how does flyball work"), Caller.gm(world)).hits[0]
        assert hit.id == "house/flyball"

    def test_letters_written_as_base_and_accent_are_corrected_in_place(self, world: World) -> None:
        decomposed = unicodedata.normalize("NFD", "der Café hat einen firebll")
        answer = find_rules(RulesQuestion(term=decomposed), Caller.gm(world))
        assert FIREBALL in [hit.id for hit in answer.hits]

    def test_capital_i_does_not_hide_names_in_small_letters(self, world: World) -> None:
        hits = find_rules(
            RulesQuestion(term="do I fall when I am grappled, or NOT?"), Caller.gm(world)
        ).hits
        by_name = {hit.id for hit in hits if "name" in hit.legs}
        assert GRAPPLED in by_name

    @pytest.mark.parametrize("mark", ["\u202e", "\u2067", "\u061c", "\u200b", "\u00ad"])
    def test_an_invisible_character_in_a_name_does_not_hide_it(
        self, world: World, mark: str
    ) -> None:
        for term in (f"{mark}fireball", f"fire{mark}ball"):
            hit = find_rules(RulesQuestion(term=term), Caller.gm(world)).hits[0]
            assert (hit.id, hit.match) == (FIREBALL, "exact")

    def test_a_misspelled_name_does_not_reveal_a_hidden_rule(self, world: World) -> None:
        document = Document.objects.get()
        hidden = Rule(
            key="srd-5.1/spells/doomwhisper",
            document=document,
            world=world,
            title="Doomwhisper",
            body="Nobody may know of this spell.",
            visibility=Visibility.GM,
        )
        save_entry(hidden)
        for term in ("doomwhsper", "how does doomwhsper work"):
            answer = find_rules(RulesQuestion(term=term), Caller(world, PUBLIC))
            assert "doomwhisper" not in answer.model_dump_json().lower()


@pytest.mark.usefixtures("rules")
class TestEverydaySpeech:
    @pytest.mark.parametrize(
        "question",
        [
            "the ogre knocked me flat, now what",
            "my fighter got tripped and fell over",
            "can I stand up again after being shoved down",
        ],
    )
    def test_what_players_say_instead_of_the_name_finds_the_rule(
        self, world: World, question: str
    ) -> None:
        assert first(world, question) == PRONE

    @pytest.mark.parametrize(
        ("question", "rule"),
        [
            ("огр сбил меня с ног, что теперь", PRONE),
            ("гоблин вцепился в меня и держит", GRAPPLED),
            ("오거가 나를 넘어뜨렸어", PRONE),
            ("괴물이 나를 붙들고 놓아주지 않아", GRAPPLED),
        ],
    )
    def test_so_does_russian_and_korean_speech(
        self, world: World, question: str, rule: str
    ) -> None:
        assert first(world, question) == rule

    def test_the_words_of_a_saying_must_stand_near_each_other(self) -> None:
        far = "knock on the door of the old mill and then go on until you see that the hill is flat"
        assert "Prone" not in {each.term for each in everyday_speech("en").find(far)}

    def test_a_negation_is_part_of_a_saying(self) -> None:
        find = everyday_speech("en").find
        assert "Blinded" in {each.term for each in find("I can't see a thing")}
        assert "Blinded" not in {each.term for each in find("I see a thing")}

    @pytest.mark.parametrize(
        ("question", "term"),
        [
            ("меня повалили, сколько стоит подняться", "Prone"),
            ("огр сцапал барда и не пускает", "Grappled"),
            ("хочу толкнуть его в пропасть", "Shoving a Creature"),
            ("столкнул гоблина с обрыва", "Shoving a Creature"),
            ("толкаю огра в яму", "Shoving a Creature"),
            ("обчистить карманы купца", "Sleight of Hand"),
        ],
    )
    def test_russian_verbs_count_in_both_aspects_and_all_tenses(
        self, question: str, term: str
    ) -> None:
        assert term in {each.term for each in everyday_speech("ru").find(question)}

    @pytest.mark.parametrize(
        ("question", "term", "language"),
        [
            ("strength 20 modifier", "Ability Scores and Modifiers", "en"),
            ("what is the dex mod for 14", "Ability Scores and Modifiers", "en"),
            ("модификатор силы 18", "Ability Scores and Modifiers", "ru"),
            ("근력 18 수정치", "Ability Scores and Modifiers", "ko"),
            ("advantage on attack rolls", "Advantage and Disadvantage", "en"),
            ("помеха на броски атаки", "Advantage and Disadvantage", "ru"),
            ("이점 받고 공격 굴림", "Advantage and Disadvantage", "ko"),
            ("серебряное оружие оборотень", "Werewolf, Hybrid Form", "ru"),
            ("does a silvered weapon hurt werewolves", "Werewolf, Hybrid Form", "en"),
            ("늑대인간은 은 무기로 죽이나", "Werewolf, Hybrid Form", "ko"),
            ("плащ чтобы по мне мазали", "Cloak of Displacement", "ru"),
            ("a cloak that makes enemies miss", "Cloak of Displacement", "en"),
            ("적이 빗나가는 망토", "Cloak of Displacement", "ko"),
            ("이틀 못 잤어", "Exhaustion", "ko"),
        ],
    )
    def test_sayings_of_two_words(self, question: str, term: str, language: str) -> None:
        assert term in {each.term for each in everyday_speech(language).find(question)}

    def test_a_stem_of_two_letters_is_no_word(self) -> None:
        # `бою` (a fight) and `боюсь` (I am afraid) have the stem `бо`.
        assert "Frightened" not in {each.term for each in everyday_speech("ru").find("драка в бою")}

    def test_every_class_of_words_exists_where_it_is_used(self) -> None:
        with TABLE.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for language in LANGUAGES:
            used = {name for row in rows for name in CLASS.findall(row[language])}
            assert all(word_classes(language)[name] for name in used)

    @pytest.mark.parametrize(
        ("said", "filler", "language"),
        [
            ("I got knocked flat", "then", "en"),
            ("сбили с ног", "потом", "ru"),
            ("눈이 안보여", "그리고", "ko"),
        ],
    )
    def test_a_pattern_in_a_long_description_is_less_certain(
        self, said: str, filler: str, language: str
    ) -> None:
        find = everyday_speech(language).find
        asked = find(said)[0]
        described = {each.term: each.weight for each in find(f"{said} {f'{filler} ' * 24}")}
        assert asked.weight >= 0.5
        assert described[asked.term] < asked.weight / 3

    def test_a_very_long_text_is_no_saying(self) -> None:
        assert everyday_speech("en").find("knocked flat " * 1000) == []

    def test_a_very_long_word_is_compared_by_its_beginning_alone(self) -> None:
        assert len(forms_of("화염" * 10_000)) == LONGEST_BEGINNING
        choices = {
            each for p in everyday_speech("ko").patterns for slot in p.slots for each in slot
        }
        assert max(len(word) for each in choices for word in each.split()) <= LONGEST_BEGINNING

    def test_the_words_of_a_pasted_text_are_not_looked_up(self) -> None:
        def is_ordinary(word: str) -> bool:
            raise AssertionError(word)

        known, names = WordIndex(["fireball"]), NameIndex([KnownName(1, "Fireball")])
        assert not correct_spelling("firebal " * 50, known, names, is_ordinary=is_ordinary)

    def test_a_very_long_word_is_not_looked_up_as_a_slip(self) -> None:
        def find_occurring(words: list[str]) -> set[str]:
            raise AssertionError(words)

        text = f"{'화염' * 10_000} {'flame' * 100}"
        known, names = WordIndex(["화염구"]), NameIndex([KnownName(1, "Fireball")])
        assert not correct_spelling(text, known, names, find_occurring=find_occurring)


def test_the_table_of_everyday_speech_says_every_term_in_three_languages() -> None:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len({row["term"] for row in rows}) == len(rows) > 250
    for row in rows:
        assert all((row[language] or "").strip() for language in LANGUAGES), row["term"]
        assert not any("||" in row[language] for language in LANGUAGES), row["term"]


def test_no_name_of_a_rule_is_called_a_common_word() -> None:
    assert COMMON_WORDS.isdisjoint({"prone", "shield", "fly", "щит", "полет", "방패", "은신"})
