"""Scores raised by those of the memories written just before and after."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import connection

from memories.models import Namespace
from retrieval.search import Hit

BESIDE = """
SELECT memory.id, before.id, after.id
FROM memories_memoryitem memory
LEFT JOIN LATERAL (
    SELECT id FROM memories_memoryitem
    WHERE namespace_id = %(namespace)s AND state = memory.state
      AND timestamp_ms < memory.timestamp_ms
    ORDER BY timestamp_ms DESC LIMIT 1
) before ON true
LEFT JOIN LATERAL (
    SELECT id FROM memories_memoryitem
    WHERE namespace_id = %(namespace)s AND state = memory.state
      AND timestamp_ms > memory.timestamp_ms
    ORDER BY timestamp_ms LIMIT 1
) after ON true
WHERE memory.id = ANY(%(ids)s)
"""


def add_neighbor_scores(namespace: Namespace, hits: Sequence[Hit], *, share: float) -> list[Hit]:
    """Add to each score `share` of the neighbours' scores; return the hits, best first."""
    scores = {hit.id: hit.score for hit in hits}
    beside = neighbor_ids(namespace, list(scores))
    rescored = [
        replace(
            hit, score=hit.score + share * sum(scores.get(pk, 0.0) for pk in beside.get(hit.id, ()))
        )
        for hit in hits
    ]
    return sorted(rescored, key=lambda hit: (-hit.score, str(hit.id)))


def neighbor_ids(namespace: Namespace, ids: list[UUID]) -> dict[UUID, list[UUID]]:
    with connection.cursor() as cursor:
        cursor.execute(BESIDE, {"namespace": namespace.pk, "ids": ids})
        return {row[0]: [pk for pk in row[1:] if pk] for row in cursor.fetchall()}
