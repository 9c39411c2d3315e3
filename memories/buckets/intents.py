"""What a question wants, and which buckets can answer it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memories.buckets.cues import Cues, Verdict, shipped
from memories.states import Bucket


class Intent(StrEnum):
    PROFILE = "profile"
    PREFERENCE = "preference"
    RECALL = "recall"
    KNOWLEDGE = "knowledge"
    DEBUG = "debug"
    GENERAL = "general"


ALL = tuple(Bucket)
BUCKETS: Mapping[str, tuple[Bucket, ...]] = {
    Intent.PROFILE: (Bucket.PROFILE,),
    Intent.PREFERENCE: (Bucket.PREFERENCE,),
    Intent.RECALL: (Bucket.EPISODIC,),
    Intent.KNOWLEDGE: (Bucket.SEMANTIC, Bucket.FACT),
    Intent.DEBUG: (Bucket.EPISODIC, Bucket.SEMANTIC),
    Intent.GENERAL: ALL,
}


@dataclass(frozen=True)
class QueryClassifier:
    """By cues. One's own intent is its cues (`Cues.extended`) and its buckets, under a new name."""

    cues: Cues = field(default_factory=lambda: shipped("intents"))
    buckets: Mapping[str, tuple[Bucket, ...]] = field(default_factory=lambda: BUCKETS)

    def classify(self, query: str) -> Verdict:
        return self.cues.judge(query)

    def buckets_for(self, intent: str) -> tuple[Bucket, ...]:
        return self.buckets.get(intent, ALL)
