"""Template words for facts."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from knowledge.graph import labels
from knowledge.graph.labels import FactInWords
from knowledge.graph.models import SCENE, SourceKind

register = template.Library()


@register.filter
def in_words(edge: Any) -> FactInWords:
    """Show a `GraphEdge` as it was written."""
    return labels.in_words(edge)


@register.simple_tag
def name_options(names: Iterable[str]) -> SafeString:
    """Show names as options of a list of suggestions."""
    return options_of(tuple(names))


@lru_cache(30)
def options_of(names: tuple[str, ...]) -> SafeString:
    """Kept, because to escape thousands takes longer than the rest of a page."""
    return format_html_join("", '<option value="{}"></option>', ((name,) for name in names))


@register.filter
def source_kind(kind: str) -> str:
    """Return the name of a kind of sources."""
    return str(SourceKind(kind).label)


@register.simple_tag(takes_context=True)
def source_link(context: template.Context, edge: Any) -> str:
    """Return the address of the page on which the source of a `GraphEdge` is read, or ""."""
    return source_page(context, edge.source_kind, edge.source_ref)


@register.simple_tag(takes_context=True)
def source_page(context: template.Context, source: str, ref: str) -> str:
    """Return the address of the page on which a source is read, by its kind and id, or ""."""
    # After "#" stands a place in the source.
    kind, _colon, slug = ref.partition("#")[0].rpartition(":")
    pages = {"lore": "lore-entry", "npc": "npc"}
    if source == SourceKind.EPISODE:
        page, slug = "episode", ref.removesuffix(SCENE)
    else:
        page = pages.get(kind or source, "")
    try:
        return reverse(page, args=[context["world"].slug, slug]) if page and slug else ""
    except NoReverseMatch:  # words of somebody's own, no slug
        return ""
