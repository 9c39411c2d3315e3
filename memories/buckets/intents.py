"""The intent of a question, and the buckets that can answer it."""

import logging
import threading
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from cachetools import LRUCache

from memories.buckets.intent_model import (
    IntentExamples,
    IntentModel,
    load_examples,
    model_without_vectors,
)
from memories.classification.cues import Cues, LabelScores, load_cues, rank_labels
from memories.states import Bucket
from retrieval.embedders import (
    CachedEmbedder,
    get_configured_embedder,
    get_embedder,
    load_vectors,
)
from retrieval.errors import EmbedderDown

logger = logging.getLogger(__name__)

_models: MutableMapping[tuple[IntentExamples, str], IntentModel] = LRUCache(maxsize=4)
_lock = threading.Lock()
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
    embeds_examples: bool = True
    """Whether a question waits for the vectors of the examples, which a slow model computes for two
    minutes; else words decide until the worker has stored them (`embed_examples`)."""

    def classify(self, query: str) -> LabelScores:
        """Return the scores of the intents. The query is embedded, as reading needs its vector
        anyway; while the embedder is down, words decide."""
        by_cues = self.cues.classify(query)
        if not self.examples or by_cues.label not in self.examples.labels:
            return by_cues
        embedder = get_embedder("memory")
        try:
            model = model_for(self.examples, embedder, embeds=self.embeds_examples)
            vector = embedder.embed_query([query])[0]
            scores, share = model.scores(query, vector), CUE_SHARE
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


def embed_examples() -> None:
    """Store the vectors of the examples: of the embedder in use, and of the one of the settings,
    which takes its place when all passages have its vectors."""
    embedders = (get_embedder("memory"), get_configured_embedder("memory"))
    for embedder in {one.name: one for one in embedders}.values():
        embedder.embed_document(list(load_examples().texts))


def has_vectors(embedder: CachedEmbedder, texts: Sequence[str]) -> bool:
    """Whether the vectors of all `texts` are stored."""
    return len(load_vectors(embedder.name, texts)) == len(set(texts))


def model_for(examples: IntentExamples, embedder: CachedEmbedder, *, embeds: bool) -> IntentModel:
    """Return the fitted model, one per process and embedder. Raise `EmbedderDown` where its vectors
    are not stored and it is not to compute them."""
    key = (examples, embedder.name)
    with _lock:
        model = _models.get(key)
    if model is None:
        texts = list(examples.texts)
        if not embeds and not has_vectors(embedder, texts):
            raise EmbedderDown("The examples of intents are not embedded yet.")
        model = IntentModel(examples, embedder.embed_document(texts))
        with _lock:
            _models[key] = model
    return model
