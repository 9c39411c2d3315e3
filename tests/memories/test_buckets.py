"""The write and read pipelines: what is kept where, what is dropped and why, and in which order it
comes back.
"""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from bench.agent_memory import AUTHORS, classifier_from, examples_of, macro_f1
from bench.labelled_sets import DATA, load_rows
from memories.buckets import intent_model
from memories.buckets.classifiers import HybridClassifier, LLMClassifier, RuleBasedClassifier
from memories.buckets.events import DropReason, MemoryEvent, Result, count_outcomes
from memories.buckets.intent_model import IntentExamples, load_examples
from memories.buckets.intents import BUCKETS, Intent, QueryClassifier, has_vectors
from memories.buckets.read_pipeline import ReadPipeline, fit_budget
from memories.buckets.scoring import RRF, Axes, WeightedFusion, Weights, recency, score
from memories.buckets.write_pipeline import OpenGate, SharedTokenBucket, WritePipeline
from memories.classification import cues
from memories.classification.cues import LabelScores, rank_labels
from memories.models import MemoryItem, Namespace
from memories.models.allowances import EventAllowance
from memories.states import Bucket
from memories.tasks import embed_intent_examples
from retrieval.embedders import CachedEmbedder, get_embedder
from retrieval.errors import EmbedderDown, Invalid
from retrieval.models import CachedVector

shares = st.floats(0, 1, allow_nan=False)
axes = st.builds(Axes, shares, shares, shares)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def process_texts(namespace: Namespace, *texts: str, **more: object) -> list[object]:
    pipeline = WritePipeline(namespace, gate=OpenGate())
    return pipeline.process_all([MemoryEvent(text, **more) for text in texts])


# --- Writing ---


@pytest.mark.django_db
def test_every_event_lands_in_its_bucket(mira: Namespace) -> None:
    outcomes = process_texts(
        mira,
        "My name is Ingrid and I run the Thursday table.",
        "I prefer short answers over long ones.",
        "Yesterday we found a memory leak in the image cache.",
        "Whenever money comes first, the party balks.",
        "The fare over the river is one penny.",
    )
    assert [outcome.bucket for outcome in outcomes] == list(Bucket)
    assert all(outcome.result is Result.STORED for outcome in outcomes)
    stored = dict(MemoryItem.objects.of(mira).values_list("pk", "bucket"))
    assert [stored[outcome.memory_id] for outcome in outcomes] == list(Bucket)


@pytest.mark.django_db
def test_what_is_dropped_says_why_and_is_not_stored(mira: Namespace) -> None:
    short, idle, nonsense = process_texts(
        mira, "too short", "Okay, thanks!", "aaaa aaaa aaaa aaaa aaaa aaaa"
    )
    assert (short.reason, idle.reason, nonsense.reason) == (
        DropReason.TOO_SHORT,
        DropReason.UNIMPORTANT,
        DropReason.UNIMPORTANT,
    )
    assert all(outcome.because for outcome in (short, idle, nonsense))
    assert not mira.memories.exists()
    assert not mira.observations.exists()


@pytest.mark.django_db
def test_the_same_again_is_merged_into_what_is_known(mira: Namespace) -> None:
    first, again = process_texts(
        mira, "The fare over the river is one penny.", "the fare over the RIVER is one penny!"
    )
    (later,) = process_texts(mira, "The fare over the river is one penny.")
    assert [first.result, again.result, later.result] == [
        Result.STORED,
        Result.MERGED,
        Result.MERGED,
    ]
    assert first.memory_id == again.memory_id == later.memory_id
    assert mira.memories.get().evidence.count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), float("inf"), True])
def test_an_importance_outside_its_range_writes_nothing(mira: Namespace, wrong: float) -> None:
    good = MemoryEvent("The fare over the river is one penny.")
    with pytest.raises(Invalid, match="importance"):
        WritePipeline(mira).process_all(
            [good, MemoryEvent("The oar is made of nine woods.", importance=wrong)]
        )
    assert not mira.memories.exists()


@pytest.mark.django_db
def test_text_that_cannot_be_stored_costs_only_itself(mira: Namespace) -> None:
    bad, good = process_texts(mira, "a nul\0 in the middle of it", "The oar is made of nine woods.")
    assert bad.reason is DropReason.NOT_TEXT
    assert good.result is Result.STORED


@pytest.mark.django_db
def test_a_token_bucket_empties_and_fills_again(mira: Namespace) -> None:
    bucket = SharedTokenBucket(mira, per_second=0.01, burst=5)
    assert [bucket.admit(4), bucket.admit(4)] == [4, 1]
    rows = EventAllowance.objects.filter(namespace=mira)
    rows.update(filled_at=F("filled_at") - timedelta(seconds=350))
    assert bucket.admit(9) == 3
    rows.update(filled_at=F("filled_at") + timedelta(days=1))  # a clock set back adds no tokens
    assert bucket.admit(1) == 0


@pytest.mark.django_db(transaction=True)
def test_two_writers_share_one_allowance(mira: Namespace, tobin: Namespace) -> None:
    passed: list[int] = []

    def draw() -> None:
        passed.append(SharedTokenBucket(mira, per_second=0, burst=10).admit(7))
        connection.close()

    threads = [threading.Thread(target=draw) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(passed) == [0, 3, 7]
    assert SharedTokenBucket(tobin, per_second=0, burst=10).admit(7) == 7


@pytest.mark.django_db
def test_too_many_events_are_dropped_with_the_reason(mira: Namespace) -> None:
    events = [MemoryEvent(f"Lantern number {n} hangs at pier {n}.") for n in range(5)]
    outcomes = WritePipeline(mira, gate=SharedTokenBucket(mira, per_second=0, burst=2)).process_all(
        events
    )
    assert count_outcomes(outcomes) == {"stored": 2, "rate_limited": 3}


# --- Sorting ---


class OneAnswerModel:
    """A model with one answer."""

    def __init__(self, answer: object) -> None:
        self.answer, self.asked = answer, 0

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type
    ) -> dict[str, object]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


UNCLEAR = MemoryEvent("The heron over the old mill again.")


def test_the_model_is_asked_only_when_rules_are_unsure() -> None:
    model = OneAnswerModel({"bucket": "semantic", "importance": 0.9, "confidence": 0.8})
    hybrid = HybridClassifier(model=LLMClassifier(model))
    sure = hybrid.classify(MemoryEvent("I prefer ripgrep, please always use it."))
    assert (sure.bucket, sure.by, model.asked) == (Bucket.PREFERENCE, "rules", 0)
    unsure = hybrid.classify(UNCLEAR)
    assert (unsure.bucket, unsure.by, unsure.importance) == (Bucket.SEMANTIC, "model", 0.9)


@pytest.mark.parametrize(
    "text",
    [
        "The party has fled from the lich.",
        "An ogre has eaten the mule.",
        "The lantern in the attic is green.",
    ],
)
def test_that_a_text_begins_with_an_article_is_no_evidence(text: str) -> None:
    assert RuleBasedClassifier().classify(MemoryEvent(text)).confidence == 0
    model = OneAnswerModel({"bucket": "episodic", "importance": 0.5, "confidence": 0.8})
    sorted_by = HybridClassifier(model=LLMClassifier(model)).classify(MemoryEvent(text)).by
    assert (sorted_by, model.asked) == ("model", 1)


@pytest.mark.parametrize(
    "answer", [{"bucket": "nonsense"}, TimeoutError("slow"), {"bucket": "fact", "importance": 7}]
)
def test_rules_sort_when_the_model_fails(answer: object) -> None:
    model = OneAnswerModel(answer)
    hybrid = HybridClassifier(model=LLMClassifier(model))
    assert hybrid.classify(UNCLEAR).by == "rules"
    assert model.asked == 3


def test_rules_sort_events_of_three_languages() -> None:
    sort = RuleBasedClassifier().classify
    held_out = load_rows(DATA / "events.jsonl", half="reporting")
    assert (
        macro_f1(
            [(row["bucket"].lower(), sort(MemoryEvent(row["text"])).bucket) for row in held_out]
        )
        >= 0.8
    )


@pytest.mark.django_db
def test_an_authors_questions_are_understood_from_what_others_wrote(settings: object) -> None:
    """One author's: `python -m bench.agent_memory` embeds all of them and measures the others."""
    settings.EMBEDDER = "local"  # type: ignore[attr-defined]
    classify = classifier_from(examples_of(["first", "a"])).classify
    judged = [(row["intent"].lower(), classify(row["text"]).label) for row in examples_of(["b"])]
    assert macro_f1(judged) >= 0.87


@pytest.mark.django_db
def test_without_vectors_words_still_tell_most_intents(embedder_down: None) -> None:
    others = classifier_from(examples_of(["first", "a"])).classify
    asked = [(row["intent"].lower(), others(row["text"]).label) for row in examples_of(["b"])]
    by_cues = [
        (wanted, cues.load_cues("intents").classify(row["text"]).label)
        for (wanted, _), row in zip(asked, examples_of(["b"]), strict=True)
    ]
    assert macro_f1(asked) >= 0.78 > macro_f1(by_cues) + 0.1


@pytest.fixture
def embedder_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that answers nobody."""

    def refuse(self: object, texts: list[str]) -> object:
        raise EmbedderDown("It does not answer.")

    monkeypatch.setattr(CachedEmbedder, "embed_query", refuse)
    monkeypatch.setattr(CachedEmbedder, "embed_document", refuse)


def test_the_examples_are_the_labelled_questions() -> None:
    written = examples_of(list(AUTHORS))
    assert intent_model.load_examples() == IntentExamples(
        tuple(row["text"] for row in written), tuple(row["intent"].lower() for row in written)
    )


@pytest.mark.django_db
@pytest.mark.parametrize("question", ["", "?!", "  ", "ㅋㅋ", "x" * 5000, "\ud800"])
def test_any_text_gets_an_intent(question: str) -> None:
    found = QueryClassifier().classify(question)
    assert found.label in set(Intent)
    assert 0 <= found.margin <= 1


@pytest.mark.django_db
def test_an_intent_of_ones_own_is_learnt_from_questions() -> None:
    more = intent_model.load_examples().with_examples({"dice": DICE})
    own = QueryClassifier(examples=more, buckets={**BUCKETS, "dice": (Bucket.FACT,)})
    assert own.classify("Which dice do I throw for the gate?").label == "dice"
    assert own.classify("Why does the import crash again?").label == Intent.DEBUG


DICE = [
    "Which dice do I throw to climb?",
    "Which dice do I throw for a sword?",
    "What dice for the ambush?",
    "How many dice does the bard throw?",
    "Which dice decide the duel?",
    "Do I throw two dice for stealth?",
]


def test_where_two_intents_are_as_likely_both_are_read() -> None:
    unsure = rank_labels({"recall": 0.4, "debug": 0.38, "general": 0.1})
    assert QueryClassifier().buckets_of(unsure) == (Bucket.EPISODIC, Bucket.SEMANTIC)
    assert QueryClassifier().buckets_of(rank_labels({"recall": 0.9, "debug": 0.3})) == (
        Bucket.EPISODIC,
    )


@pytest.mark.django_db
def test_the_explanation_says_which_second_intent_was_read(mira: Namespace) -> None:
    class Wavering(QueryClassifier):
        def classify(self, query: str) -> LabelScores:
            return rank_labels({"recall": 0.4, "profile": 0.39})

    result = ReadPipeline(mira, classifier=Wavering()).query("What about Ingrid?")
    assert (
        "intent recall or profile (recall 0.4, profile 0.39) → episodic, profile"
        in result.explanation()[0]
    )
    assert (
        ReadPipeline(mira, classifier=Wavering())
        .query("What about Ingrid?", intent="recall")
        .unsure
        == ""
    )


@pytest.mark.django_db
def test_an_intent_of_ones_own_can_be_added() -> None:
    more = cues.load_cues("intents").with_cues({"dice": [r"9 \broll\b"]})
    own = QueryClassifier(more, {**BUCKETS, "dice": (Bucket.FACT,)})
    assert own.classify("Which roll opens the gate?").label == "dice"
    assert own.buckets_for("dice") == (Bucket.FACT,)


# --- Scoring ---


@given(axes, st.builds(Weights, shares, shares, st.floats(0.01, 1)))
def test_the_score_is_the_closed_formula(found: Axes, weights: Weights) -> None:
    expected = (
        weights.similarity * found.similarity
        + weights.recency * found.recency
        + weights.importance * found.importance
    )
    assert WeightedFusion(weights).fuse([found]) == [pytest.approx(expected)]
    assert score(found) == pytest.approx(
        0.5 * found.similarity + 0.3 * found.recency + 0.2 * found.importance
    )


@pytest.mark.parametrize("fusion", [WeightedFusion(), RRF()], ids=["weighted", "rrf"])
@pytest.mark.parametrize("axis", ["similarity", "recency", "importance"])
@given(st.lists(axes, max_size=6), axes, shares)
def test_more_of_one_thing_never_ranks_lower(
    fusion: object, axis: str, others: list[Axes], one: Axes, by: float
) -> None:
    more = Axes(**{**one.__dict__, axis: max(getattr(one, axis), by)})
    better, worse, *_ = fusion.fuse([more, one, *others])  # type: ignore[attr-defined]
    assert better >= worse


@given(st.floats(0, 10_000), st.floats(0, 10_000))
def test_recency_grows_towards_now(some_hours: float, more_hours: float) -> None:
    near, far = sorted((some_hours, more_hours))
    assert recency(NOW - timedelta(hours=near), now=NOW) >= recency(
        NOW - timedelta(hours=far), now=NOW
    )


def test_recency_halves_in_a_day_and_a_clock_that_runs_ahead_gains_nothing() -> None:
    assert recency(NOW - timedelta(hours=24), now=NOW) == pytest.approx(0.5)
    assert recency(NOW - timedelta(hours=6), now=NOW, half_life_hours=3) == pytest.approx(0.25)
    assert recency(NOW + timedelta(days=400), now=NOW) == 1.0


@pytest.mark.parametrize("weights", [(-0.1, 0.5, 0.5), (0, 0, 0), (float("nan"), 1, 1)])
def test_weights_that_make_no_order_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Weights(*weights)


# --- Reading ---


@pytest.mark.django_db
def test_the_buckets_of_the_intent_come_first_and_the_others_are_read(mira: Namespace) -> None:
    process_texts(
        mira, "The build failed with KeyError 'user' in the middleware.", bucket=Bucket.EPISODIC
    )
    process_texts(mira, "KeyError 'user' means that the session has expired.", bucket=Bucket.FACT)
    result = ReadPipeline(mira).query("Why do I get KeyError 'user' again?")
    assert result.intent == Intent.DEBUG
    assert result.buckets == (Bucket.EPISODIC, Bucket.SEMANTIC)
    assert [found.memory.bucket for found in result.memories] == [Bucket.EPISODIC, Bucket.FACT]
    assert "intent debug" in result.explanation()[0]


@pytest.mark.django_db
def test_what_lies_in_another_bucket_is_found(mira: Namespace) -> None:
    process_texts(mira, "I deploy to k8s with a blue-green switch.", bucket=Bucket.PREFERENCE)
    [found] = ReadPipeline(mira).query("What is my k8s deploy story?", intent="profile").memories
    assert found.memory.bucket == Bucket.PREFERENCE


@pytest.mark.django_db
def test_the_buckets_are_read_in_one_statement(
    mira: Namespace, django_assert_max_num_queries: object
) -> None:
    process_texts(mira, "The fare over the river is one penny.", "The oar is made of nine woods.")
    with connection.execute_wrapper(counting := Statements()):
        ReadPipeline(mira).query("What is the fare over the river?", intent="general")
    assert counting.searches == 1


class Statements:
    def __init__(self) -> None:
        self.searches = 0

    def __call__(
        self, execute: object, sql: object, params: object, many: object, context: object
    ) -> object:
        self.searches += "halfvec" in str(sql)
        return execute(sql, params, many, context)  # type: ignore[operator]


@pytest.mark.django_db
def test_what_matters_more_comes_first_all_else_equal(mira: Namespace) -> None:
    process_texts(
        mira, "The bell of Ferrymark rings at low water.", importance=0.3, bucket=Bucket.FACT
    )
    process_texts(
        mira, "The bell of Ferrymark rings at high water.", importance=0.9, bucket=Bucket.FACT
    )
    result = ReadPipeline(mira).query("When does the bell of Ferrymark ring?", intent="knowledge")
    assert [found.memory.importance for found in result.memories] == [0.9, 0.3]


@pytest.mark.django_db
def test_it_abstains_when_nothing_answers(mira: Namespace) -> None:
    process_texts(mira, "The fare over the river is one penny.")
    result = ReadPipeline(mira).query("What does quantum chromodynamics explain?", intent="general")
    assert result.abstained
    assert not result.memories
    assert "enough" in result.because


@pytest.mark.django_db
def test_a_budget_is_kept_and_what_it_cut_is_named(mira: Namespace) -> None:
    process_texts(
        mira,
        "Lantern one hangs at the old pier.",
        "Lantern two hangs at the new pier by the mill.",
        bucket=Bucket.FACT,
    )
    result = ReadPipeline(mira, abstains=False).query(
        "Where does the lantern hang?", intent="general", max_tokens=13
    )
    assert result.tokens <= 13
    assert len(result.memories) + len(result.cut_by_budget) == 2
    assert result.cut_by_budget
    assert fit_budget([], 5) == ([], [])


@pytest.mark.django_db
def test_no_question_crosses_a_namespace(mira: Namespace, tobin: Namespace) -> None:
    process_texts(tobin, "The fare over the river is one penny.")
    assert (
        ReadPipeline(mira).query("What is the fare over the river?", intent="general").memories
        == []
    )


@pytest.mark.django_db
def test_a_question_does_not_wait_for_the_examples_of_intents() -> None:
    examples = load_examples().with_examples({"recall": ["Which rope was it that broke?"]})
    waiting = QueryClassifier(examples=examples)
    asking = QueryClassifier(examples=examples, embeds_examples=False)
    question = "What happened at the ferry on the night of the fire?"
    by_words = asking.classify(question)
    assert by_words.label == "recall"
    assert not CachedVector.objects.exists()
    by_vectors = waiting.classify(question)
    assert by_vectors.weights != by_words.weights
    assert asking.classify(question) == by_vectors


@pytest.mark.django_db
def test_the_worker_stores_the_vectors_of_the_examples() -> None:
    embed_intent_examples()
    texts = list(load_examples().texts)
    assert CachedVector.objects.count() == len(set(texts))
    assert has_vectors(get_embedder("memory"), texts)
    CachedVector.objects.first().delete()  # type: ignore[union-attr]
    assert not has_vectors(get_embedder("memory"), texts)
