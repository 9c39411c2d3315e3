"""Questions in Russian and Korean are brought nearer to the memories that answer them."""

import numpy as np
import pytest

from memories.search.question_map import map_question
from retrieval.embedders import HashingEmbedder, LocalEmbedder


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "можно ли попасть внутрь ночью",
            "Ворота запирают на закате, и после этого впускают только лекаря.",
            "Данные клиентов нельзя выгружать на личный ноутбук.",
        ),
        (
            "쇠 다루는 장인이 갚아야 할 돈",
            "대장장이 만득은 마을에 은화 스무 닢을 빚졌다.",
            "찜질방 화덕에서 연기가 나서 굴뚝 청소부가 필요하다.",
        ),
    ],
)
def test_a_question_in_other_words_finds_its_answer(
    local: LocalEmbedder, question: str, answer: str, other: str
) -> None:
    memories = local.embed_document([answer, other])
    asked = local.embed_query([question])[0]
    mapped = map_question(local.name, asked)
    assert np.argmax(memories @ asked) == 1
    assert np.argmax(memories @ mapped) == 0
    assert np.linalg.norm(mapped) == pytest.approx(1, abs=1e-5)


def test_questions_in_latin_script_and_vectors_of_other_embedders_stay(
    local: LocalEmbedder,
) -> None:
    asked = local.embed_query(["may I come in at night?"])[0]
    assert np.array_equal(map_question(local.name, asked), asked)
    hashed = HashingEmbedder(1280).embed_query(["можно ли войти ночью?"])[0]
    assert np.array_equal(map_question(HashingEmbedder.name, hashed), hashed)
