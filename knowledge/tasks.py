"""Work that goes on beside requests."""

from celery import shared_task

from knowledge.graph import mirror
from knowledge.graph.neo4j_driver import NEO4J_DOWN, site_neo4j


@shared_task
def mirror_graph() -> int:
    """Copy to Neo4j what is pending and return how many changes that was. Neo4j is down: they wait."""
    neo = site_neo4j()
    if neo is None or not mirror.mirror_lag().pending:
        return 0
    try:
        return mirror.copy_pending(neo)
    except NEO4J_DOWN:
        return 0
