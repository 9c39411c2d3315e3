"""The read pipeline: intent → one statement over all buckets → abstention → score axes, in which
the buckets of the intent count more → fusion → budget. The result explains each step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID

from django.utils import timezone

from memories.buckets.answer_check import AnswerChecker, site_checker
from memories.buckets.answer_decision import AnswerDecision, Decider, decide
from memories.buckets.intents import ALL, UNSURE_BELOW, QueryClassifier, top_two
from memories.buckets.memory_stores import PipelineStore, event_store, namespace_of
from memories.buckets.question_fit import Candidate
from memories.buckets.scoring import (
    Axes,
    ScoreFusion,
    WeightedFusion,
    clamp,
    in_world_recency,
    recency,
)
from memories.found_memory import FoundMemory
from memories.models import MemoryItem, Namespace
from memories.querysets import MemoryQuerySet
from memories.search import recall, recall_counts
from memories.search.current import order_current_first
from memories.search.filters import MemoryFilter
from memories.search.in_world_days import latest_day
from memories.search.relevant import ANSWERS, keep_relevant
from memories.search.summaries import put_summaries_last
from memories.similarity.reversed_deeds import tells_deed, tells_the_reverse
from memories.states import Bucket
from memories.vectors import VectorSource
from retrieval.errors import Invalid
from retrieval.search import Rerank
from retrieval.text import count_tokens

MAX_CANDIDATES = 100
OTHER_BUCKET = 0.9
"""The similarity of a memory in a bucket that the intent does not name counts so much: what was
sorted elsewhere may still be the answer."""


@dataclass(frozen=True)
class ScoredMemory:
    """A memory with its score, the axes of the score, and its size in tokens (an estimate)."""

    memory: FoundMemory
    axes: Axes
    score: float
    tokens: int

    @property
    def id(self) -> UUID:
        return self.memory.id

    @property
    def newer(self) -> UUID | None:
        return self.memory.newer

    @property
    def is_summary(self) -> bool:
        return self.memory.is_summary

    def explanation(self) -> str:
        axes = ", ".join(f"{name} {value:.2f}" for name, value in vars(self.axes).items())
        return f"{self.score:.3f} = {axes} · {self.memory.bucket} · {self.memory.text[:60]}"


@dataclass(frozen=True)
class MemoryQueryResult:
    """The memories found, best first, and how: `because` says why nothing is shown,
    `cut_by_budget` what was left out."""

    query: str
    intent: str
    intent_weights: dict[str, float]
    buckets: tuple[Bucket, ...]
    memories: Sequence[ScoredMemory]
    fusion: str
    support: float
    abstained: bool = False
    because: str = ""
    cut_by_budget: Sequence[UUID] = ()
    candidates: int = 0
    tokens: int = 0
    degraded: Sequence[str] = ()
    # A second intent about as likely as the first, whose buckets were read as well; or empty.
    unsure: str = ""
    # Who decided whether this answers the question, and one line about why.
    decided_by: Decider = Decider.NOBODY
    decision: str = ""

    def explanation(self) -> list[str]:
        """Return one line for each step."""
        weights = ", ".join(
            f"{label} {weight:.2g}" for label, weight in self.intent_weights.items() if weight
        )
        intent = f"{self.intent} or {self.unsure}" if self.unsure else self.intent
        cut = len(self.cut_by_budget)
        lines = [
            f"intent {intent} ({weights}) → {', '.join(self.buckets)}",
            f"{self.candidates} candidates, fusion {self.fusion}, support {self.support:.2f}",
            self.decision,
            *(memory.explanation() for memory in self.memories),
            self.because,
            f"{cut} left out by the budget" if cut else "",
        ]
        return [line for line in lines if line]


@dataclass
class ReadPipeline:
    """Reads all buckets of `store` (a namespace, a `Memory` or another store), those of the
    question's intent first. With `abstains` it shows nothing when nothing answers: as
    `make_checker` (by default the language model of the settings, if any) says where the signs are
    unclear, else below the fitted support. A caller who sets `least` decides by that alone. With
    `rerank` a re-ranker orders the best, for somebody who waits for one answer. Memories of less
    than `share` of the best one's relevance are not shown: what is shown is what answers."""

    store: PipelineStore
    classifier: QueryClassifier = field(default_factory=QueryClassifier)
    fusion: ScoreFusion = field(default_factory=WeightedFusion)
    half_life_hours: float = 24.0
    abstains: bool = True
    least: float | None = None
    make_checker: Callable[[Namespace], AnswerChecker | None] = site_checker
    vectors: VectorSource | None = None
    rerank: Rerank = Rerank.OFF
    share: float = ANSWERS
    clock: Callable[[], datetime] = timezone.now

    @property
    def namespace(self) -> Namespace | None:
        return namespace_of(self.store)

    def query(
        self,
        text: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        intent: str | None = None,
        within: MemoryQuerySet | None = None,
        where: MemoryFilter | None = None,
    ) -> MemoryQueryResult:
        """Return up to `limit` memories of together at most `max_tokens`. `intent` overrides the
        classifier; `where` and `within` narrow what is read."""
        scores = self.classifier.classify(text)
        if intent:
            buckets, unsure = self.classifier.buckets_for(intent), ""
        else:
            buckets = self.classifier.buckets_of(scores)
            unsure = "" if scores.margin >= UNSURE_BELOW else top_two(scores)[1]
        found = self.search(text, within=within, where=where)
        result = leave_out_reversed(text, found)
        # What tells the same deed the other way round speaks for an answer if one is left.
        is_told = any(tells_deed(text, memory.text) for memory in result.memories)
        judged = found if is_told else result
        decision = self.decide(text, judged)
        best_first = []
        if not decision.why_not:
            position = decision.answering_position
            answer = None if position is None else judged.memories[position]
            relevant = keep_relevant(result.memories, share=self.share, named=result.named.holds)
            if answer and answer not in relevant:
                relevant.append(answer)
            best_first = self.rank(relevant, buckets, first=answer)
        memories, cut = fit_budget(best_first[:limit], max_tokens)
        if self.namespace:
            recall_counts.count_recalls(memory.id for memory in memories)
        return MemoryQueryResult(
            query=text,
            intent=intent or scores.label,
            intent_weights=dict(sorted(scores.weights.items(), key=lambda pair: -pair[1])),
            buckets=buckets,
            memories=memories,
            unsure=unsure,
            fusion=self.fusion.name,
            support=decision.support,
            abstained=bool(decision.why_not),
            because=decision.why_not,
            decided_by=decision.decided_by,
            decision=decision.explanation,
            cut_by_budget=[memory.id for memory in cut],
            candidates=len(result.memories),
            tokens=sum(memory.tokens for memory in memories),
            degraded=[*result.degraded, *decision.degraded],
        )

    def search(
        self, text: str, *, within: MemoryQuerySet | None, where: MemoryFilter | None
    ) -> recall.RecallResult:
        """Search the store. Raise `Invalid` for `within` if it is not in the database."""
        if self.namespace is None:
            if within is not None:
                raise Invalid(
                    "Only memories in the database are narrowed by `within`: use `where`."
                )
            store = event_store(self.store)
            return recall.RecallResult(store.find_memories(text, limit=MAX_CANDIDATES, where=where))
        rows = MemoryItem.objects.all() if within is None else within
        return recall.search(
            self.namespace,
            text,
            limit=MAX_CANDIDATES,
            vectors=self.vectors,
            within=where.apply(rows) if where else rows,
            mode="hybrid",
            rerank=self.rerank,
            reads_answers=True,
            # `query` counts only the memories that it returns.
            count_recalls=False,
        )

    def decide(self, text: str, result: recall.RecallResult) -> AnswerDecision:
        memories = result.memories
        if not memories:
            return AnswerDecision(0.0, why_not="Nothing is remembered of this.")
        candidates = [Candidate(memory.text, leg_score(memory, "vector")) for memory in memories]
        # A label says nothing that a model could check.
        is_label = memories[0].id in result.named.labels
        namespace = self.namespace
        return decide(
            text,
            candidates,
            abstains=self.abstains,
            least=self.least,
            checker=self.make_checker(namespace) if namespace and not is_label else None,
            is_named=result.named.holds(memories[0]),
            reads_sentences=not (namespace and namespace.has_own_vectors),
            turns=relevances_of(memories) if memories[0].is_turn else (),
        )

    def rank(
        self,
        memories: Sequence[FoundMemory],
        buckets: Sequence[Bucket] = ALL,
        *,
        first: FoundMemory | None = None,
    ) -> list[ScoredMemory]:
        """Return the memories best first, those of `buckets` before equals; before all `first`,
        which the model named as the answer. For an NPC, summaries by rules come last."""
        now = self.clock()
        axes = []
        namespace = self.namespace
        today = latest_day(namespace) if namespace and namespace.has_episodes else None
        for memory, similarity in zip(memories, similarities_of(memories), strict=True):
            if today is None or memory.in_world_at is None:
                at = datetime.fromtimestamp(memory.timestamp_ms / 1000, tz=UTC)
                recent = recency(at, now=now, half_life_hours=self.half_life_hours)
            else:
                recent = in_world_recency(memory.in_world_at, today=today)
            prior = 1.0 if memory.bucket in buckets else OTHER_BUCKET
            axes.append(Axes(prior * similarity, recent, clamp(memory.importance)))
        results = [
            ScoredMemory(memory, axis, score, int(count_tokens(memory.text)) + 1)
            for memory, axis, score in zip(memories, axes, self.fusion.fuse(axes), strict=True)
        ]
        answer = first.id if first else None
        ranked = sorted(
            results, key=lambda memory: (memory.id != answer, -memory.score, str(memory.id))
        )
        return put_summaries_last(namespace, order_current_first(ranked))


def relevances_of(memories: Sequence[FoundMemory]) -> list[float]:
    """Return the known relevances, the highest first."""
    known = [memory.relevance for memory in memories if memory.relevance is not None]
    return sorted(known, reverse=True)


def leave_out_reversed(question: str, result: recall.RecallResult) -> recall.RecallResult:
    """Return the result without memories that tell a deed the other way round than is asked."""
    memories = [one for one in result.memories if not tells_the_reverse(question, one.text)]
    return replace(result, memories=memories)


def similarities_of(memories: Sequence[FoundMemory]) -> list[float]:
    """Return the similarity of each memory to the question, 0 to 1: its relevance as a share of
    the best one's, so that a little recency does not outweigh the answer. Where the relevance is
    unknown, the cosine; without a vector, the keyword score as a share of the best one's."""
    best = max((memory.relevance or 0.0 for memory in memories), default=0.0)
    # Keyword scores have no upper bound.
    best_keyword = max((leg_score(memory, "keyword") or 0.0 for memory in memories), default=0.0)
    similarities = []
    for memory in memories:
        similarity = leg_score(memory, "vector")
        if memory.relevance is not None and best:
            similarity = memory.relevance / best
        elif similarity is None:
            similarity = (leg_score(memory, "keyword") or 0.0) / (best_keyword or 1.0)
        similarities.append(clamp(similarity))
    return reranked_similarities(memories, similarities)


def reranked_similarities(
    memories: Sequence[FoundMemory], similarities: Sequence[float]
) -> list[float]:
    """Give the highest similarity of the memories that were re-ranked to the first of them, and so
    on; the others keep theirs."""
    places = [place for place, memory in enumerate(memories) if "rerank" in memory.legs]
    highest_first = sorted((similarities[place] for place in places), reverse=True)
    new = dict(zip(places, highest_first, strict=True))
    return [new.get(place, similarity) for place, similarity in enumerate(similarities)]


def fit_budget(
    memories: Sequence[ScoredMemory], max_tokens: int | None
) -> tuple[list[ScoredMemory], list[ScoredMemory]]:
    """Split into what fits and what does not; a smaller memory further down may still fit, unless
    it is a former one whose current one does not fit."""
    fitting: list[ScoredMemory] = []
    cut: list[ScoredMemory] = []
    left = float("inf") if max_tokens is None else max_tokens
    for memory in memories:
        fits = memory.tokens <= left and all(memory.newer != other.id for other in cut)
        (fitting if fits else cut).append(memory)
        left -= memory.tokens if fits else 0
    return fitting, cut


def leg_score(memory: FoundMemory, leg: str) -> float | None:
    return memory.legs[leg].score if leg in memory.legs else None
