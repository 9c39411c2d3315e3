"""Which version of the packaged rules an imported SRD has, and what people changed in it."""

import hashlib
from functools import cache
from pathlib import Path

from knowledge.glossary.terms import TERMS
from knowledge.models import Document, Rule
from knowledge.srd.source import PACKAGE, VERSION
from retrieval.models import UpgradeStep

RENDERERS = sorted(Path(__file__).parent.glob("*.py"))
"""The modules of this package: they make the rules of the data set's rows."""


@cache
def rules_version() -> str:
    """Return a digest of what an import writes: of the data set's version, of the code that renders
    it, and of the glossary. Another digest costs an import that changes nothing."""
    digest = hashlib.sha256(VERSION.encode())
    for path in (*RENDERERS, TERMS):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def step_name(document: Document) -> str:
    return f"rules {document.slug} {document.system_id}"


def is_outdated(document: Document) -> bool:
    steps = UpgradeStep.objects.filter(name=step_name(document), version=rules_version())
    return not steps.exists()


def record_current(document: Document) -> None:
    UpgradeStep.objects.update_or_create(
        name=step_name(document), defaults={"version": rules_version()}
    )


def keys_changed_by_people(document: Document) -> set[str]:
    """Return the ids of the document's rules that somebody edited, added or deleted: whose last
    version is not from an import."""
    last = Rule.history.filter(document_id=document.pk)
    last = last.order_by("id", "-history_date", "-history_id").distinct("id")
    rows = last.values_list("key", "history_type", "history_change_reason")
    return {
        key for key, kind, reason in rows if kind == "-" or not (reason or "").startswith(PACKAGE)
    }
