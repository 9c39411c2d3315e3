"""Template words for facts."""

from typing import Any

from django import template

from knowledge.graph.labels import relation_label

register = template.Library()


@register.filter
def in_words(edge: Any) -> str:
    """Show the relation of a `GraphEdge`."""
    return relation_label(edge.relation_id, edge.label)
