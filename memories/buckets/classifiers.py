"""Which bucket an event belongs to: by rules (fast), by a language model (exact), or by both."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, Field

from memories import prompts
from memories.buckets.cues import Cues, load_cues
from memories.buckets.events import Classification, MemoryEvent
from memories.ingest.reconstruction import StructuredModel, ask
from memories.states import Bucket

logger = logging.getLogger(__name__)

SURE_FROM = 0.25
"""Lead of the first bucket over the second from which rules are believed without asking a model."""


class Classifier(Protocol):
    def classify(self, event: MemoryEvent) -> Classification: ...


class BucketAnswer(BaseModel):
    """What a model says of one event."""

    bucket: Bucket = Field(description="profile, preference, episodic, semantic or fact.")
    importance: float = Field(
        ge=0, le=1, description="0: forget at once; 0.5: ordinary; 1: must never be forgotten."
    )
    confidence: float = Field(0.9, ge=0, le=1)


@dataclass(frozen=True)
class RuleBasedClassifier:
    """By cues, in three languages. `cues` may be extended with one's own (`Cues.with_cues`)."""

    cues: Cues = field(default_factory=lambda: load_cues("buckets"))

    def classify(self, event: MemoryEvent) -> Classification:
        verdict = self.cues.classify(event.content)
        return Classification(Bucket(verdict.label), verdict.margin, "rules")


@dataclass(frozen=True)
class LLMClassifier:
    """By a language model; raises `ClassifierSilent` when it gives no usable answer in three tries."""

    model: StructuredModel

    def classify(self, event: MemoryEvent) -> Classification:
        answer = ask(self.model, prompts.prompt("sort", [event.content]), BucketAnswer)
        if answer is None:
            raise ClassifierFailed("the language model gave no usable answer")
        return Classification(answer.bucket, answer.confidence, "model", answer.importance)


@dataclass(frozen=True)
class HybridClassifier:
    """Rules when they are sure, the model when they are not, rules again when the model fails."""

    rules: RuleBasedClassifier = field(default_factory=RuleBasedClassifier)
    model: LLMClassifier | None = None
    sure_from: float = SURE_FROM

    def classify(self, event: MemoryEvent) -> Classification:
        by_rules = self.rules.classify(event)
        if self.model is None or by_rules.confidence >= self.sure_from:
            return by_rules
        try:
            return self.model.classify(event)
        except (ClassifierFailed, OSError) as error:
            logger.warning("sorting by rules: %s", error)
            return by_rules


class ClassifierFailed(Exception):
    """A model that should have sorted an event said nothing usable."""


def classify_event(event: MemoryEvent, classifier: Classifier) -> Classification:
    """Take the event's own word for its bucket, else the classifier's."""
    if event.bucket is not None:
        return Classification(Bucket(event.bucket), 1.0, "event")
    return classifier.classify(event)


def all_classified(events: Sequence[MemoryEvent], classifier: Classifier) -> list[Classification]:
    return [classify_event(event, classifier) for event in events]
