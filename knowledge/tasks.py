"""Background tasks of the knowledge app."""

from celery import shared_task

from knowledge.graph.mirror import copy_pending, mirror_lag
from knowledge.graph.neo4j_driver import NEO4J_DOWN, site_neo4j


@shared_task
def mirror_graph() -> int:
    """Copy pending changes to Neo4j and return their number: 0 while Neo4j is down."""
    neo = site_neo4j()
    if neo is None or not mirror_lag().pending:
        return 0
    try:
        return copy_pending(neo)
    except NEO4J_DOWN:
        return 0
