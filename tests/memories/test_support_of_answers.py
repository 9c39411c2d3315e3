"""What supports an answer: a sentence of a long memory, and a memory of what only is asked for."""

from typing import Any

import pytest

from memories.buckets.asking_words import words_asked_about
from memories.buckets.long_memories import MOST_SENTENCES, parts_of, with_sentences
from memories.buckets.question_fit import Candidate
from memories.buckets.read_pipeline import ReadPipeline
from memories.erasure import deletion
from memories.models import Namespace
from retrieval.models import CachedVector
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db

SUPPER = (
    "The party came to the lower landing at dusk and paid nine silver for the crossing. "
    "Odo sang two verses while the ferry waited for the fog to lift. "
    "Berta sharpened her axe on the mooring stone. "
    "The harbour master asked nobody's name and looked at the horses for a long time. "
    "In the morning they found that the grey mare had been stolen from the stable."
)
BRIDGE = (
    "The old bridge was closed on the day after the flood. "
    "Three carts stood in the road, and their drivers argued about whose fault it was. "
    "Kara bought two loaves and a wheel of hard cheese from the baker's widow. "
    "A boy ran past and shouted that the mill had burned down. "
    "They slept in the hayloft above the smithy and left before anybody was awake."
)


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("What did the party pay for the crossing?", True),
        ("What was stolen from the stable?", True),
        ("What did Kara buy from the baker's widow?", True),
        ("How old is the captain of the royal guard?", False),
        ("Which spell opens the iron door?", False),
    ],
)
def test_one_sentence_of_a_long_memory_answers(
    settings: Any, mira: Namespace, question: str, is_answered: bool
) -> None:
    settings.EMBEDDER = "local"
    remember(mira, SUPPER)
    remember(mira, BRIDGE)
    assert ReadPipeline(mira).query(question).abstained is not is_answered


def test_a_question_leaves_no_vector_of_a_sentence_behind(settings: Any, mira: Namespace) -> None:
    settings.EMBEDDER = "local"
    (pk,) = remember(mira, SUPPER).ids
    before = CachedVector.objects.count()
    ReadPipeline(mira).query("What was stolen from the stable?")
    assert CachedVector.objects.count() == before
    assert deletion.erase(mira, "memory", pk).is_clean


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("My name is Jaro and I run the Thursday table.", "What is the user's name?"),
        ("My name is Jaro and I run the Thursday table.", "What is my name?"),
        ("Меня зовут Яро, я веду стол по четвергам.", "Как меня зовут?"),
        ("내 이름은 지훈이고 목요일마다 진행한다.", "내 이름이 뭐야?"),
        ("I live in Busan with two cats.", "Where does the user live?"),
    ],
)
def test_a_question_without_words_of_its_own_is_answered(
    settings: Any, mira: Namespace, memory: str, question: str
) -> None:
    settings.EMBEDDER = "local"
    remember(mira, memory)
    remember(mira, "Tobin keeps the toll bell of the lower landing.")
    assert ReadPipeline(mira).query(question).memories[0].memory.text == memory


@pytest.mark.parametrize(
    ("memory", "question", "asked_about"),
    [
        ("Lena's brother Jonas sings.", "What is Lena's brother called?", ["Lena's", "brother"]),
        (
            "Lena's brother sings.",
            "What is Lena's brother called?",
            ["Lena's", "brother", "called"],
        ),
        ("Сестра Олега Нина поёт.", "Как зовут сестру Олега?", ["сестру", "Олега"]),
        ("Сестра Олега поёт.", "Как зовут сестру Олега?", ["зовут", "сестру", "Олега"]),
        ("민호의 여동생 수진은 간호사이다.", "민호의 여동생 이름은?", ["민호의", "여동생"]),
        ("민호의 여동생은 간호사이다.", "민호의 여동생 이름은?", ["민호의", "여동생", "이름은"]),
        ("The backup failed on 12 June.", "What happened on 12 June?", ["12", "June"]),
    ],
)
def test_no_memory_has_to_have_words_that_only_ask(
    memory: str, question: str, asked_about: list[str]
) -> None:
    assert words_asked_about(question, [memory]) == asked_about


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("Owen's daughter Freya studies law.", "What is Owen's daughter called?"),
        ("Сестра Олега Нина живёт в Туле.", "Как зовут сестру Олега?"),
        ("하은의 고양이 보리는 열 살이다.", "하은의 고양이 이름은?"),
    ],
)
def test_a_name_beside_what_it_names_answers(
    settings: Any, mira: Namespace, memory: str, question: str
) -> None:
    settings.EMBEDDER = "local"
    for text in (memory, "Tobin keeps the toll bell of the lower landing.", SUPPER):
        remember(mira, text)
    assert ReadPipeline(mira).query(question).memories[0].memory.text == memory


def test_short_memories_and_those_without_vectors_stay_whole(settings: Any) -> None:
    settings.EMBEDDER = "hashing"
    short, without = Candidate("The mare is grey.", 0.5), Candidate(SUPPER, None)
    assert with_sentences("Who?", [short]) == [short]
    assert with_sentences("Who?", [without]) == [without]
    judged = with_sentences("Who stole the mare?", [Candidate(SUPPER, 0.5), short])
    assert [one.text for one in judged] == [*parts_of(SUPPER), short.text]


def test_a_very_long_memory_is_read_in_few_parts() -> None:
    parts = parts_of(" ".join(f"On day {n} it rained." for n in range(95)))
    assert len(parts) <= MOST_SENTENCES
    assert " ".join(parts).count("it rained") == 95
    assert parts_of("") == []
