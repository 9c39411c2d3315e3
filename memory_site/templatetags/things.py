"""Template words for the pages of things."""

from typing import Any

from django import template
from django.urls import reverse

from knowledge.graph.models import GraphNode
from memory_site.editor.things import Thing
from worlds.models import World

register = template.Library()


@register.filter
def address(thing: Thing, page: str) -> str:
    """The address of the thing's page `edit`, `history` or `delete`."""
    return thing.address(page)


@register.filter
def entity_address(node: GraphNode, world: World) -> str:
    """The page of an entity: that of its NPC or its entry, else its surroundings in the graph."""
    return reverse("entity", args=[world.slug, node.slug])


@register.filter
def audience_name(audience: str, names: dict[str, str]) -> str:
    return (names or {}).get(audience, audience)


@register.filter
def audience_list(audiences: list[str], names: dict[str, str]) -> str:
    """Names of parties and NPCs; an audience that is gone by its id."""
    return ", ".join(audience_name(audience, names) for audience in audiences)


@register.filter
def plain_number(number: Any) -> str:
    """A number as a form's input takes it, in every language; nothing for None."""
    return "" if number in (None, "") else f"{float(number):.15g}"
