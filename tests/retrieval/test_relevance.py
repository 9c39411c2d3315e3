"""How the legs are weighed for each question, and how relevant each hit is."""

from dataclasses import replace

import numpy as np
import pytest
from django.db.models import QuerySet

from bench.passages import BenchPassage
from bench.relevance import Asked, area, fit
from retrieval.embedders import get_embedder
from retrieval.errors import Invalid
from retrieval.indexing import count_words
from retrieval.presets import LONG_LENGTH, USUAL_LENGTH, Mode, Preset
from retrieval.search import (
    Expansion,
    NamedPassage,
    SearchRequest,
    SearchResult,
    clear_row_estimates,
    search,
)
from retrieval.search.relevance import estimate_relevances

pytestmark = pytest.mark.django_db

TEXTS = {
    "toll": "The ferry toll at Dunmarsh is nine coppers for each passenger.",
    "weir": "Old Marga keeps the weir and counts the eels every night.",
    "bell": "A cracked bell hangs in the chapel; nobody rings it since the flood.",
}
PRESET = Preset(dims=256, vector_weight=0.4, full_coverage=0.3)


@pytest.fixture
def rows() -> "QuerySet[BenchPassage]":
    clear_row_estimates()
    for key, text in TEXTS.items():
        create_passage(key, text)
    return BenchPassage.objects.filter(tenant="dunmarsh")


def create_passage(key: str, text: str) -> None:
    embedder = get_embedder()
    passage = BenchPassage.objects.create(key=key, tenant="dunmarsh", text=text)
    vector = embedder.embed_document([text])[0]
    BenchPassage.objects.filter(pk=passage.pk).update(
        embedding=vector, embedding_model=embedder.name
    )


def ask(rows: "QuerySet[BenchPassage]", query: str, **values: object) -> SearchResult:
    values = {"preset": PRESET, "explain": True, **values}
    return search(rows, SearchRequest(query=query, scopes=["dunmarsh"], **values))  # type: ignore[arg-type]


def weight_of_vectors(result: SearchResult) -> float:
    assert result.explain is not None
    return float(result.explain["vector_weight"])


def test_the_fewer_words_of_the_question_occur_the_more_the_vectors_weigh(
    rows: "QuerySet[BenchPassage]",
) -> None:
    covered = weight_of_vectors(ask(rows, "ferry toll at Dunmarsh"))
    half = weight_of_vectors(ask(rows, "ferry boatman price crossing river passage"))
    foreign = weight_of_vectors(ask(rows, "boatman price crossing river"))
    assert covered == pytest.approx(PRESET.vector_weight)
    assert covered < half < foreign
    assert foreign == pytest.approx(1)


def test_the_longer_the_passages_the_more_the_vectors_weigh() -> None:
    """A long passage holds some words of any question."""
    preset = replace(PRESET, long_vector_weight=0.8)
    weights = []
    for words in (USUAL_LENGTH, (USUAL_LENGTH + LONG_LENGTH) // 2, 2 * LONG_LENGTH):
        BenchPassage.objects.filter(tenant="dunmarsh").delete()
        clear_row_estimates()
        for key, text in TEXTS.items():
            others = range(words - len(text.split()))
            create_passage(key, " ".join([text, *(f"{key}{number}" for number in others)]))
        rows = BenchPassage.objects.filter(tenant="dunmarsh")
        count_words(BenchPassage, scopes=["dunmarsh"])
        weights.append(weight_of_vectors(ask(rows, "ferry toll at Dunmarsh", preset=preset)))
        assert weight_of_vectors(ask(rows, "ferry toll at Dunmarsh")) == weights[0]
    assert weights == pytest.approx([0.4, 0.6, 0.8], abs=0.01)


def test_words_that_a_glossary_guesses_weigh_less_than_words_of_the_question(
    rows: "QuerySet[BenchPassage]",
) -> None:
    for text in ("The toll of the bell.", "The ferry of the weir."):
        create_passage(text, text)
    count_words(BenchPassage)
    preset = replace(PRESET, guessed_weight=0.4)
    guesses = {"expansions": [Expansion("ferry"), Expansion("toll")], "preset": preset}
    own = weight_of_vectors(ask(rows, "ferry toll", preset=preset))
    both = weight_of_vectors(ask(rows, "ferry toll", **guesses))
    half = weight_of_vectors(ask(rows, "плата ferry", **guesses))
    guessed = weight_of_vectors(ask(rows, "плата за паром", **guesses))
    assert own == both
    assert own < half < guessed
    assert 1 - guessed == pytest.approx(0.4 * (1 - own), rel=0.2)
    assert weight_of_vectors(ask(rows, "плата", mode=Mode.KEYWORD, **guesses)) == 0


def test_the_mode_decides_before_the_words_do(rows: "QuerySet[BenchPassage]") -> None:
    assert weight_of_vectors(ask(rows, "boatman", mode=Mode.KEYWORD)) == 0
    assert weight_of_vectors(ask(rows, "ferry toll", mode=Mode.VECTOR)) == 1


def test_an_answer_is_more_relevant_than_the_best_hit_of_a_question_without_one(
    rows: "QuerySet[BenchPassage]",
) -> None:
    answered = ask(rows, "what is the ferry toll at Dunmarsh").hits
    assert answered[0].relevance > 3 * ask(rows, "zebra quantum violin").hits[0].relevance
    assert answered[0].relevance > 3 * answered[1].relevance
    assert all(0 < hit.relevance < 1 for hit in answered)


def test_hits_below_the_least_relevance_are_left_out(rows: "QuerySet[BenchPassage]") -> None:
    everything = ask(rows, "ferry toll").hits
    between = (everything[0].relevance + everything[1].relevance) / 2
    assert [hit.id for hit in ask(rows, "ferry toll", least=between).hits] == [everything[0].id]
    assert ask(rows, "zebra quantum violin", least=0.3).hits == []


def test_relevance_does_not_depend_on_how_many_hits_are_asked_for(
    rows: "QuerySet[BenchPassage]",
) -> None:
    (alone,) = ask(rows, "ferry toll", limit=1, explain=False).hits
    assert alone.relevance == pytest.approx(ask(rows, "ferry toll").hits[0].relevance)


def test_what_the_question_names_is_relevant(rows: "QuerySet[BenchPassage]") -> None:
    weir = rows.get(key="weir").pk
    hits = ask(rows, "zebra", name_hits=[NamedPassage(weir, "exact", 1.0)]).hits
    assert {hit.id: hit.relevance for hit in hits}[weir] == 1


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_an_impossible_least_relevance_is_refused(
    rows: "QuerySet[BenchPassage]", least: float
) -> None:
    with pytest.raises(Invalid, match="from 0 to 1"):
        ask(rows, "ferry", least=least)


def test_relevance_of_no_hits_is_nothing() -> None:
    assert estimate_relevances([], []) == []


def test_the_fit_recovers_the_signs_that_tell_answers_from_others() -> None:
    dice = np.random.default_rng(3)
    sets = []
    for _set in range(2):
        signs = dice.normal(size=(400, 2))
        chance = 1 / (1 + np.exp(-(2 * signs[:, 0] - 1)))
        sets.append([Asked(signs, dice.random(400) < chance, True)])
    bias, score, lead = fit(sets)
    assert -1.4 < bias < -0.6
    assert 1.5 < score < 2.5
    assert abs(lead) < 0.4


def test_the_area_is_one_when_every_answer_is_above_the_rest() -> None:
    values, answers = np.array([0.9, 0.8, 0.1, 0.3]), np.array([True, True, False, False])
    assert area(values, answers) == 1
    assert area(-values, answers) == 0


def test_a_passage_without_a_vector_is_judged_by_its_words(
    rows: "QuerySet[BenchPassage]",
) -> None:
    """A missing vector is unknown, not unlike the question."""
    full = weight_of_vectors(ask(rows, "ferry toll at Dunmarsh, eels and the bell"))
    rows.filter(key="toll").update(embedding_model="")
    result = ask(rows, "ferry toll at Dunmarsh, eels and the bell")
    assert weight_of_vectors(result) < full
    assert result.hits[0].text == TEXTS["toll"]
