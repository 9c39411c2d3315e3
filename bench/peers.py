"""Baseline rankers on the same passages, words and vectors, to compare our ranking with."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import bm25s
import numpy as np
from django.db import connection
from django.db.models import QuerySet

from retrieval.domains import Scope
from retrieval.embedders import get_embedder
from retrieval.search import Preset, named_parameters

DEPTH = 50
RRF_K = 60

AND_QUERY = """
SELECT id FROM ({rows}) AS passage,
  websearch_to_tsquery(memory37_configuration(%(language)s), %(question)s) AS asked
WHERE search_vector @@ asked ORDER BY ts_rank_cd(search_vector, asked) DESC, id LIMIT %(depth)s
"""
OR_QUERY = """
WITH asked AS (
  SELECT string_agg(memory37_quoted(word), '|')::tsquery AS words
  FROM unnest(tsvector_to_array(memory37_words(%(language)s, %(question)s))) AS word
)
SELECT id FROM ({rows}) AS passage, asked
WHERE search_vector @@ words ORDER BY ts_rank_cd(search_vector, words) DESC, id LIMIT %(depth)s
"""
WORDS_OF_PASSAGES = """
SELECT id, array(
  SELECT unnest(array_fill(lexeme, ARRAY[coalesce(cardinality(positions), 1)]))
  FROM unnest(search_vector)
)
FROM ({rows}) AS passage ORDER BY id
"""

Ranking = list[UUID]


@dataclass(frozen=True)
class Tenant:
    """The passages that one caller searches, as our search and the baselines need them."""

    rows: "QuerySet[Any, Any]"
    scopes: Sequence[Scope]
    preset: Preset
    hidden: bool = False

    @property
    def domain(self) -> str:
        domain: str = self.rows.model.search_config.domain
        return domain

    @cached_property
    def _words(self) -> list[tuple[UUID, list[str]]]:
        return self.fetch(WORDS_OF_PASSAGES)

    @cached_property
    def _bm25(self) -> bm25s.BM25:
        index = bm25s.BM25(method="lucene", k1=self.preset.k1, b=self.preset.b)
        index.index([words or ["∅"] for _id, words in self._words], show_progress=False)
        return index

    @cached_property
    def _vectors(self) -> "np.ndarray[Any, Any]":
        embedder = get_embedder(self.domain)
        stored = dict(
            self.rows.filter(embedding_model=embedder.name).values_list("pk", "embedding")
        )
        missing = np.zeros(embedder.dims, dtype=np.float32)
        return np.array([stored.get(pk, missing) for pk, _words in self._words], dtype=np.float32)

    def bm25s(self, question: str, language: str) -> Ranking:
        with connection.cursor() as cursor:
            cursor.execute("SELECT tsvector_to_array(memory37_words(%s, %s))", [language, question])
            words = [word for word in cursor.fetchone()[0] if word in self._bm25.vocab_dict]
        return self.best_ids(self._bm25.get_scores(words), above=0.0) if words else []

    def dense(self, question: str, _language: str) -> Ranking:
        return self.best_ids(self._vectors @ get_embedder(self.domain).embed_query([question])[0])

    def and_rrf(self, question: str, language: str) -> Ranking:
        return rrf([self.fetch_ids(AND_QUERY, question, language), self.dense(question, language)])

    def or_rrf(self, question: str, language: str) -> Ranking:
        return rrf([self.fetch_ids(OR_QUERY, question, language), self.dense(question, language)])

    def best_ids(self, scores: "np.ndarray[Any, Any]", above: float = -np.inf) -> Ranking:
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return [self._words[place][0] for place in best if scores[place] > above]

    def fetch_ids(self, statement: str, question: str, language: str) -> Ranking:
        found = self.fetch(statement, question=question, language=language, depth=DEPTH)
        return [id_ for (id_,) in found]

    def fetch(self, statement: str, **values: Any) -> list[Any]:
        rows, filters = named_parameters(self.rows, "id", "search_vector")
        with connection.cursor() as cursor:
            cursor.execute(statement.format(rows=rows), {**filters, **values})
            return list(cursor.fetchall())


PEERS: dict[str, Callable[[Tenant, str, str], Ranking]] = {
    "bm25s, same words": Tenant.bm25s,
    "dense, same vectors": Tenant.dense,
    "AND tsquery + dense, RRF": Tenant.and_rrf,
    "OR tsquery + dense, RRF": Tenant.or_rrf,
}


def rrf(rankings: Sequence[Ranking], k: int = RRF_K) -> Ranking:
    scores: dict[UUID, float] = defaultdict(float)
    for ranking in rankings:
        for rank, id_ in enumerate(ranking, start=1):
            scores[id_] += 1 / (k + rank)
    return sorted(scores, key=lambda id_: -scores[id_])
