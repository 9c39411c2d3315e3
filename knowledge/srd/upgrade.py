"""Bring an imported SRD in step with the packaged rules after an upgrade: rules and names that were
added or changed. What people edited, added or deleted stays as it is."""

import logging

from knowledge.models import Document
from knowledge.srd.load import load_srd
from knowledge.srd.rules_version import is_outdated
from knowledge.srd.source import EDITIONS, fetch
from retrieval.errors import Problem

logger = logging.getLogger(__name__)


def outdated_documents() -> list[Document]:
    """Return the imported editions of the SRD that another version of the product wrote."""
    slugs = [edition.slug for edition in EDITIONS.values()]
    documents = Document.objects.filter(world=None, slug__in=slugs).select_related("system")
    return [document for document in documents if is_outdated(document)]


def update_documents() -> int:
    """Import the editions that are outdated again; return how many rules were created or changed.
    Where the package is not to be had, the next call tries again."""
    count = 0
    for document in outdated_documents():
        edition = next(each for each in EDITIONS.values() if each.slug == document.slug)
        assert document.system is not None
        try:
            tables = fetch(edition)
            counts = load_srd(edition, tables, system=document.system, keep_changes=True)
        except Problem as problem:
            logger.warning("%s: not updated now: %s", document.title, problem)
            continue
        count += counts["created"] + counts["changed"]
        logger.info("%s was updated: %s", document.title, dict(counts))
    return count
