"""Entities follow their lore entry or NPC when that is revealed, and when a reveal is undone."""

from typing import Any

from django.db.models import QuerySet

from knowledge.graph.models import GraphNode
from worlds.audiences import Guarded, Visibility
from worlds.models import Reveal
from worlds.reveals import entries_in_force


def open_entities_of(subject: Guarded, nodes: "QuerySet[GraphNode, Any]") -> None:
    """Make `nodes`, the entities of `subject`, known to whom `subject` was revealed: whoever knows
    a thing knows its name in relations, too."""
    reveals = entries_in_force(subject).values_list("audience", flat=True)
    opened_to = set(reveals) & set(subject.known_to)
    for node in nodes if opened_to else ():
        if node.visibility != Visibility.PUBLIC and not opened_to <= set(node.known_to):
            node.known_to = sorted({*node.known_to, *opened_to})
            node.visibility = Visibility.REVEALED
            node.save(update_fields=["known_to", "visibility"])


def hide_entities_of(subject: Guarded, nodes: "QuerySet[GraphNode, Any]") -> None:
    """Hide `nodes`, the entities of `subject`, from the audiences whose reveals of `subject` were
    undone. Reveals of an entity itself stay in force."""
    log = Reveal.objects.filter(subject_kind=subject._meta.model_name, subject_id=subject.pk)
    undone = set(log.exclude(undone_at=None).values_list("audience", flat=True))
    hidden_from = undone - set(subject.known_to)
    for node in nodes if hidden_from else ():
        own = set(entries_in_force(node).values_list("audience", flat=True))
        known_to = sorted(set(node.known_to) - (hidden_from - own))
        if known_to != sorted(node.known_to):
            node.known_to = known_to
            if node.visibility == Visibility.REVEALED and not known_to:
                node.visibility = Visibility.GM
            node.save(update_fields=["known_to", "visibility"])
