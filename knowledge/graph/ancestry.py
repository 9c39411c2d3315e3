"""What leads where: along a transitive relation, and from a fact to what rests on it."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from knowledge.graph import sql
from knowledge.graph.models import GraphEdge


def ancestors(starts: Sequence[UUID], relation: str) -> dict[UUID, set[UUID]]:
    """Return what each of `starts` leads to along a relation, however far."""
    above: dict[UUID, set[UUID]] = {start: set() for start in starts}
    with connection.cursor() as cursor:
        cursor.execute(sql.ANCESTORS, {"starts": list(starts), "relation": relation})
        for start, found in cursor.fetchall():
            above[start].add(found)
    return above


def dependants(ids: Sequence[UUID]) -> list[GraphEdge]:
    """Return the believed facts that rest on these, directly or through others."""
    with connection.cursor() as cursor:
        cursor.execute(sql.DEPENDANTS, {"ids": list(ids)})
        found = [row[0] for row in cursor.fetchall()]
    return list(GraphEdge.objects.believed().filter(pk__in=found).select_related("src", "dst"))
