"""Scores raised by those of the memories written just before and after."""

from collections.abc import Sequence
from dataclasses import replace

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
    with connection.cursor() as cursor:
        cursor.execute(BESIDE, {"namespace": namespace.pk, "ids": list(scores)})
        neighbor_ids = {pk: beside for pk, *beside in cursor.fetchall()}
    new_hits = []
    for hit in hits:
        of_neighbors = sum(scores.get(pk, 0.0) for pk in neighbor_ids.get(hit.id, ()))
        new_hits.append(replace(hit, score=hit.score + share * of_neighbors))
    return sorted(new_hits, key=lambda hit: (-hit.score, str(hit.id)))
