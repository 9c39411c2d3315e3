"""A newer memory that shares hardly a word with the one that it makes outdated."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from memories.buckets.answer_signs import AnswerModel, answer_model
from memories.buckets.read_pipeline import ReadPipeline
from memories.found_memory import FoundMemory
from memories.models import MemoryItem, Namespace, Succession
from memories.presenters import present_hit
from memories.search import recall
from memories.search.outdated import is_later, may_be_outdated, newest
from memories.similarity.ended_states import ends_state
from memories.similarity.same_statement import SameStatementModel, same_statement_model
from memories.similarity.updates import FALLING, RISING, UpdateModel, update_model
from retrieval.models import uuid7
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _local_embedder(settings: Any) -> None:
    """The one that the model was fitted for."""
    settings.EMBEDDER = "local"


CASES = [
    (
        "Where does the smith Halvard work?",
        "Halvard the smith works in the yard behind the temple.",
        "Halvard takes four days for a sword.",
        "Halvard hammers his iron down at the ford since the temple threw him out.",
    ),
    (
        "Где лагерь разбойников?",
        "Разбойники стоят лагерем в Чёрном бору.",
        "У разбойников есть пушка.",
        "Когда бор подожгли, разбойники ушли на болото.",
    ),
    (
        "용은 어디에 있어?",
        "용 애쉬는 구리 광산에서 잔다.",
        "용 애쉬는 한쪽 눈이 없다.",
        "애쉬는 광산을 떠나 종탑에 둥지를 틀었다.",
    ),
]


@pytest.mark.parametrize(("question", "former", "beside", "current"), CASES)
def test_what_holds_now_is_first_and_the_former_marked(
    mira: Namespace, question: str, former: str, beside: str, current: str
) -> None:
    for text in (former, beside, current):
        remember(mira, text)
    assert not Succession.objects.exists()  # nothing was recognized when it was written
    for limit in (1, 5):
        found = recall.search(mira, question, limit=limit).memories
        assert found[0].text == current
    by_text = {memory.text: memory for memory in found}
    assert by_text[former].possibly_outdated_by == by_text[current].id
    assert not by_text[former].formerly
    assert by_text[current].newer is None
    assert all(memory.newer is None for memory in found if memory.text == beside)
    hit = present_hit(by_text[former])
    assert hit.possibly_outdated_by == str(by_text[current].id)
    ranked = ReadPipeline(mira).rank(found)
    assert [one.memory.text for one in ranked][:2] == [current, former]


SESSION = [
    "The party owes the ferryman Tobin nine silver pieces for the night crossing.",
    "Mirelle plays the halfling thief Pip and hates spiders.",
    "We agreed to play every second Thursday at 19:00.",
    "Captain Dorsey promised the party a letter of safe conduct if they clear the mill.",
    "The party paid Tobin his nine silver in full at the Lantern.",
    "Pip stole the abbot's signet ring and hid it in her boot.",
    "Because of Mirelle's new shift we play on Sundays at three from now on.",
    "The mill is cleared; Dorsey handed over the letter of safe conduct.",
]
ASKED = [
    ("Do we still owe the ferryman money?", 4),
    ("when do we play?", 6),
    ("what day is game night", 6),
    ("What does Dorsey still owe us?", 7),
]


ENDED = [
    ("Where does Anselm live?", "Anselm lives in Carrow.", "Anselm moved to Dunmere."),
    ("Где живёт Борис?", "Борис живёт в Твери.", "Борис переехал в Ростов."),
    ("지훈은 어디에 살아?", "지훈은 부산에 산다.", "지훈은 대구로 이사했다."),
    ("Where does Tom work?", "Tom works at the forge.", "Tom got a new job as a ferryman."),
    ("Кто капитан стражи?", "Капитан стражи — Олег.", "Олег ушёл, капитаном стражи стала Вера."),
    ("Is Odo alive?", "Odo is alive and well.", "Odo drowned in the spring flood."),
]


@pytest.mark.parametrize(("question", "former", "current"), ENDED)
def test_the_plainest_end_of_a_state_is_known(
    mira: Namespace, question: str, former: str, current: str
) -> None:
    remember(mira, former)
    remember(mira, current)
    first, second = ReadPipeline(mira).query(question).memories
    assert (first.memory.text, second.memory.text) == (current, former)
    assert second.memory.possibly_outdated_by == first.memory.id


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Where does Anselm live?", "Anselm lives in Carrow.", "Berta moved to Dunmere."),
        ("What does Anselm drink?", "Anselm lives in Carrow.", "Anselm moved to Dunmere."),
        ("Where does Anselm live?", "Anselm lives in Carrow.", "Anselm moved the barrels."),
        ("Где живёт Борис?", "Борис живёт в Твери.", "Борис продал лодку."),
    ],
)
def test_what_ends_no_state_that_is_asked_for_outdates_nothing(
    question: str, older: str, newer: str
) -> None:
    assert not ends_state(question, older, newer)


def test_after_a_session_each_question_gets_what_holds_now(mira: Namespace) -> None:
    """These had what was over, unmarked, or another memory first."""
    for text in SESSION:
        remember(mira, text)
    for question, wanted in ASKED:
        answer = ReadPipeline(mira).query(question)
        assert answer.memories, question
        assert answer.memories[0].memory.text == SESSION[wanted], question
        first = answer.memories[0].memory
        assert first.newer is None, question


def test_what_is_possibly_outdated_is_never_left_out(mira: Namespace) -> None:
    question, former, _, current = CASES[0]
    remember(mira, former)
    remember(mira, current)
    found = recall.search(mira, question, former=False).memories
    assert [memory.text for memory in found] == [current, former]


def test_an_older_memory_outdates_nothing(mira: Namespace) -> None:
    question, former, _, current = CASES[0]
    remember(mira, current)
    remember(mira, former)
    found = recall.search(mira, question).memories
    assert found[0].text == former
    assert not any(memory.newer for memory in found)


def test_turns_and_other_scopes_outdate_nothing() -> None:
    older = FoundMemory(uuid7(), "one", timestamp_ms=1)
    newer = FoundMemory(uuid7(), "two", timestamp_ms=2)
    assert may_be_outdated(older, by=newer)
    assert not may_be_outdated(older, by=replace(newer, is_turn=True))
    assert not may_be_outdated(older, by=replace(newer, metadata={"scope": "elsewhere"}))


@pytest.mark.parametrize(
    "long",
    [
        "The keep fell at dawn. Vex climbed the wall. Nobody saw her, and the gate was opened.",
        "На рассвете крепость пала. Векс влезла на стену. Её никто не видел.",
        "새벽에 성채가 함락되었다. 벡스가 성벽을 올랐다. 아무도 보지 못했다.",
    ],
)
def test_a_recorded_scene_outdates_no_other(long: str) -> None:
    """A newer scene about the same people does not replace the one before it."""
    older = FoundMemory(uuid7(), "Vex stands before the keep.", timestamp_ms=1)
    newer = FoundMemory(uuid7(), "Vex has left. The keep is empty.", timestamp_ms=2)
    assert may_be_outdated(older, by=newer)
    assert not may_be_outdated(older, by=replace(newer, text=long))
    assert not may_be_outdated(replace(older, text=long), by=newer)


def test_the_time_in_the_world_counts_before_the_time_of_recording() -> None:
    first = FoundMemory(uuid7(), "one", timestamp_ms=2, in_world_at=10.0)
    second = FoundMemory(uuid7(), "two", timestamp_ms=1, in_world_at=20.0)
    assert is_later(second, than=first)
    dated = replace(first, in_world_at=None, event_at=datetime(2026, 1, 2, tzinfo=UTC))
    before = replace(second, in_world_at=None, event_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert is_later(dated, than=before)


def test_the_last_of_several_is_meant_and_a_circle_ends() -> None:
    one, two, three = (UUID(int=number) for number in (1, 2, 3))
    assert newest(one, {one: two, two: three}) == three
    assert newest(one, {one: two, two: three, three: one}) == three


def test_a_tree_sends_each_row_to_its_leaf() -> None:
    model = UpdateModel.of(
        {
            "embedder": "",
            "base": 0.0,
            "depth": 1,
            "least": 0.5,
            "signs": ["other", "outdated"],
            "sign": [[1, 0, 0]],
            "threshold": [[0.5, 0, 0]],
            "left": [[1, 1, 2]],
            "right": [[2, 1, 2]],
            "value": [[0.0, -2.0, 2.0]],
        }
    )
    low, high = model.probabilities(
        [{"outdated": 0.5, "other": 9.0}, {"outdated": 0.6, "other": 9.0}]
    )
    assert np.allclose([low, high], [1 / (1 + np.e**2), 1 / (1 + np.e**-2)])


@pytest.mark.parametrize("number", range(40))
def test_more_signs_of_an_update_never_make_it_less_probable(number: int) -> None:
    chance, model = Random(number), update_model()
    assert set(model.signs) == RISING | FALLING
    low = {name: chance.uniform(-8, 8) for name in model.signs}
    high = {
        name: value + chance.random() * (3 if name in RISING else -3) for name, value in low.items()
    }
    less, more = model.probabilities([low, high])
    assert less <= more


@pytest.mark.parametrize("stored", [update_model(), same_statement_model(), answer_model()])
def test_the_stored_trees_end_in_leaves(
    stored: UpdateModel | SameStatementModel | AnswerModel,
) -> None:
    model = stored.trees
    trees = np.arange(len(model.value))
    nodes = np.zeros_like(trees)
    for side in (model.left, model.right):
        for _ in range(model.depth):
            nodes = side[trees, nodes]
        assert (side[trees, nodes] == nodes).all()


def test_memories_without_vectors_are_left_as_they_are(mira: Namespace) -> None:
    question, former, _, current = CASES[0]
    remember(mira, former)
    remember(mira, current)
    MemoryItem.objects.update(embedding=None, embedding_model="")
    found = recall.search(mira, question, mode="keyword").memories
    assert not any(memory.newer for memory in found)
