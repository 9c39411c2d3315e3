"""What others do with the same passages, the same words and the same vectors: the measure of our own ranking."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import UUID

import bm25s
import numpy as np
from django.db import connection

from bench.passages import Shelved
from retrieval.embedders import get_embedder
from retrieval.presets import Preset

DEPTH = 50
RRF_K = 60

AND_QUERY = """
SELECT id FROM {table}, websearch_to_tsquery(memory37_configuration(%(language)s), %(question)s) AS asked
WHERE tenant = %(tenant)s AND search_vector @@ asked ORDER BY ts_rank_cd(search_vector, asked) DESC, id LIMIT %(depth)s
"""
OR_QUERY = """
WITH asked AS (
  SELECT string_agg(memory37_quoted(word), '|')::tsquery AS words
  FROM unnest(tsvector_to_array(memory37_words(%(language)s, %(question)s))) AS word
)
SELECT id FROM {table}, asked
WHERE tenant = %(tenant)s AND search_vector @@ words ORDER BY ts_rank_cd(search_vector, words) DESC, id LIMIT %(depth)s
"""
WORDS_OF_PASSAGES = """
SELECT id, array(SELECT unnest(array_fill(lexeme, ARRAY[cardinality(positions)])) FROM unnest(search_vector))
FROM {table} WHERE tenant = %s ORDER BY id
"""

Ranking = list[UUID]


class Tenant:
    """The passages of one tenant as the peers see them."""

    def __init__(self, model: type[Shelved], name: str, preset: Preset) -> None:
        self.model, self.name, self.preset = model, name, preset
        with connection.cursor() as cursor:
            cursor.execute(self._on_table(WORDS_OF_PASSAGES), [name])
            rows = cursor.fetchall()
        self.ids: list[UUID] = [row[0] for row in rows]
        self._bm25 = bm25s.BM25(method="lucene", k1=preset.k1, b=preset.b)
        self._bm25.index([words or ["∅"] for _id, words in rows], show_progress=False)
        embedder = get_embedder("bench")
        stored = dict(model.objects.filter(tenant=name, embedding_model=embedder.name).values_list("pk", "embedding"))
        missing = np.zeros(embedder.dims, dtype=np.float32)
        self._vectors = np.array([stored.get(pk, missing) for pk in self.ids], dtype=np.float32)

    def bm25s(self, question: str, language: str) -> Ranking:
        with connection.cursor() as cursor:
            cursor.execute("SELECT tsvector_to_array(memory37_words(%s, %s))", [language, question])
            words = [word for word in cursor.fetchone()[0] if word in self._bm25.vocab_dict]
        if not words:
            return []
        scores = self._bm25.get_scores(words)
        return [self.ids[place] for place in np.argsort(-scores, kind="stable")[:DEPTH] if scores[place] > 0]

    def dense(self, question: str, _language: str) -> Ranking:
        scores = self._vectors @ get_embedder("bench").embed_query([question])[0]
        return [self.ids[place] for place in np.argsort(-scores, kind="stable")[:DEPTH]]

    def and_rrf(self, question: str, language: str) -> Ranking:
        return rrf([self._matching(AND_QUERY, question, language), self.dense(question, language)])

    def or_rrf(self, question: str, language: str) -> Ranking:
        return rrf([self._matching(OR_QUERY, question, language), self.dense(question, language)])

    def _matching(self, statement: str, question: str, language: str) -> Ranking:
        with connection.cursor() as cursor:
            cursor.execute(
                self._on_table(statement),
                {"tenant": self.name, "question": question, "language": language, "depth": DEPTH},
            )
            return [id_ for (id_,) in cursor.fetchall()]

    def _on_table(self, statement: str) -> str:
        return statement.format(table=self.model._meta.db_table)


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
