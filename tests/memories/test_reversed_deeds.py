"""Who did it to whom: what tells a deed the other way round does not answer."""

from typing import Any

import pytest

from memories.buckets.read_pipeline import ReadPipeline
from memories.models import Namespace
from memories.search import recall
from memories.similarity.reversed_deeds import tells_the_reverse
from tests.memories.conftest import remember

TO_LENA, TO_JONAS = "Jonas lent Lena 200 euros.", "Lena lent Jonas 200 euros."


@pytest.mark.parametrize(
    ("question", "memory", "is_reversed"),
    [
        ("Who lent Lena money?", TO_JONAS, True),
        ("Who lent Lena money?", TO_LENA, False),
        ("Who lent money to Lena?", TO_JONAS, True),
        ("What did Yana lend?", "Borys lent Yana a ladder.", True),
        ("Who paid Anna?", "Anna paid Tobin nine silver.", True),
        ("Who paid Anna?", "Anna was paid by Tobin.", False),
        ("Who paid Anna?", "Anna's brother paid Tobin.", False),
        ("Who met Anna?", "Anna met Jonas.", False),
        ("Кто одолжил Лене денег?", "Лена одолжила Йонасу 200 евро.", True),
        ("Кто одолжил Лене денег?", "Лене одолжил деньги Йонас.", False),
        ("Что одолжила Яна?", "Борис одолжил Яне лестницу.", True),
        ("누가 레나에게 돈을 빌려줬어?", "레나가 요나스에게 돈을 빌려줬다.", True),
        ("누가 레나에게 돈을 빌려줬어?", "요나스가 레나에게 돈을 빌려줬다.", False),
        ("레나는 누구에게 돈을 빌려줬어?", "요나스가 레나에게 돈을 빌려줬다.", True),
    ],
)
def test_the_part_of_whom_the_question_names_is_compared(
    question: str, memory: str, is_reversed: bool
) -> None:
    assert tells_the_reverse(question, memory) is is_reversed


@pytest.mark.django_db
@pytest.mark.parametrize("question", ["Who lent Lena money?", "Who lent money to Lena?"])
def test_a_question_is_answered_by_the_deed_that_it_asks_for(
    settings: Any, mira: Namespace, question: str
) -> None:
    settings.EMBEDDER = "local"
    for text in (TO_JONAS, TO_LENA, "Tobin keeps the toll bell of the lower landing."):
        remember(mira, text)
    assert [each.memory.text for each in ReadPipeline(mira).query(question).memories] == [TO_LENA]
    assert recall.search(mira, question).memories[0].text == TO_LENA


@pytest.mark.django_db
def test_nothing_answers_where_the_reverse_alone_is_remembered(
    settings: Any, mira: Namespace
) -> None:
    settings.EMBEDDER = "local"
    remember(mira, "Borys lent Yana a ladder.")
    remember(mira, "Tobin keeps the toll bell of the lower landing.")
    assert ReadPipeline(mira).query("Who lent Borys a ladder?").abstained
    (answer,) = ReadPipeline(mira).query("Who lent Yana a ladder?").memories
    assert answer.memory.text == "Borys lent Yana a ladder."
