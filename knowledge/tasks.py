"""Work that goes on beside requests."""

from celery import shared_task

from knowledge.graph import mirror
from knowledge.graph.neo4j_driver import DOWN, neo4j_of_site


@shared_task
def mirror_graph() -> int:
    """Copy to Neo4j what is pending and return how many changes that was. Neo4j is down: they wait."""
    neo = neo4j_of_site()
    if neo is None or not mirror.lag().pending:
        return 0
    try:
        return mirror.catch_up(neo)
    except DOWN:
        return 0
