"""Entities and facts of a test's world, in short form."""

from collections.abc import Iterable
from typing import Any

from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from worlds.models import World


def write_facts(
    world: World,
    entities: Iterable[tuple[str, str, str, list[str]]],
    facts: Iterable[dict[str, Any]],
) -> None:
    """Write `entities` as (slug, kind, name, aliases), and `facts` as edges between slugs."""
    nodes = [
        {"node": {"slug": slug, "kind": kind, "name": name, "aliases": aliases}}
        for slug, kind, name, aliases in entities
    ]
    rows = [*nodes, *({"edge": fact} for fact in facts)]
    upsert_facts(world, [GraphFact.model_validate(row) for row in rows])
