"""The read pipeline: intent → its buckets in one statement → is the question answered at all? → three axes → fusion →
budget → what was found, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from django.utils import timezone

from memories.buckets.abstention import Candidate
from memories.buckets.answer_check import AnswerChecker, site_checker
from memories.buckets.answer_decision import AnswerDecision, Decider, decide
from memories.buckets.cues import LabelScores
from memories.buckets.intents import UNSURE_BELOW, QueryClassifier, top_two
from memories.buckets.scoring import Axes, Clock, ScoreFusion, WeightedFusion, clamp, recency
from memories.models import MemoryItem, Namespace
from memories.querysets import MemoryQuerySet
from memories.search import recall, recall_counts
from memories.search.recall import Recalled
from memories.states import Bucket
from memories.vectors import VectorSource

CANDIDATES = 100
CHARACTERS_A_TOKEN = {"latin": 4.0, "other": 1.6}


@dataclass(frozen=True)
class ScoredMemory:
    """A memory with the axes its score is made of."""

    memory: Recalled
    axes: Axes
    score: float
    tokens: int

    @property
    def id(self) -> UUID:
        return self.memory.id


@dataclass(frozen=True)
class MemoryQueryResult:
    """What was found, best first, and how: nothing is found and nothing is left out without a word of why."""

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
    unsure: str = ""
    """The intent that is as likely, whose buckets were therefore read as well."""
    decided_by: Decider = Decider.NOBODY
    decided: str = ""
    """Who decided that this answers the question, or that nothing does, and why they."""

    def explanation(self) -> list[str]:
        """One line for each step."""
        weighed = ", ".join(
            f"{label} {weight:.2g}" for label, weight in self.intent_weights.items() if weight
        )
        intent = f"{self.intent} or {self.unsure}" if self.unsure else self.intent
        steps = [
            f"intent {intent} ({weighed}) → {', '.join(self.buckets)}",
            f"{self.candidates} candidates, fusion {self.fusion}, support {self.support:.2f}",
            *([self.decided] if self.decided else []),
            *(_line(found) for found in self.memories),
        ]
        steps += [self.because] if self.because else []
        return steps + (
            [f"{len(self.cut_by_budget)} left out by the budget"] if self.cut_by_budget else []
        )


@dataclass
class ReadPipeline:
    """Reads the buckets of `namespace`. `abstains` keeps back what does not answer the question: as `checker` (the
    language model of the settings, or None) says where the signs are not sure, else what has less support than fitted.
    Who sets `least` decides by that alone."""

    namespace: Namespace
    classifier: QueryClassifier = field(default_factory=QueryClassifier)
    fusion: ScoreFusion = field(default_factory=WeightedFusion)
    half_life_hours: float = 24.0
    abstains: bool = True
    least: float | None = None
    checker: AnswerChecker | None = field(default_factory=site_checker)
    vectors: VectorSource | None = None
    clock: Clock = timezone.now

    def query(
        self,
        text: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        intent: str | None = None,
        within: MemoryQuerySet | None = None,
    ) -> MemoryQueryResult:
        """Return up to `limit` memories, of together at most `max_tokens`. `intent` overrules the classifier."""
        verdict = self.classifier.classify(text)
        chosen = intent or verdict.label
        buckets = (
            self.classifier.buckets_for(intent) if intent else self.classifier.buckets_of(verdict)
        )
        found = self._candidates(text, buckets, within)
        decision = self._decision(text, found.memories)
        ranked = (
            []
            if decision.why_not
            else self._ranked(found.memories, first=decision.answering_position)[:limit]
        )
        kept, cut = fit_budget(ranked, max_tokens)
        recall_counts.note(memory.id for memory in kept)
        return MemoryQueryResult(
            query=text,
            intent=chosen,
            intent_weights=dict(_weights(verdict)),
            buckets=buckets,
            memories=kept,
            unsure="" if intent or verdict.margin >= UNSURE_BELOW else top_two(verdict)[1],
            fusion=self.fusion.name,
            support=decision.support,
            abstained=bool(decision.why_not),
            because=decision.why_not,
            decided_by=decision.decided_by,
            decided=decision.explanation,
            cut_by_budget=[memory.id for memory in cut],
            candidates=len(found.memories),
            tokens=sum(memory.tokens for memory in kept),
            degraded=[*found.degraded, *decision.degraded],
        )

    def _candidates(
        self, text: str, buckets: Sequence[Bucket], within: MemoryQuerySet | None
    ) -> recall.Recollection:
        rows: MemoryQuerySet = MemoryItem.objects.all() if within is None else within
        return recall.search(
            self.namespace,
            text,
            limit=CANDIDATES,
            vectors=self.vectors,
            within=rows.filter(bucket__in=buckets),
            mode="hybrid",
            counted=False,
        )

    def _decision(self, text: str, found: Sequence[Recalled]) -> AnswerDecision:
        if not found:
            return AnswerDecision(0.0, why_not="Nothing is remembered in these buckets.")
        seen = [Candidate(memory.text, cosine_of(memory)) for memory in found]
        return decide(text, seen, abstains=self.abstains, least=self.least, checker=self.checker)

    def _ranked(self, found: Sequence[Recalled], *, first: int | None = None) -> list[ScoredMemory]:
        """Best first; before all the one that was said to answer, at the place `first`."""
        now, best_words = self.clock(), _best_words(found)
        axes = [self._axes(memory, now, best_words) for memory in found]
        scored = [
            ScoredMemory(memory, axis, score, estimate_tokens(memory.text))
            for memory, axis, score in zip(found, axes, self.fusion.fuse(axes), strict=True)
        ]
        answering = None if first is None else found[first].id
        return sorted(
            scored, key=lambda memory: (memory.id != answering, -memory.score, str(memory.id))
        )

    def _axes(self, memory: Recalled, now: datetime, best_words: float) -> Axes:
        cosine = cosine_of(memory)
        words = memory.legs["keyword"].score if "keyword" in memory.legs else None
        similarity = cosine if cosine is not None else (words or 0.0) / best_words
        recent = recency(_at(memory), now=now, half_life_hours=self.half_life_hours)
        return Axes(clamp(similarity), recent, clamp(memory.importance))


def fit_budget(
    ranked: Sequence[ScoredMemory], max_tokens: int | None
) -> tuple[list[ScoredMemory], list[ScoredMemory]]:
    """Take the best as long as they fit; a smaller one further down may still fit."""
    if max_tokens is None:
        return list(ranked), []
    kept: list[ScoredMemory] = []
    cut: list[ScoredMemory] = []
    left = max_tokens
    for memory in ranked:
        fits = memory.tokens <= left
        (kept if fits else cut).append(memory)
        left -= memory.tokens if fits else 0
    return kept, cut


def estimate_tokens(text: str) -> int:
    """A careful guess without a tokenizer: rather too many than too few."""
    latin = sum(letter.isascii() for letter in text)
    return (
        int(latin / CHARACTERS_A_TOKEN["latin"] + (len(text) - latin) / CHARACTERS_A_TOKEN["other"])
        + 1
    )


def cosine_of(memory: Recalled) -> float | None:
    leg = memory.legs.get("vector")
    return leg.score if leg else None


def _at(memory: Recalled) -> datetime:
    return datetime.fromtimestamp(memory.timestamp_ms / 1000, tz=UTC)


def _best_words(found: Sequence[Recalled]) -> float:
    return (
        max(
            (memory.legs["keyword"].score or 0.0 for memory in found if "keyword" in memory.legs),
            default=0,
        )
        or 1.0
    )


def _weights(verdict: LabelScores) -> list[tuple[str, float]]:
    return sorted(verdict.weights.items(), key=lambda pair: -pair[1])


def _line(found: ScoredMemory) -> str:
    axes = found.axes
    parts = f"similarity {axes.similarity:.2f}, recency {axes.recency:.2f}, importance {axes.importance:.2f}"
    return f"{found.score:.3f} = {parts} · {found.memory.bucket} · {found.memory.text[:60]}"
