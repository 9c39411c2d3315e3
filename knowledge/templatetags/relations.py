"""Template words for facts."""

from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

from knowledge.graph import labels
from knowledge.graph.labels import FactInWords
from knowledge.graph.models import SourceKind

register = template.Library()


@register.filter
def in_words(edge: Any) -> FactInWords:
    """Show a `GraphEdge` as it was written."""
    return labels.in_words(edge)


@register.simple_tag(takes_context=True)
def source_link(context: template.Context, edge: Any) -> str:
    """Return the address of the page on which the source of a `GraphEdge` is read, or ""."""
    # After "#" stands a place in the source.
    kind, _colon, slug = edge.source_ref.partition("#")[0].rpartition(":")
    pages = {"lore": "lore-entry", "npc": "npc"}
    if edge.source_kind == SourceKind.EPISODE:
        page, slug = "episode", edge.source_ref
    else:
        page = pages.get(kind or edge.source_kind, "")
    try:
        return reverse(page, args=[context["world"].slug, slug]) if page and slug else ""
    except NoReverseMatch:  # words of somebody's own, no slug
        return ""
