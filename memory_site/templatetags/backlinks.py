"""`{% mentions entry=entry %}` or `{% mentions npc=npc %}`: what mentions a thing."""

from typing import Any

from django import template

from memory_site.editor.backlinks import Mentions, mentions_of_entry, mentions_of_npc

register = template.Library()


@register.simple_tag(takes_context=True)
def mentions(context: template.Context, entry: Any = None, npc: Any = None) -> Mentions:
    """Return the texts and episodes that mention the thing and that the viewer may know."""
    viewer = context["viewer"]
    return mentions_of_npc(viewer, npc) if npc else mentions_of_entry(viewer, entry)
