"""Finding earlier work: by meaning, by error, by project, by all of them together."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from cachetools import TTLCache
from django.db import connection
from rapidfuzz import fuzz

from memories.coding_agent.episodes import KIND, TaskEpisode
from memories.coding_agent.stores.protocol import MemoryStore, StoreHit
from memories.similarity.compare import parse_text
from memories.states import Bucket
from retrieval.errors import Invalid

CACHE_SIZE, CACHE_SECONDS = 100, 300
FUZZY_FROM = 60.0
LOOKED_AT = 2000
SEMANTIC, FUZZY, KEYWORD = 0.4, 0.3, 0.3
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class EpisodeMatch:
    """An episode, its score from 0 to 1, and the parts the score is made of."""

    episode: TaskEpisode
    score: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorPattern:
    error_type: str
    error_message: str = ""


class EpisodicMemoryManager:
    """Caches hold for `cache_ttl_seconds`, and only as long as nothing was written, by whichever process."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        cache_size: int = CACHE_SIZE,
        cache_ttl_seconds: float = CACHE_SECONDS,
    ) -> None:
        self._store = store
        self.similarity_cache: TTLCache[str, list[EpisodeMatch]] = TTLCache(
            cache_size, cache_ttl_seconds
        )
        self.embedding_cache: TTLCache[str, list[StoreHit]] = TTLCache(
            cache_size, cache_ttl_seconds
        )
        self._lock = threading.RLock()
        self._hits = self._misses = self._invalidations = 0
        self._seen_revision = ""

    def store(self, episode: TaskEpisode) -> TaskEpisode:
        self._store.add(episode.as_record())
        return episode

    def find_similar(self, query: str, top_k: int = 5) -> list[EpisodeMatch]:
        """Episodes like `query`: by meaning and words together."""
        return self.hybrid_search(query, top_k=top_k)

    def find_by_error_pattern(
        self, error_type: str, error_message: str = "", use_fuzzy: bool = True, top_k: int = 10
    ) -> list[EpisodeMatch]:
        """Episodes that met this error. Fuzzy: the message may differ; else both must be as given."""
        key = f"error:{error_type}:{error_message}:{use_fuzzy}:{top_k}"
        return self._cached(
            key, partial(self._by_error, error_type, error_message, use_fuzzy, top_k)
        )

    def find_by_project(self, project_id: str, limit: int = 50) -> list[TaskEpisode]:
        """Latest first."""
        return [episode for episode in self._episodes() if episode.project_id == project_id][:limit]

    def find_by_semantic_similarity(self, query_text: str, top_k: int = 10) -> list[EpisodeMatch]:
        """By embedding alone."""
        return self._cached(
            f"semantic:{top_k}:{query_text}", partial(self._by_meaning, query_text, top_k)
        )

    def find_similar_batch(
        self, queries: Sequence[str], max_concurrency: int = 5, top_k: int = 5
    ) -> list[list[EpisodeMatch]]:
        """One answer per query, in their order; at most `max_concurrency` at a time."""
        return self._batch(partial(self.find_similar, top_k=top_k), queries, max_concurrency)

    def match_error_patterns_batch(
        self, patterns: Sequence[ErrorPattern | tuple[str, str]], max_concurrency: int = 5
    ) -> list[list[EpisodeMatch]]:
        """One answer per pattern, in their order."""
        pairs = [
            (one.error_type, one.error_message) if isinstance(one, ErrorPattern) else one
            for one in patterns
        ]
        return self._batch(lambda pair: self.find_by_error_pattern(*pair), pairs, max_concurrency)

    def hybrid_search(
        self,
        query_text: str,
        error_type: str = "",
        *,
        semantic_weight: float = SEMANTIC,
        fuzzy_weight: float = FUZZY,
        keyword_weight: float = KEYWORD,
        top_k: int = 10,
    ) -> list[EpisodeMatch]:
        """Weigh cosine, spelling and shared words. With `error_type` spelling is that of errors."""
        weights = (semantic_weight, fuzzy_weight, keyword_weight)
        if min(weights) < 0 or not sum(weights) > 0:
            raise Invalid("The weights of a hybrid search must not be negative, and not all 0.")
        key = f"hybrid:{weights}:{top_k}:{error_type}:{query_text}"
        return self._cached(key, partial(self._hybrid, query_text, error_type, weights, top_k))

    def invalidate_cache(self, pattern: str | None = None) -> int:
        """Forget cached answers: all, or those whose key holds `pattern`. Return how many."""
        with self._lock:
            gone = [key for key in self.similarity_cache if pattern is None or pattern in key]
            for key in gone:
                self.similarity_cache.pop(key, None)
            if pattern is None:
                self.embedding_cache.clear()
            self._invalidations += 1
        return len(gone)

    def get_cache_stats(self) -> dict[str, float]:
        asked = self._hits + self._misses
        return {
            "hits": self._hits,
            "misses": self._misses,
            "hit_rate": self._hits / asked if asked else 0.0,
            "size": len(self.similarity_cache),
            "embedding_size": len(self.embedding_cache),
            "max_size": self.similarity_cache.maxsize,
            "ttl_seconds": self.similarity_cache.ttl,
            "invalidations": self._invalidations,
        }

    def _cached(self, key: str, compute: Callable[[], list[EpisodeMatch]]) -> list[EpisodeMatch]:
        """The store is asked for its revision each time: that is how another process's write is noticed."""
        revision = self._store.revision()
        with self._lock:
            if revision != self._seen_revision:
                self.similarity_cache.clear()
                self.embedding_cache.clear()
                self._seen_revision = revision
            if (known := self.similarity_cache.get(key)) is not None:
                self._hits += 1
                return list(known)
            self._misses += 1
        made = compute()
        with self._lock:
            if revision == self._seen_revision:
                self.similarity_cache[key] = made
        return list(made)

    def _episodes(self) -> list[TaskEpisode]:
        rows = self._store.find(bucket=Bucket.EPISODIC, kind=KIND, limit=LOOKED_AT)
        return [TaskEpisode.from_record(row) for row in rows]

    def _by_error(
        self, error_type: str, message: str, use_fuzzy: bool, top_k: int
    ) -> list[EpisodeMatch]:
        scored = (
            (episode, error_score(episode, error_type, message, use_fuzzy))
            for episode in self._episodes()
        )
        return _best(
            (
                EpisodeMatch(one, score / 100, {"fuzzy": score / 100})
                for one, score in scored
                if score
            ),
            top_k,
        )

    def _by_meaning(self, query: str, top_k: int) -> list[EpisodeMatch]:
        found = self._nearest(query, max(top_k, 10))[:top_k]
        return [
            EpisodeMatch(
                TaskEpisode.from_record(hit.record), hit.similarity, {"semantic": hit.similarity}
            )
            for hit in found
        ]

    def _nearest(self, query: str, limit: int) -> list[StoreHit]:
        key = f"{limit}:{query}"
        with self._lock:
            known = self.embedding_cache.get(key)
        if known is None:
            known = self._store.search(query, buckets=[Bucket.EPISODIC], kind=KIND, limit=limit)
            with self._lock:
                self.embedding_cache[key] = known
        return known

    def _hybrid(
        self, query: str, error_type: str, weights: tuple[float, ...], top_k: int
    ) -> list[EpisodeMatch]:
        near = {hit.record.id: hit.similarity for hit in self._nearest(query, max(100, top_k))}
        found = []
        for episode in self._episodes():
            parts = {
                "semantic": near.get(episode.id, 0.0),
                "fuzzy": _spelling(episode, query, error_type),
                "keyword": _shared_words(query, episode.text),
            }
            score = sum(
                weight * part for weight, part in zip(weights, parts.values(), strict=True)
            ) / sum(weights)
            found.append(EpisodeMatch(episode, score, parts))
        return [match for match in _best(found, top_k) if match.score > 0]

    def _batch(
        self,
        ask: Callable[[Answer], list[EpisodeMatch]],
        questions: Sequence[Answer],
        max_concurrency: int,
    ) -> list[list[EpisodeMatch]]:
        if max_concurrency < 1:
            raise Invalid("max_concurrency is at least 1.")
        if (
            max_concurrency == 1 or connection.in_atomic_block
        ):  # other threads would not see this transaction
            return [ask(question) for question in questions]
        with ThreadPoolExecutor(max_concurrency) as pool:
            return list(pool.map(partial(_in_thread, ask), questions))


def error_score(episode: TaskEpisode, error_type: str, message: str, use_fuzzy: bool) -> float:
    """From 0 to 100: how like the errors an episode met are to this one."""
    return max(
        (
            _one_error(seen.error_type, seen.message, error_type, message, use_fuzzy)
            for seen in episode.errors
        ),
        default=0.0,
    )


def _one_error(type_seen: str, seen: str, wanted_type: str, wanted: str, use_fuzzy: bool) -> float:
    same_type = not wanted_type or type_seen.casefold() == wanted_type.casefold()
    if not use_fuzzy:
        return 100.0 if same_type and (not wanted or wanted.casefold() in seen.casefold()) else 0.0
    of_type = 100.0 if same_type else fuzz.ratio(type_seen.casefold(), wanted_type.casefold())
    of_message = fuzz.token_set_ratio(seen.casefold(), wanted.casefold()) if wanted else of_type
    score = 0.4 * of_type + 0.6 * of_message
    return score if score >= FUZZY_FROM else 0.0


def _spelling(episode: TaskEpisode, query: str, error_type: str) -> float:
    if error_type:
        return error_score(episode, error_type, query, use_fuzzy=True) / 100
    return fuzz.token_set_ratio(query.casefold(), episode.text.casefold()) / 100


def _shared_words(query: str, text: str) -> float:
    wanted = parse_text(query).words
    return len(wanted & parse_text(text).words) / len(wanted) if wanted else 0.0


def _best(found: Iterable[EpisodeMatch], top_k: int) -> list[EpisodeMatch]:
    return sorted(found, key=lambda match: (-match.score, str(match.episode.id)))[:top_k]


def _in_thread(ask: Callable[[Answer], list[EpisodeMatch]], question: Answer) -> list[EpisodeMatch]:
    try:
        return ask(question)
    finally:
        connection.close()
