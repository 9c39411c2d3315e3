"""Search for earlier work: by meaning, by error, by project, or by all together."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from cachetools import TTLCache
from django.db import connection
from rapidfuzz import fuzz

from memories.coding_agent.episodes import KIND, TaskEpisode
from memories.coding_agent.stores.in_memory import InMemoryStore
from memories.coding_agent.stores.protocol import MemoryStore, StoreHit
from memories.similarity.comparable_text import parse_text
from memories.states import Bucket
from retrieval.errors import Invalid

CACHE_SIZE, CACHE_SECONDS = 100, 300
# Least score (0–100) of an error by spelling.
FUZZY_FROM = 60.0
# Vector hits that a hybrid search weighs; every other episode has a cosine of 0 there.
MIN_VECTOR_HITS = 100
SEMANTIC_WEIGHT, FUZZY_WEIGHT, KEYWORD_WEIGHT = 0.4, 0.3, 0.3
Query = TypeVar("Query")


@dataclass(frozen=True)
class EpisodeMatch:
    """An episode, its score from 0 to 1, and the parts of the score."""

    episode: TaskEpisode
    score: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorPattern:
    error_type: str
    error_message: str = ""


class EpisodicMemoryManager:
    """Searches are cached for `cache_ttl_seconds`, until any process writes to the store."""

    def __init__(
        self,
        store: MemoryStore | None = None,
        *,
        cache_size: int = CACHE_SIZE,
        cache_ttl_seconds: float = CACHE_SECONDS,
    ) -> None:
        self._store: MemoryStore = InMemoryStore() if store is None else store
        self.similarity_cache: TTLCache[str, list[EpisodeMatch]]
        self.similarity_cache = TTLCache(cache_size, cache_ttl_seconds)
        self.embedding_cache: TTLCache[str, list[StoreHit]]
        self.embedding_cache = TTLCache(cache_size, cache_ttl_seconds)
        self._lock = threading.RLock()
        self._hits = self._misses = self._invalidations = 0
        self._revision = ""

    def store(self, episode: TaskEpisode) -> TaskEpisode:
        self._store.add(episode.as_record())
        return episode

    def find_similar(self, query: str, top_k: int = 5) -> list[EpisodeMatch]:
        """Find by meaning, spelling and words together."""
        return self.hybrid_search(query, top_k=top_k)

    def find_by_error_pattern(
        self, error_type: str, error_message: str = "", use_fuzzy: bool = True, top_k: int = 10
    ) -> list[EpisodeMatch]:
        """Find episodes with this error. Without `use_fuzzy` the type must be equal and the message
        contained."""

        def search() -> list[EpisodeMatch]:
            matches = []
            for episode in self.load_similar(f"{error_type} {error_message}"):
                score = error_score(episode, error_type, error_message, use_fuzzy) / 100
                if score:
                    matches.append(EpisodeMatch(episode, score, {"fuzzy": score}))
            return best_matches(matches, top_k)

        return self.get_or_search(f"error:{error_type}:{error_message}:{use_fuzzy}:{top_k}", search)

    def find_by_project(self, project_id: str, limit: int = 50) -> list[TaskEpisode]:
        """Latest first."""
        where = {"episode": {"project_id": project_id}}
        rows = self._store.find(bucket=Bucket.EPISODIC, kind=KIND, where=where, limit=limit)
        return [TaskEpisode.from_record(row) for row in rows]

    def find_by_semantic_similarity(self, query_text: str, top_k: int = 10) -> list[EpisodeMatch]:
        """Find by embedding alone."""

        def search() -> list[EpisodeMatch]:
            return [
                EpisodeMatch(
                    TaskEpisode.from_record(hit.record),
                    hit.similarity,
                    {"semantic": hit.similarity},
                )
                for hit in self.search_vectors(query_text, max(top_k, 10))[:top_k]
            ]

        return self.get_or_search(f"semantic:{top_k}:{query_text}", search)

    def find_similar_batch(
        self, queries: Sequence[str], max_concurrency: int = 5, top_k: int = 5
    ) -> list[list[EpisodeMatch]]:
        """Return the matches of each query, at most `max_concurrency` at a time."""
        return run_batch(partial(self.find_similar, top_k=top_k), queries, max_concurrency)

    def match_error_patterns_batch(
        self, patterns: Sequence[ErrorPattern | tuple[str, str]], max_concurrency: int = 5
    ) -> list[list[EpisodeMatch]]:
        """Return the matches of each pattern."""
        pairs = [
            (one.error_type, one.error_message) if isinstance(one, ErrorPattern) else one
            for one in patterns
        ]
        return run_batch(lambda pair: self.find_by_error_pattern(*pair), pairs, max_concurrency)

    def hybrid_search(
        self,
        query_text: str,
        error_type: str = "",
        *,
        weights: Mapping[str, float] | AbstractSet[object] | None = None,
        semantic_weight: float = SEMANTIC_WEIGHT,
        fuzzy_weight: float = FUZZY_WEIGHT,
        keyword_weight: float = KEYWORD_WEIGHT,
        top_k: int = 10,
    ) -> list[EpisodeMatch]:
        """Rank by the weighted mean of cosine, spelling and shared words. With `error_type` the
        spelling is compared with the episodes' errors. `weights` are those of `semantic`, `fuzzy`
        and `keyword`, of which each may be left out; `{...}` leaves out all."""
        shares = {"semantic": semantic_weight, "fuzzy": fuzzy_weight, "keyword": keyword_weight}
        # `weights={...}`, as the design writes it, is a set.
        given: Mapping[str, float] = weights if isinstance(weights, Mapping) else {}
        if isinstance(weights, AbstractSet) and weights != {...}:
            raise Invalid("The weights of a hybrid search are a number for each name.")
        if unknown := set(given) - set(shares):
            raise Invalid(f"There is no weight {min(unknown)!r}.", candidates=tuple(shares))
        weights = shares | dict(given)
        total = sum(weights.values())
        if min(weights.values()) < 0 or not total > 0:
            raise Invalid("The weights of a hybrid search must not be negative, and not all 0.")

        def search() -> list[EpisodeMatch]:
            hits = self.search_vectors(query_text, max(MIN_VECTOR_HITS, top_k))
            cosines = {hit.record.id: hit.similarity for hit in hits}
            matches = []
            near = {hit.record.id: TaskEpisode.from_record(hit.record) for hit in hits}
            alike = {one.id: one for one in self.load_similar(f"{error_type} {query_text}")}
            for episode in (near | alike).values():
                parts = {
                    "semantic": cosines.get(episode.id, 0.0),
                    "fuzzy": _spelling_score(episode, query_text, error_type),
                    "keyword": _keyword_score(episode, query_text),
                }
                score = sum(weights[name] * part for name, part in parts.items()) / total
                matches.append(EpisodeMatch(episode, score, parts))
            return [match for match in best_matches(matches, top_k) if match.score > 0]

        return self.get_or_search(f"hybrid:{weights}:{top_k}:{error_type}:{query_text}", search)

    def invalidate_cache(self, pattern: str | None = None) -> int:
        """Drop all cached answers, or those whose key holds `pattern`; return their number."""
        with self._lock:
            keys = [key for key in self.similarity_cache if pattern is None or pattern in key]
            for key in keys:
                self.similarity_cache.pop(key, None)
            if pattern is None:
                self.embedding_cache.clear()
            self._invalidations += 1
        return len(keys)

    def get_cache_stats(self) -> dict[str, float]:
        lookups = self._hits + self._misses
        return {
            "hits": self._hits,
            "misses": self._misses,
            "hit_rate": self._hits / lookups if lookups else 0.0,
            "size": len(self.similarity_cache),
            "embedding_size": len(self.embedding_cache),
            "max_size": self.similarity_cache.maxsize,
            "ttl_seconds": self.similarity_cache.ttl,
            "invalidations": self._invalidations,
        }

    def get_or_search(
        self, key: str, search: Callable[[], list[EpisodeMatch]]
    ) -> list[EpisodeMatch]:
        # Another process may have written: only the store's revision tells.
        revision = self._store.revision()
        with self._lock:
            if revision != self._revision:
                self.similarity_cache.clear()
                self.embedding_cache.clear()
                self._revision = revision
            if (answer := self.similarity_cache.get(key)) is not None:
                self._hits += 1
                return list(answer)
            self._misses += 1
        # Without the lock: the store may take long, and other threads ask other questions.
        matches = search()
        with self._lock:
            if revision == self._revision:
                self.similarity_cache[key] = matches
        return list(matches)

    def load_similar(self, text: str) -> list[TaskEpisode]:
        """Return those to compare with `text` by spelling, however old they are."""
        rows = self._store.find_like(text.strip(), bucket=Bucket.EPISODIC, kind=KIND)
        return [TaskEpisode.from_record(row) for row in rows]

    def search_vectors(self, query: str, limit: int) -> list[StoreHit]:
        key = f"{limit}:{query}"
        with self._lock:
            hits = self.embedding_cache.get(key)
        if hits is None:
            hits = self._store.search(query, buckets=[Bucket.EPISODIC], kind=KIND, limit=limit)
            with self._lock:
                self.embedding_cache[key] = hits
        return hits


def run_batch(
    search: Callable[[Query], list[EpisodeMatch]], queries: Sequence[Query], max_concurrency: int
) -> list[list[EpisodeMatch]]:
    """Return the matches of each query, in their order."""
    if max_concurrency < 1:
        raise Invalid("max_concurrency is at least 1.")
    # Other threads have connections of their own and would not see this transaction's rows.
    if max_concurrency == 1 or connection.in_atomic_block:
        return [search(query) for query in queries]

    def search_in_thread(query: Query) -> list[EpisodeMatch]:
        try:
            return search(query)
        finally:
            # Django closes the connections of request threads only.
            connection.close()

    with ThreadPoolExecutor(max_concurrency) as pool:
        return list(pool.map(search_in_thread, queries))


def error_score(episode: TaskEpisode, error_type: str, message: str, use_fuzzy: bool) -> float:
    """Return the greatest similarity of an error of the episode to this one, from 0 to 100."""
    error_type, message = error_type.casefold(), message.casefold()
    best = 0.0
    for error in episode.errors:
        own_type, own_message = error.error_type.casefold(), error.message.casefold()
        is_same_type = not error_type or own_type == error_type
        if not use_fuzzy:
            score = 100.0 if is_same_type and message in own_message else 0.0
        else:
            by_type = 100.0 if is_same_type else fuzz.ratio(own_type, error_type)
            by_message = fuzz.token_set_ratio(own_message, message) if message else by_type
            score = 0.4 * by_type + 0.6 * by_message
            score = score if score >= FUZZY_FROM else 0.0
        best = max(best, score)
    return best


def _spelling_score(episode: TaskEpisode, query: str, error_type: str) -> float:
    if error_type:
        return error_score(episode, error_type, query, use_fuzzy=True) / 100
    return fuzz.token_set_ratio(query.casefold(), episode.text.casefold()) / 100


def _keyword_score(episode: TaskEpisode, query: str) -> float:
    """Return the share of the query's words that the episode has."""
    words = parse_text(query).words
    return len(words & parse_text(episode.text).words) / len(words) if words else 0.0


def best_matches(matches: Iterable[EpisodeMatch], top_k: int) -> list[EpisodeMatch]:
    return sorted(matches, key=lambda match: (-match.score, str(match.episode.id)))[:top_k]
