"""Translated words for relations and facts."""

from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

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


class FactInWords(NamedTuple):
    """A fact as its source wrote it: who or what, the relation, to whom or what. The ends are
    `GraphNode`s, which know these words themselves."""

    subject: Any
    words: str
    target: Any


def in_words(fact: Any) -> FactInWords:
    """Return a `GraphEdge` in the direction in which it was written, which is not always the stored
    one."""
    if fact.written_as:
        return FactInWords(fact.dst, relation_label(fact.written_as, fact.label), fact.src)
    return FactInWords(fact.src, relation_label(fact.relation_id, fact.label), fact.dst)


def fact_sentence(fact: Any) -> str:
    """Return a fact as a short sentence: *Mira Voss knows Jory Fenn*."""
    subject, words, target = in_words(fact)
    return f"{subject} {words} {target}"
