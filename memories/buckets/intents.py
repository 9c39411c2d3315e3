"""The intent of a question, and the buckets that can answer it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from memories.buckets.intent_model import (
    IntentExamples,
    IntentModel,
    load_examples,
    model_without_vectors,
)
from memories.classification.cues import Cues, LabelScores, load_cues, rank_labels
from memories.states import Bucket
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown

logger = logging.getLogger(__name__)

# Share of the cues beside the scores of the model.
CUE_SHARE, CUE_SHARE_WITHOUT_VECTORS = 0.2, 0.4
# Added to the sum of cue weights, so that one weak cue alone does not get the whole share.
CUE_SMOOTHING = 2.0
# Margin below which the next intent's buckets are read too. 21 % of held-out authors' questions lie
# below it: 68 % of their labels are right, 89 % with the next one; of the others 97 %.
UNSURE_BELOW = 0.2


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
    """Classifies questions by labelled examples and by cues.

    An intent of one's own is a new name with its examples (`IntentExamples.with_examples`) or its
    cues (`Cues.with_cues`), and its buckets. A label that has cues but no examples is chosen where
    its cues lead. Without examples the cues alone decide.
    """

    cues: Cues = field(default_factory=lambda: load_cues("intents"))
    buckets: Mapping[str, tuple[Bucket, ...]] = field(default_factory=lambda: BUCKETS)
    examples: IntentExamples | None = field(default_factory=load_examples)

    def classify(self, query: str) -> LabelScores:
        """Return the scores of the intents. The query is embedded, as reading needs its vector
        anyway; while the embedder is down, words decide."""
        by_cues = self.cues.classify(query)
        if not self.examples or by_cues.label not in self.examples.labels:
            return by_cues
        embedder = get_embedder("memory")
        try:
            vector = embedder.embed_query([query])[0]
            scores = model_with_vectors(self.examples, embedder.name).scores(query, vector)
            share = CUE_SHARE
        except EmbedderDown as problem:
            logger.warning("classifying an intent without vectors: %s", problem)
            scores = model_without_vectors(self.examples).scores(query)
            share = CUE_SHARE_WITHOUT_VECTORS
        share /= CUE_SMOOTHING + sum(by_cues.weights.values())
        return rank_labels(
            {
                label: max(0.0, score + share * by_cues.weights.get(label, 0.0))
                for label, score in scores.items()
            }
        )

    def buckets_for(self, intent: str) -> tuple[Bucket, ...]:
        return self.buckets.get(intent, ALL)

    def buckets_of(self, scores: LabelScores) -> tuple[Bucket, ...]:
        """Return the buckets of the intent, and of the next one where the margin is small."""
        labels = top_two(scores) if scores.margin < UNSURE_BELOW else (scores.label,)
        return tuple(
            dict.fromkeys(bucket for label in labels for bucket in self.buckets_for(label))
        )


def top_two(scores: LabelScores) -> tuple[str, str]:
    """Return the label and the one with the next most weight."""
    others = {label: weight for label, weight in scores.weights.items() if label != scores.label}
    return scores.label, max(others, key=others.__getitem__)


@lru_cache(maxsize=4)
def model_with_vectors(examples: IntentExamples, _embedder: str) -> IntentModel:
    # The vectors are cached in the database: only the first process computes them.
    return IntentModel(examples, get_embedder("memory").embed_document(list(examples.texts)))
