"""Background tasks of the knowledge app."""

from celery import shared_task

from knowledge.graph.mirror import copy_pending, mirror_lag
from knowledge.graph.neo4j_driver import NEO4J_DOWN, site_neo4j
from knowledge.srd.upgrade import outdated_documents, update_documents
from retrieval.indexing import exclusive


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


@shared_task(is_bulk=True)
def update_rules() -> int:
    """After an upgrade, import what was added to the packaged rules, where the SRD was imported
    before. Return how many rules were created or changed; the next sweep embeds them."""
    if not outdated_documents():
        return 0
    with exclusive("update rules") as is_alone:
        return update_documents() if is_alone else 0
