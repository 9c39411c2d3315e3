"""Transitive queries: ancestors along a relation, and the facts that rest on a fact."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from knowledge.graph import sql
from knowledge.graph.models import GraphEdge


def ancestors(starts: Sequence[UUID], relation: str) -> dict[UUID, set[UUID]]:
    """Return, for each of `starts`, all nodes that it leads to along the relation."""
    above: dict[UUID, set[UUID]] = {start: set() for start in starts}
    with connection.cursor() as cursor:
        cursor.execute(sql.ANCESTORS, {"starts": list(starts), "relation": relation})
        for start, ancestor in cursor.fetchall():
            above[start].add(ancestor)
    return above


def dependants(ids: Sequence[UUID]) -> list[GraphEdge]:
    """Return the believed facts that rest on these, directly or through others."""
    with connection.cursor() as cursor:
        cursor.execute(sql.DEPENDANTS, {"ids": list(ids)})
        dependant_ids = [row[0] for row in cursor.fetchall()]
    facts = GraphEdge.objects.believed_now().filter(pk__in=dependant_ids)
    return list(facts.select_related("src", "dst"))
