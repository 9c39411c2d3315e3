"""The last leg of a search: memories that a language model wrote, found by the words of what they
rest on. A question in words that the model left out finds them by these alone."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection

from memories.found_memory import FoundMemory
from memories.models import Namespace
from memories.querysets import MemoryQuerySet
from memories.similarity.question_type import content_words
from memories.states import Maker
from retrieval.text import storage_flaw

MOST = 1
"""Memories that the leg may add: each takes the last place of a full answer."""
MIN_WORDS = 2
"""One word alone may be in any observation."""

# The expression is that of the index `memory_observation_words`.
BY_WORDS = """
SELECT evidence.memory_id
FROM memories_observation observation
JOIN memories_evidence evidence ON evidence.observation_id = observation.id
WHERE observation.namespace_id = %(namespace)s
  AND to_tsvector('russian', left(observation.text, 100000))
      @@ plainto_tsquery('russian', %(words)s)
ORDER BY observation.recorded_at DESC
LIMIT 50
"""


def find_by_observation(
    namespace: Namespace, query: str, rows: MemoryQuerySet, *, found: Collection[UUID]
) -> list[FoundMemory]:
    """Return up to `MOST` of `rows` that a model wrote, are not `found`, and rest on an observation
    with every content word of the query; latest observation first."""
    # Only a model words a memory otherwise than its observation.
    written = rows.filter(made_by=Maker.MODEL)
    words = [] if storage_flaw(query) else content_words(query)
    if len(words) < MIN_WORDS or not written.exists():
        return []
    values: dict[str, Any] = {"namespace": namespace.pk, "words": " ".join(words)}
    with connection.cursor() as cursor:
        cursor.execute(BY_WORDS, values)
        ids = [pk for (pk,) in cursor.fetchall()]
    others = set(ids) - set(found)
    items = written.without_index_columns().in_bulk(others)
    memories = [FoundMemory.of_row(items[pk]) for pk in dict.fromkeys(ids) if pk in items]
    return [replace(memory, match="observation") for memory in memories[:MOST]]
