"""Template words for pictures.

{% gallery_of entry as gallery %}         what the viewer may see of a lore entry or NPC
{% portraits_of page_obj as portraits %}  one statement for a whole list
{% portrait portraits entry %}            the small picture of one row, or nothing
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django import template

from art.galleries import Gallery
from art.galleries import gallery_of as read_gallery
from art.galleries import portraits_of as read_portraits
from art.models import Picture, PictureUse
from art.pictures import Thing

register = template.Library()
LAST_REMOVED = "last_removed_picture"


@register.simple_tag(takes_context=True)
def gallery_of(context: template.Context, thing: Thing) -> Gallery:
    return read_gallery(thing, context["viewer"].audience)


@register.simple_tag(takes_context=True)
def portraits_of(
    context: template.Context, things: Iterable[Thing], shown_to: Any = None
) -> dict[UUID, Picture]:
    """`shown_to` is another viewer than that of the page."""
    return read_portraits(things, (shown_to or context["viewer"]).audience)


@register.inclusion_tag("gm/parts/portrait.html", takes_context=True)
def portrait(context: template.Context, portraits: Mapping[UUID, Picture], thing: Any) -> Any:
    return {"world": context["world"], "picture": portraits.get(thing.pk), "thing": thing}


@register.simple_tag(takes_context=True)
def removed_from(context: template.Context, thing: Thing) -> PictureUse | None:
    """The use that this game master took out of the gallery of `thing` last, for "Undo"."""
    key = context["request"].session.get(LAST_REMOVED)
    if not key or not context["viewer"].is_gm:
        return None
    removed = thing.picture_uses.filter(pk=key, removed_at__isnull=False)
    use: PictureUse | None = removed.select_related("picture").first()
    return use


@register.simple_tag
def place_of(thing: Any) -> str:
    """The name of a gallery for the upload form: `lore:<id>` or `npc:<id>`."""
    return f"{thing._meta.model_name}:{thing.pk}"


@register.filter
def shown_address(url: str) -> str:
    """The address of a picture as a page can show it. One on this computer is the site's own,
    whatever the host and port that the page is read at: the demo's are."""
    parts = urlsplit(url)
    return parts.path if parts.hostname in ("localhost", "127.0.0.1") else url
