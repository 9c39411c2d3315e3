"""lore_search: what each audience finds, overlays of campaigns, filters."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from knowledge.models import Lore, LorePassage
from knowledge.presenters import SearchAnswer
from knowledge.schemas import LoreQuestion
from knowledge.search import find_lore
from knowledge.tools import lore_search
from retrieval.errors import Forbidden
from retrieval.search import Mode
from tests.strange_questions import STRANGE_QUESTIONS
from worlds.audiences import PUBLIC, Audience, Visibility
from worlds.callers import Caller
from worlds.models import Campaign, Party, World

Write = Callable[..., Lore]


def ask(caller: Caller, query: str, **question: object) -> SearchAnswer:
    return lore_search(LoreQuestion(query=query, **question), caller)


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


def test_an_entry_is_found_by_its_words_and_by_its_names(world: World, write: Write) -> None:
    write(
        "Mira Voss",
        "She keeps the ledger of the ferry.",
        aliases=["Мира Восс", "미라 보스"],
        kind="biography",
    )
    write("The Quay", "Boats and eels.", kind="place")
    for query in ("who keeps the ledger?", "Миру Восс", "미라 보스는", "mira vos"):
        hit = ask(Caller.gm(world), query).hits[0]
        assert (hit.id, hit.kind, hit.title) == ("mira-voss", "biography", "Mira Voss")


@pytest.mark.parametrize(
    ("title", "part"), [("Duke Aldous Wren", "Aldous"), ("Мстислав Грозный", "Мстислав")]
)
def test_a_part_of_a_name_finds_its_entry_with_and_without_a_capital(
    world: World, write: Write, title: str, part: str
) -> None:
    write(title, "He never left the tower.")
    write("Petronel", f"{part} is her uncle, they say: {part}, of whom everyone speaks.")
    for question in (part, part.lower(), f"who is {part}?"):
        first = ask(Caller.gm(world), question).hits[0]
        assert first.title == title, question
        assert first.legs["name"].score > 0.2


def test_a_secret_is_found_by_the_game_master_and_by_those_it_names(
    world: World, write: Write, lanternbearers: Party, gilded_oath: Party
) -> None:
    write(
        "Mira Voss",
        "She keeps the ledger.\n\n:::secret party:lanternbearers\nShe forged the ninth page.\n:::",
    )
    question = "who forged the ninth page?"

    def texts_for(audience: Audience) -> str:
        return " ".join(hit.text for hit in ask(Caller(world, audience), question).hits)

    assert "forged" in " ".join(hit.text for hit in ask(Caller.gm(world), question).hits)
    assert "forged" in texts_for(Audience("party", "lanternbearers"))
    assert "forged" not in texts_for(Audience("party", "gilded-oath"))
    assert "forged" not in texts_for(PUBLIC)


def test_forms_of_one_foreign_alias_are_no_further_evidence(world: World, write: Write) -> None:
    write(
        "Паромный грош",
        "Медная монета с дыркой посередине. Её принимают только на переправе.",
        aliases=["Ferry Penny", "ferry pennies"],
    )
    write("Ferry Law", "While the flag flies, a ferry takes whoever stands on the slip.")
    write("The Quay", "Boats and eels.")
    question = LoreQuestion(query="who controls the ferries?")
    found = find_lore(question, Caller.gm(world), mode=Mode.KEYWORD)
    assert ids(found)[:2] == ["ferry-law", "паромный-грош"]


def test_a_hidden_entry_is_not_found_by_name_either(world: World, write: Write) -> None:
    write("The Drowned Choir", "It sings.", visibility=Visibility.GM)
    assert ids(ask(Caller.gm(world), "The Drowned Choir")) == ["the-drowned-choir"]
    assert ids(ask(Caller(world, PUBLIC), "The Drowned Choir")) == []


def test_another_world_is_never_searched(world: World, write: Write) -> None:
    write("The Quay", "Boats and eels.")
    other = World.objects.create(slug="saltmere", name="Saltmere")
    assert ids(ask(Caller.gm(other), "the quay")) == []


def test_a_campaign_overrides_canon_for_itself_alone(
    world: World, campaign: Campaign, write: Write
) -> None:
    canon = write("The Bell", "The bell hangs in the tower.")
    write(
        "The Bell", "The bell lies in the river.", slug="bell-2", campaign=campaign, overrides=canon
    )
    write("The Toll", "Only in this campaign there is a toll on the bell.", campaign=campaign)
    assert set(ids(ask(Caller.gm(world), "bell"))) == {"the-bell"}
    in_campaign = Caller(world, PUBLIC, campaign=campaign)
    assert set(ids(ask(in_campaign, "bell"))) == {"bell-2", "the-toll"}
    assert set(ids(ask(Caller.gm(world), "bell", filters={"campaign": "low-water"}))) == {
        "bell-2",
        "the-toll",
    }
    with pytest.raises(Forbidden):
        ask(Caller(world, PUBLIC), "bell", filters={"campaign": "low-water"})


def test_an_override_that_players_may_not_know_leaves_them_the_canon(
    world: World, campaign: Campaign, write: Write
) -> None:
    canon = write("The Bell", "The bell hangs in the tower.")
    hidden = {"campaign": campaign, "overrides": canon, "visibility": Visibility.GM}
    write("The Bell", "The bell is a mimic.", slug="bell-2", **hidden)
    assert ids(ask(Caller(world, PUBLIC, campaign=campaign), "bell")) == ["the-bell"]
    gm = Caller(world, Audience("gm"), campaign=campaign)
    assert ids(ask(gm, "bell")) == ["bell-2"]


def test_filters_must_all_hold(world: World, write: Write) -> None:
    write("The Quay", "Eels and boats.", kind="place", tags=["river", "trade"])
    write(
        "The Fall",
        "Eels fell on the quay.",
        kind="event",
        tags=["river"],
        in_world_at=100.0,
        in_world_until=110.0,
    )
    gm = Caller.gm(world)
    assert ids(ask(gm, "eels", filters={"kind": "place"})) == ["the-quay"]
    assert ids(ask(gm, "eels", filters={"tags": ["river", "trade"]})) == ["the-quay"]
    assert ids(ask(gm, "eels", filters={"in_world_from": 105, "in_world_to": 200})) == ["the-fall"]
    assert ids(ask(gm, "eels", filters={"in_world_from": 111})) == []


def test_drafts_are_shown_to_the_game_master_who_asks_for_them(world: World, write: Write) -> None:
    write("The Quay", "Eels.", status="draft")
    assert ids(ask(Caller.gm(world), "eels")) == []
    assert ids(ask(Caller.gm(world), "eels", filters={"status": "draft"})) == ["the-quay"]
    with pytest.raises(Forbidden):
        ask(Caller(world, PUBLIC), "eels", filters={"status": "draft"})


def test_an_entry_comes_once_however_many_passages_of_it_match(world: World, write: Write) -> None:
    write("The Quay", "Eels.\n\n:::secret\nMore eels.\n:::\n\nAnd eels.")
    assert ids(ask(Caller.gm(world), "eels")) == ["the-quay"]


def test_a_long_entry_does_not_crowd_others_out(world: World, write: Write) -> None:
    write(
        "The Quay",
        "\n\n".join(f"# Berth {number}\n\n{'Eels here. ' * 300}" for number in range(12)),
    )
    for number in range(3):
        write(f"Inn {number}", "One eel was once seen near this inn, on a quiet evening in spring.")
    assert len(ask(Caller.gm(world), "eels", k=4).hits) == 4


def test_explaining_tells_filters_legs_and_time(world: World, write: Write) -> None:
    for number in range(12):
        write(f"Quay {number}", "Eels and boats.")
    answer = ask(Caller.gm(world), "eels", k=3, explain=True, filters={"kind": "custom"})
    assert answer.explain is not None
    assert answer.explain.filters == {"filters": {"kind": "custom"}}
    assert [near.id for near in answer.explain.near_misses] == [
        f"quay-{number}" for number in range(3, 8)
    ]
    assert answer.hits[0].legs["keyword"].rank is not None


def test_the_state_of_the_index_does_not_matter_to_being_found_by_words(
    world: World, write: Write
) -> None:
    write("The Quay", "Eels and boats.")
    hit = ask(Caller.gm(world), "boats").hits[0]
    assert (hit.match, hit.legs["keyword"].rank) == ("keyword", 1)


class TestNumbers:
    @pytest.mark.parametrize(
        "query",
        [
            "who wore the crown in the year 207?",
            "who wore the crown in the two hundred and seventh year?",
            "кто носил корону в двести седьмом году",
            "207년에는 누가 왕이었어?",
        ],
    )
    @pytest.mark.parametrize("years", ["201–212", "201-212", "201 to 212", "201년부터 212년까지"])
    def test_a_year_finds_the_range_that_holds_it(
        self, world: World, write: Write, query: str, years: str
    ) -> None:
        write("Crown of Ebrin", f"Ebrin wore the crown {years}.")
        write("Crown of Tolva", "Tolva wore the crown 213–240.")
        write("Crown of Marn", "Marn wore the crown 180–200.")
        found = find_lore(LoreQuestion(query=query), Caller.gm(world), mode=Mode.KEYWORD)
        assert ids(found)[0] == "crown-of-ebrin"

    @pytest.mark.parametrize("written", ["2,400", "2 400", "2400", "2\u00a0400"])
    @pytest.mark.parametrize(
        "asked", ["2,400", "2 400", "2400", "two thousand four hundred", "две тысячи четыреста"]
    )
    def test_an_amount_is_found_however_it_is_written(
        self, world: World, write: Write, written: str, asked: str
    ) -> None:
        write("Toll", f"The bridge costs {written} marks.")
        write("Levy", "The barge costs 400 marks, 3 for each oar.")
        found = find_lore(LoreQuestion(query=asked), Caller.gm(world), mode=Mode.KEYWORD)
        assert ids(found)[0] == "toll"

    def test_a_range_makes_a_passage_no_longer(self, world: World, write: Write) -> None:
        write("Short", "They ruled 100–102.")
        write("Long", "They ruled 100–300.")
        counts = set(LorePassage.objects.values_list("word_count", flat=True))
        assert len(counts) == 1


class TestStrangeQuestions:
    @pytest.mark.parametrize("query", STRANGE_QUESTIONS.values(), ids=STRANGE_QUESTIONS)
    def test_a_strange_question_is_answered(self, world: World, write: Write, query: str) -> None:
        write("Mira Voss", "She keeps the ledger of the ferry.")
        answer = ask(Caller.gm(world), query)
        assert set(ids(answer)) <= {"mira-voss"}

    def test_zero_width_characters_do_not_hide_a_word(self, world: World, write: Write) -> None:
        write("Mira Voss", "She keeps the ledger of the ferry.")
        write("The Quay", "Boats and eels.")
        found = find_lore(LoreQuestion(query="led\u200bger"), Caller.gm(world), mode=Mode.KEYWORD)
        assert ids(found) == ["mira-voss"]

    @pytest.mark.parametrize("k", [0, -1, 1_000_000])
    def test_an_impossible_number_of_hits_is_refused(self, k: int) -> None:
        with pytest.raises(ValidationError, match="k"):
            LoreQuestion(query="ledger", k=k)

    @pytest.mark.parametrize(
        "filters",
        [{"tags": ["nobody"]}, {"language": "xx"}, {"in_world_from": 9e6}, {"kind": "quest"}],
    )
    def test_filters_that_match_nothing_give_an_empty_answer(
        self, world: World, write: Write, filters: dict[str, object]
    ) -> None:
        write("Mira Voss", "She keeps the ledger of the ferry.")
        assert ask(Caller.gm(world), "ledger", filters=filters).hits == []


def test_an_answer_without_hits_says_what_did_not_take_part(world: World, write: Write) -> None:
    write("The Quay", "Boats and eels.")
    answer = ask(Caller.gm(world), "zxcvb qwerty", least=1.0)
    assert (answer.hits, answer.degraded) == ([], ["vector"])
