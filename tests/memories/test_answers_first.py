"""The order of the memories found by how far each answers."""

from dataclasses import replace
from typing import Any

import pytest

from memories.buckets.read_pipeline import ReadPipeline
from memories.found_memory import FoundMemory
from memories.models import Namespace
from memories.search import recall
from memories.search.answers import READ, order_by_answers
from retrieval.models import uuid7
from tests.memories.conftest import remember

ABOUT = "The inn at the quay has rooms with a view of the harbour."
ANSWER = "At the inn a night costs four coppers."
QUESTION = "What do I pay for a bed at the inn?"


@pytest.fixture(autouse=True)
def _local_embedder(settings: Any) -> None:
    settings.EMBEDDER = "local"


def found(text: str, relevance: float | None) -> FoundMemory:
    return FoundMemory(uuid7(), text, relevance=relevance)


def test_of_two_as_relevant_the_one_that_answers_comes_first() -> None:
    about, answer = found(ABOUT, 0.3), found(ANSWER, 0.3)
    first, second = order_by_answers(QUESTION, [about, answer])
    assert (first.id, second.id) == (answer.id, about.id)
    assert (first.relevance or 0) > (second.relevance or 0) > 0


def test_what_only_sounds_like_an_answer_stays_behind() -> None:
    about, answer = found(ABOUT, 0.6), found(ANSWER, 0.02)
    assert order_by_answers(QUESTION, [about, answer])[0].id == about.id


def test_turns_and_memories_of_unknown_relevance_stay_as_they_are() -> None:
    about, answer = found(ABOUT, 0.3), found(ANSWER, 0.3)
    for other in (replace(answer, is_turn=True), replace(answer, relevance=None)):
        assert order_by_answers(QUESTION, [about, other]) == [about, other]


def test_only_the_first_are_read() -> None:
    memories = [found(ABOUT, 0.3) for _ in range(READ)] + [found(ANSWER, 0.3)]
    assert order_by_answers(QUESTION, memories)[-1] == memories[-1]


def test_without_the_local_embedder_the_order_stays(settings: Any) -> None:
    settings.EMBEDDER = "hashing"
    memories = [found(ABOUT, 0.3), found(ANSWER, 0.3)]
    assert order_by_answers(QUESTION, memories) == memories


@pytest.mark.django_db
def test_a_question_reads_them_and_a_plain_search_does_not(mira: Namespace) -> None:
    for text in (ABOUT, ANSWER):
        remember(mira, text)
    plain, read = (
        recall.search(mira, QUESTION, reads_answers=reads).memories for reads in (False, True)
    )
    relevance = {memory.id: memory.relevance for memory in plain}
    assert {memory.id for memory in read} == set(relevance)
    assert all(memory.relevance != relevance[memory.id] for memory in read)
    shown = ReadPipeline(mira).query(QUESTION)
    assert shown.memories[0].memory.relevance == read[0].relevance
