"""The bucket and the importance of an event: by rules (fast), by a language model, or by both."""

import logging
import re
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, Field

from memories import prompts
from memories.buckets.cues import Cues, load_cues, lowercase_pattern
from memories.buckets.events import Classification, MemoryEvent, check_importance
from memories.ingest.reconstruction import StructuredModel, ask
from memories.similarity.compare import parse_text
from memories.states import Bucket
from retrieval.text import WORD_OR_NUMBER

logger = logging.getLogger(__name__)

# Margin of the first bucket over the second from which the rules are trusted without a model.
TRUST_RULES_FROM = 0.25

MIN_IMPORTANCE = 0.2
BASE_IMPORTANCE = {
    Bucket.PROFILE: 0.6,
    Bucket.PREFERENCE: 0.6,
    Bucket.EPISODIC: 0.45,
    Bucket.SEMANTIC: 0.7,
    Bucket.FACT: 0.5,
}
WEIGHTY_BONUS, NAME_OR_NUMBER_BONUS, SMALL_TALK_MALUS = 0.2, 0.1, 0.35
# Matched with lowercase text.
WEIGHTY = re.compile(
    lowercase_pattern(
        r"\b(must|never|always|critical|important|urgent|secret|password|deadline|broke|crash\w*|"
        r"fail\w*|died|killed|promis\w+|allergic|danger\w*|security|lost|betray\w*|fixed|"
        r"root cause)\b|"
        r"важн|никогда|всегда|срочн|секрет|парол|срок|сломал|упал|обеща|опасн|умер|погиб|нельзя|"
        r"중요|절대|항상|긴급|비밀|마감|실패|죽|약속|위험|반드시|\w(Error|Exception)\b"
    )
)
SMALL_TALK = re.compile(
    r"^(ok(ay)?|thanks?( you)?|thank you|hi|hello|hey|yes|no|sure|lol|haha+|hmm+|uh+|great|cool|"
    r"nice|bye|good (morning|night)|спасибо|привет|хорошо|ладно|пока|да|нет|ага|угу|понятно|"
    r"고마워\w*|감사\w*|안녕\w*|네|응|알겠\w*|좋아\w*|ㅋ+|ㅎ+)\b[\s!.,]*",
    re.IGNORECASE,
)


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
    """By a language model; raise `ClassifierFailed` after three tries without a usable answer."""

    model: StructuredModel

    def classify(self, event: MemoryEvent) -> Classification:
        answer = ask(self.model, prompts.single_block_prompt("sort", [event.content]), BucketAnswer)
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
    return _rule_importance(event.content, classification.bucket)


def _rule_importance(text: str, bucket: Bucket) -> float:
    """Estimate an importance (0–1): the bucket's base, raised and lowered by the text's content."""
    words = [word.casefold() for word in WORD_OR_NUMBER.findall(text)]
    letters = {letter for letter in text.casefold() if letter.isalpha()}
    # Fewer than four different letters, or one word again and again: nonsense.
    if len(letters) < 4 or (len(words) >= 5 and len(set(words)) <= len(words) // 5):
        return 0.0
    content = parse_text(text)
    value = BASE_IMPORTANCE[bucket]
    value += WEIGHTY_BONUS * bool(WEIGHTY.search(text.lower()))
    value += NAME_OR_NUMBER_BONUS * bool(content.names or content.numbers)
    rest = SMALL_TALK.sub("", text).strip()
    # "Thanks!" alone is small talk; "Thanks, the bridge at Ferrymark is down" is not.
    if rest != text.strip() and len(WORD_OR_NUMBER.findall(rest)) < 4:
        value -= SMALL_TALK_MALUS
    return round(min(1.0, max(0.0, value)), 3)
