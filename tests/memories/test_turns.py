"""Turns of a conversation know the turn before them, and are found by it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from uuid import UUID

import pytest
from django.db import connection

from memories import conversation, namespaces, transfer
from memories.buckets.answer_check import CheckerFailed
from memories.buckets.read_pipeline import ReadPipeline
from memories.curation import edits, inbox, lifecycle
from memories.erasure import deletion
from memories.ledger.plan import Particulars
from memories.ledger.turns import MAX_PAUSE
from memories.models import MemoryItem, Message, Namespace
from memories.models.namespaces import Review
from memories.search import recall
from retrieval.search import Mode
from tests.memories.conftest import remember
from tests.memories.test_transfer import delete_namespace
from worlds.models import World

MORNING = datetime(2026, 5, 8, 9, tzinfo=UTC)
ASKED, ANSWERED, LATER = (
    "Where did the drowned ledger go?",
    "Under the third stair.",
    "The soup is salty tonight.",
)


@pytest.fixture
def talk(mira: Namespace) -> list[UUID]:
    """Three turns, one `add` each."""
    return [
        say(mira, "Tobin", ASKED),
        say(mira, "Sabine", ANSWERED),
        say(mira, "Tobin", LATER),
    ]


def say(namespace: Namespace, speaker: str, text: str, **about: object) -> UUID:
    about = {"source": "supper", "event_at": MORNING} | about
    (pk,) = remember(namespace, text, speaker=speaker, **about).ids
    return pk


def before(pk: UUID) -> str:
    """Return the surroundings of a memory, whose turn before must have that text."""
    memory = MemoryItem.objects.get(pk=pk)
    if memory.previous_turn:
        text = MemoryItem.objects.get(pk=memory.previous_turn).text
        assert memory.surroundings == text
    else:
        assert memory.surroundings == ""
    return memory.surroundings


def texts(namespace: Namespace, query: str, **options: object) -> list[str]:
    found = recall.search(namespace, query, **options)  # type: ignore[arg-type]
    return [memory.text for memory in found.memories]


def test_each_turn_knows_the_one_before(talk: list[UUID]) -> None:
    assert [before(pk) for pk in talk] == ["", ASKED, ANSWERED]


def test_turns_of_one_call_know_each_other(mira: Namespace) -> None:
    first, second = remember(mira, ASKED, ANSWERED, speaker="Sabine").ids
    assert before(first) == ""
    assert before(second) == ASKED


def test_an_answer_is_found_by_the_words_of_its_question(mira: Namespace, talk: list[UUID]) -> None:
    assert ANSWERED in texts(mira, "drowned ledger", mode="keyword")


def test_a_question_lends_its_score_to_the_answer(mira: Namespace, talk: list[UUID]) -> None:
    say(mira, "Mira", "A ledger costs two marks at the landing.", source="market")
    assert texts(mira, "Where did the drowned ledger go?")[:2] == [ASKED, ANSWERED]


def test_what_nobody_said_has_no_turn_before(mira: Namespace) -> None:
    first, second = remember(mira, ASKED, ANSWERED).ids
    assert before(first) == before(second) == ""


def test_a_turn_of_another_source_or_after_a_pause_is_no_neighbour(
    mira: Namespace, talk: list[UUID]
) -> None:
    elsewhere = say(mira, "Sabine", "The bell is cracked.", source="market")
    next_day = say(mira, "Sabine", "Good morning, all.", event_at=MORNING + 2 * MAX_PAUSE)
    assert before(elsewhere) == before(next_day) == ""


def test_no_words_of_another_namespace_are_taken_over(
    mira: Namespace, tobin: Namespace, talk: list[UUID], world: World
) -> None:
    namesake = namespaces.get_or_create_namespace(
        World.objects.create(slug="elsewhere", name="Elsewhere"), mira.name
    )
    for other in (tobin, namesake):
        pk = say(other, "Sabine", "Nobody told me.")
        assert before(pk) == ""
        assert texts(other, "drowned ledger salty soup", mode="keyword") == []


def test_the_named_speaker_comes_first(mira: Namespace) -> None:
    say(mira, "Tobin", "A wish of mine for the winter: to learn the flute.", source="one letter")
    say(mira, "Sabine", "My aunt says nobody can learn the flute on a ferry.", source="another")
    for speaker in ("Tobin", "Sabine"):
        found = recall.search(mira, f"What did {speaker} say about how to learn the flute?")
        assert found.memories[0].speaker == speaker
    mine = say(mira, "user", "I should love to learn the lute some day.", source="chat")
    found = recall.search(mira, "Which instrument do I want to learn, the lute?")
    assert found.memories[0].id == mine


def test_a_request_to_an_assistant_tells_what_its_user_does(mira: Namespace) -> None:
    """Among people a question tells less than an answer; who asks for help tells what it is for."""
    request = "Can you help me tune the lute that I bought in Esk for the winter fair?"
    reply = "Somebody should tune the lute that you bought in Esk for the winter fair."
    by_asking = {}
    for speaker, other in (("user", "assistant"), ("Tobin", "Sabine")):
        ids = [
            say(mira, speaker, request, source=f"{speaker}, request"),
            say(mira, other, reply, source=f"{speaker}, reply"),
        ]
        rows = MemoryItem.objects.filter(pk__in=ids)
        found = recall.search(mira, "lute bought in Esk for the winter fair", within=rows)
        scores = {memory.id: memory.score for memory in found.memories}
        by_asking[speaker] = scores[ids[0]] / scores[ids[1]]
    assert by_asking["user"] > by_asking["Tobin"] * 1.1


def test_two_turns_in_like_words_do_not_pass_for_former_and_current(mira: Namespace) -> None:
    """A turn that only resembles the answer must not take its place."""
    first = say(mira, "Tobin", "Good to see you, Sabine! The mill has two wheels. How are you?")
    say(mira, "Sabine", "Good to see you, Tobin! My mill has three wheels. Are you well?")
    found = recall.search(mira, "How many wheels has Tobin's mill?").memories
    assert found[0].id == first
    assert not any(memory.formerly for memory in found)


@pytest.fixture
def evening(mira: Namespace) -> Namespace:
    """A conversation as people talk: greetings, asides, and what is told among them."""
    lines = [
        ("Tobin", "Evening, Sabine! You look tired. Long day at the landing?"),
        ("Sabine", "The longest! We hauled the Heron onto the slip, and my back tells me so."),
        ("Tobin", "Ouch. Did Anselm lend you his mule again, or did you pull by hand?"),
        ("Sabine", "By hand, all nine of us. The mule has been lame since the flood, poor thing."),
        ("Tobin", "Poor thing indeed! And how is your sister getting on over in Esk?"),
        ("Sabine", "Oh, she opened her bakery last month. She is so happy, you would not believe."),
        ("Tobin", "That is wonderful! I must walk over and try the rye bread some morning."),
        ("Sabine", "Do, and bring your flute. She says the shop is too quiet before noon."),
    ]
    for speaker, text in lines:
        say(mira, speaker, text)
    return mira


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Since when has the mule been lame?", "flood"),
        ("What did Sabine's sister open in Esk?", "bakery"),
        ("Which boat did Sabine haul onto the slip?", "Heron"),
    ],
)
def test_a_question_to_a_conversation_is_answered(
    evening: Namespace, question: str, answer: str
) -> None:
    """The signs of an answer, which were fitted to statements, do not know greetings and asides."""
    result = ReadPipeline(evening).query(question)
    assert not result.abstained
    assert any(answer in one.memory.text for one in result.memories)
    assert result.decided_by == "relevance"


class Checker:
    """A language model that sees no answer, or fails."""

    def __init__(self, failure: str = "") -> None:
        self.failure, self.asked = failure, 0

    def find_answer(self, question: str, memories: Sequence[str]) -> int | None:
        self.asked += 1
        if self.failure:
            raise CheckerFailed(self.failure)
        return None


def test_a_language_model_decides_whether_a_conversation_answers(evening: Namespace) -> None:
    question = "Which boat did Sabine haul onto the slip?"
    sees_nothing, late = Checker(), Checker("too late")
    result = ReadPipeline(evening, make_checker=lambda _namespace: sees_nothing).query(question)
    assert (result.abstained, result.decided_by) == (True, "model")
    result = ReadPipeline(evening, make_checker=lambda _namespace: late).query(question)
    assert (result.abstained, result.decided_by) == (False, "relevance")
    assert "llm" in result.degraded
    assert "too late" in result.decision
    result = ReadPipeline(evening, make_checker=lambda _namespace: late).query("recipe for borscht")
    assert result.abstained
    assert late.asked == 1  # nothing is near enough to ask the model about


@pytest.mark.parametrize("question", ["How do I reset my router?", "recipe for borscht"])
def test_a_question_about_nothing_in_a_conversation_is_not_answered(
    evening: Namespace, question: str
) -> None:
    result = ReadPipeline(evening).query(question)
    assert result.abstained
    assert result.memories == []
    assert "relevance" in result.because or "remembered" in result.because


def test_an_edited_turn_keeps_its_place(mira: Namespace, talk: list[UUID]) -> None:
    new = edits.edit(mira, talk[1], "Under the fourth stair.", by="gm")
    assert before(new.pk) == ASKED
    assert before(talk[2]) == "Under the fourth stair."
    edits.undo(mira, new.pk, by="gm")
    assert before(talk[2]) == ANSWERED


def test_the_parts_of_a_split_turn_stand_in_its_place(mira: Namespace, talk: list[UUID]) -> None:
    one, other = edits.split(mira, talk[1], ["Under the stair.", "The third one."], by="gm")
    assert {before(one.pk), before(other.pk)} == {ASKED, one.text}
    assert before(talk[2]) == "The third one."


def test_the_turns_around_one_that_leaves_become_neighbours(
    mira: Namespace, talk: list[UUID]
) -> None:
    lifecycle.archive(mira, talk[1])
    assert before(talk[2]) == ASKED
    assert LATER not in texts(mira, "third stair", mode="keyword")
    lifecycle.restore(mira, talk[1])
    assert [before(pk) for pk in talk] == ["", ASKED, ANSWERED]


def test_an_expired_turn_leaves_its_neighbours(mira: Namespace, talk: list[UUID]) -> None:
    MemoryItem.objects.filter(pk=talk[0]).update(expires_at=MORNING - timedelta(days=1))
    lifecycle.expire_due(now=MORNING)
    assert before(talk[1]) == ""


def test_a_turn_that_waits_for_approval_stands_before_none(mira: Namespace) -> None:
    first = say(mira, "Tobin", ASKED)
    mira.review = Review.ALL
    mira.save()
    waiting = say(mira, "Sabine", ANSWERED)
    mira.review = Review.OFF
    mira.save()
    third = say(mira, "Tobin", LATER)
    assert before(third) == ASKED
    inbox.approve(mira, waiting, by="gm")
    assert [before(pk) for pk in (first, waiting, third)] == ["", ASKED, ANSWERED]


def test_nothing_of_an_erased_turn_stays_with_its_neighbours(
    mira: Namespace, talk: list[UUID]
) -> None:
    receipt = deletion.erase(mira, "memory", talk[1])
    assert receipt.leftovers == []
    assert before(talk[2]) == ASKED
    conversation.log_message(mira, "The drowned ledger burns.", source="secret")
    conversation.log_message(mira, "A pity.")
    receipt = deletion.erase(mira, "source", "secret")
    assert receipt.leftovers == []
    assert Message.objects.get().surroundings == ""


def test_an_import_links_the_turns_again(mira: Namespace, talk: list[UUID], world: World) -> None:
    conversation.log_message(mira, ASKED, speaker="Tobin")
    conversation.log_message(mira, ANSWERED, speaker="Sabine")
    lines = list(transfer.export_namespace(mira))
    assert not any("surroundings" in line for line in lines)
    delete_namespace(mira)
    transfer.import_namespace(lines, world)
    assert [before(pk) for pk in talk] == ["", ASKED, ANSWERED]
    assert Message.objects.get(text=ANSWERED).surroundings == ASKED


def test_the_migration_links_what_is_stored_already(mira: Namespace, talk: list[UUID]) -> None:
    late = say(mira, "Sabine", "Good morning, all.", event_at=MORNING + 2 * MAX_PAUSE)
    fact = remember(mira, "The bell hangs in Heron Abbey.", source="supper").ids[0]
    conversation.log_message(mira, ASKED, speaker="Tobin")
    answer = conversation.log_message(mira, ANSWERED, speaker="Sabine")
    MemoryItem.objects.update(turn_order=None, previous_turn=None, surroundings="")
    Message.objects.update(previous_turn=None, surroundings="")
    migration = import_module("memories.migrations.0010_link_turns").Migration
    with connection.cursor() as cursor:
        for statement in migration.operations[0].sql:
            cursor.execute(statement)
    assert [before(pk) for pk in (*talk, late, fact)] == ["", ASKED, ANSWERED, "", ""]
    answer.refresh_from_db()
    assert answer.surroundings == ASKED
    assert MemoryItem.objects.get(pk=fact).turn_order is None
    assert ANSWERED in texts(mira, "drowned ledger", mode="keyword")


def test_messages_know_the_one_before_in_their_conversation(mira: Namespace) -> None:
    asked = conversation.log_message(mira, ASKED, conversation="a", said_at=MORNING)
    other = conversation.log_message(mira, "The bell is cracked.", conversation="b")
    answered = conversation.log_message(
        mira, ANSWERED, conversation="a", said_at=MORNING + timedelta(minutes=2)
    )
    # A message that is logged late finds its place.
    between = conversation.log_message(
        mira, "Let me think.", conversation="a", said_at=MORNING + timedelta(minutes=1)
    )
    chain = {
        message.pk: message.previous_turn for message in Message.objects.filter(namespace=mira)
    }
    assert chain == {
        asked.pk: None,
        other.pk: None,
        between.pk: asked.pk,
        answered.pk: between.pk,
    }


def test_an_answer_in_the_log_is_found_by_its_question(mira: Namespace) -> None:
    for text in (ASKED, ANSWERED, LATER, "A ledger costs two marks."):
        conversation.log_message(mira, text, speaker="Tobin")
    hits = conversation.search_messages(mira, "Where did the drowned ledger go?")
    assert [message.text for message in hits.messages[:2]] == [ASKED, ANSWERED]
    assert list(hits.scores) == sorted(hits.scores, reverse=True)


def test_a_single_leg_is_not_weighed(mira: Namespace, talk: list[UUID]) -> None:
    for mode in (Mode.KEYWORD, Mode.VECTOR):
        for memory in recall.search(mira, "drowned ledger", mode=mode).memories:
            leg = memory.legs[mode].score
            assert leg is not None
            if mode == Mode.VECTOR:
                assert memory.score == pytest.approx(leg)


def test_a_speaker_or_a_context_makes_a_turn() -> None:
    assert Particulars(speaker="Tobin").is_turn
    assert Particulars(context="Tobin (8 May)").is_turn
    assert not Particulars(event_at=MORNING, source="supper", subject="Tobin").is_turn
