"""A store in three languages, searched with the local models: the answer is found whatever its
script is, and that of the question."""

from typing import Any

import pytest

from bench.passages import BenchPassage
from retrieval.embedders import get_embedder
from retrieval.presets import Mode, Preset
from retrieval.search import SearchRequest, clear_row_estimates, search
from retrieval.search.compiled_rows import RowEstimate

pytestmark = pytest.mark.django_db

PASSAGES = {
    "en": {
        "lighthouse": "The old lighthouse burned down in the autumn storm, and its keeper is dead.",
        "bees": "Widow Tamsin keeps bees behind the mill and sells honey to travellers.",
        "bridge": "The stone bridge is watched by four soldiers who ask a copper from everyone.",
        "well": "The water of the well behind the inn has tasted of iron since spring.",
        "smith": "The blacksmith lost two fingers of his left hand in the siege.",
        "market": "On market days the square is full of fishmongers and their cats.",
    },
    "ru": {
        "wolves": "Зимой волки подходят к самой деревне и режут овец.",
        "tower": "В северной башне живёт слепой звездочёт, который никого не принимает.",
        "debt": "Лавочник задолжал ростовщику сорок серебряных монет.",
        "mine": "Старую шахту завалило, и семеро рудокопов остались под землёй.",
        "song": "Девушки поют на берегу песню об утонувшем женихе.",
        "horse": "Князь подарил гонцу вороного коня без единого пятна.",
    },
    "ko": {
        "temple": "산꼭대기 사원에는 말을 하지 않는 수도승들이 산다.",
        "sword": "대장장이는 부러진 검을 사흘 만에 다시 붙였다.",
        "fever": "강 아래 마을에 열병이 돌아 아이들이 앓고 있다.",
        "thief": "밤마다 도둑이 곡식 창고의 자물쇠를 따고 들어온다.",
        "ship": "세 돛대의 배가 안개 속에서 암초에 부딪혀 가라앉았다.",
        "ring": "여왕의 반지는 우물 속에 떨어져 다시 찾지 못했다.",
    },
}
QUESTIONS = {
    "Which animals kill the sheep in winter?": "wolves",
    "Who is the blind astrologer?": "tower",
    "How much money does the shopkeeper owe?": "debt",
    "Where do the silent monks live?": "temple",
    "Where is the queen's ring?": "ring",
    "What illness do the children have?": "fever",
    "Кто держит пчёл?": "bees",
    "Что случилось с маяком?": "lighthouse",
    "Кто охраняет мост?": "bridge",
    "다리는 누가 지키나요?": "bridge",
    "꿀을 파는 사람은 누구인가요?": "bees",
    "등대는 어떻게 되었나요?": "lighthouse",
    "Where does the widow sell honey?": "bees",
    "Почём долг лавочника?": "debt",
    "도둑은 어디로 들어오나요?": "thief",
}


@pytest.fixture
def store(settings: Any) -> None:
    settings.EMBEDDER = "local"
    clear_row_estimates()
    embedder = get_embedder()
    for language, texts in PASSAGES.items():
        vectors = embedder.embed_document([*texts.values()])
        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            BenchPassage.objects.create(
                key=key,
                tenant="ferrymark",
                text=text,
                language=language,
                embedding=vector,
                embedding_model=embedder.name,
            )


def first(question: str) -> Any:
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    request = SearchRequest(
        query=question,
        scopes=["ferrymark"],
        fields=["key"],
        mode=Mode.VECTOR,
        preset=Preset(dims=1024),
    )
    return next(iter(search(rows, request)))


@pytest.mark.parametrize("scan", ["exact", "index"])
def test_questions_find_answers_in_other_scripts(
    store: None, scan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scan == "index":
        estimate = RowEstimate(10_000, 1e6, has_latin=True, has_other_scripts=True)
        monkeypatch.setattr("retrieval.search.engine.estimate_rows", lambda *_rows: estimate)
    answers = {question: first(question).fields["key"] for question in QUESTIONS}
    wrong = {question: key for question, key in answers.items() if key != QUESTIONS[question]}
    assert len(wrong) <= 1, wrong


def test_a_latin_question_finds_what_is_in_one_other_script_as_surely(store: None) -> None:
    """Its relevance is that of an answer, although no passage competes with it."""
    BenchPassage.objects.exclude(language="ru").delete()
    clear_row_estimates()
    assert first("Which animals kill the sheep in winter?").relevance > 0.25


def test_a_russian_question_to_english_texts_alone_is_compared_as_before(store: None) -> None:
    vector = first("Кто держит пчёл?").legs["vector"].score
    BenchPassage.objects.exclude(language="en").delete()
    clear_row_estimates()
    alone = first("Кто держит пчёл?")
    assert alone.fields["key"] == "bees"
    assert alone.legs["vector"].score < 0.7 * vector
