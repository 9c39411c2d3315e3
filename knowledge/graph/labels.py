"""Translated words for relations and facts."""

from django.utils.translation import gettext_lazy as _

from knowledge.graph.models import GraphEdge

RELATION_LABELS = {
    "KNOWS": _("knows"),
    "LOCATED_IN": _("is in"),
    "OWNS": _("owns"),
    "OWNED_BY": _("belongs to"),
    "ALLY_WITH": _("is allied with"),
    "ENEMY_OF": _("is an enemy of"),
    "PART_OF": _("is part of"),
    "INVOLVES": _("involves"),
    "RELATES_TO": _("is related to"),
}


def relation_label(code: str, label: str = "") -> str:
    """Return the edge's own label, else the relation's translated name, else its code in lower
    case."""
    return label or (
        str(RELATION_LABELS[code]) if code in RELATION_LABELS else code.replace("_", " ").lower()
    )


def fact_sentence(fact: GraphEdge) -> str:
    """Return a fact as a short sentence: *Mira Voss knows Jory Fenn*."""
    return f"{fact.src} {relation_label(fact.relation_id, fact.label)} {fact.dst}"
