"""The bucket and the importance of an event: by rules (fast), by a language model, or by both."""

import logging
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, Field

from memories import prompts
from memories.buckets.events import Classification, MemoryEvent, check_importance
from memories.classification.cues import Cues, load_cues
from memories.classification.rules import rule_importance
from memories.ingest.reconstruction import StructuredModel, ask
from memories.states import Bucket
from retrieval.llm import TimeBudget

logger = logging.getLogger(__name__)

# Margin of the first bucket over the second from which the rules are trusted without a model.
TRUST_RULES_FROM = 0.25

MIN_IMPORTANCE = 0.2


class Classifier(Protocol):
    def classify(self, event: MemoryEvent) -> Classification: ...


class ClassifierFailed(Exception):
    """The language model gave no usable classification."""


class BucketAnswer(BaseModel):
    """A model's classification of one event."""

    bucket: Bucket = Field(description="profile, preference, episodic, semantic or fact.")
    importance: float = Field(
        ge=0, le=1, description="0: forget at once; 0.5: ordinary; 1: must never be forgotten."
    )
    confidence: float = Field(0.9, ge=0, le=1)


@dataclass(frozen=True)
class RuleBasedClassifier:
    """By cues, in three languages. `Cues.with_cues` adds a site's own."""

    cues: Cues = field(default_factory=lambda: load_cues("buckets"))

    def classify(self, event: MemoryEvent) -> Classification:
        scores = self.cues.classify(event.content)
        return Classification(Bucket(scores.label), scores.margin, "rules")


@dataclass(frozen=True)
class LLMClassifier:
    """By a language model; raise `ClassifierFailed` after three tries without a usable answer, or
    after the `deadline` of all events."""

    model: StructuredModel
    deadline: TimeBudget | None = None

    def classify(self, event: MemoryEvent) -> Classification:
        prompt = prompts.single_block_prompt("sort", [event.content])
        answer = ask(self.model, prompt, BucketAnswer, deadline=self.deadline)
        if answer is None:
            raise ClassifierFailed("the language model gave no usable answer")
        return Classification(answer.bucket, answer.confidence, "model", answer.importance)


@dataclass(frozen=True)
class HybridClassifier:
    """By rules where they are sure, else by the model; by rules again when the model fails."""

    rules: RuleBasedClassifier = field(default_factory=RuleBasedClassifier)
    model: LLMClassifier | None = None
    trust_rules_from: float = TRUST_RULES_FROM

    def classify(self, event: MemoryEvent) -> Classification:
        by_rules = self.rules.classify(event)
        if self.model is None or by_rules.confidence >= self.trust_rules_from:
            return by_rules
        try:
            return self.model.classify(event)
        except (ClassifierFailed, OSError) as error:
            logger.warning("classifying an event by rules: %s", error)
            return by_rules


def classify_event(event: MemoryEvent, classifier: Classifier) -> Classification:
    """Return the event's own bucket if it names one, else the classifier's."""
    if event.bucket is not None:
        return Classification(Bucket(event.bucket), 1.0, "event")
    return classifier.classify(event)


def importance_of(event: MemoryEvent, classification: Classification) -> float:
    """Return the event's own importance, else the model's, else the rules'. Raise `Invalid` if it
    is outside 0–1."""
    for importance in (event.importance, classification.importance):
        if importance is not None:
            return check_importance(importance)
    return rule_importance(event.content, classification.bucket)
