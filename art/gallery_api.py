"""REST for galleries: the pictures of a lore entry or an NPC in their order, and what is said of
each there. The operations on a single place are beside those of its picture."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Path

from art import pictures
from art.galleries import gallery_of
from art.picture_api import find_use, present_use, router
from art.schemas import GalleryOrder, GalleryOut, PictureUseChange, PictureUseOut
from episodes.field_types import Storable
from worlds.callers import Caller
from worlds.rest import require_gm
from worlds.rest_rows import require_unchanged, with_tag

GALLERY = "/galleries/{place}"
Place = Annotated[
    str, Path(max_length=60, description="Whose gallery: `lore:<id>` or `npc:<id>`."), Storable
]


@router.get(
    GALLERY,
    operation_id="gallery_get",
    summary="Get a gallery",
    response=GalleryOut,
)
def get_gallery(request: HttpRequest, response: HttpResponse, place: Place) -> GalleryOut:
    """The pictures of a lore entry or an NPC, in the order in which its page shows them."""
    caller = require_gm(request)
    thing = pictures.find_thing(caller.world, place, campaign=caller.campaign)
    return with_tag(response, present_gallery(caller, thing))


@router.put(
    GALLERY,
    operation_id="gallery_arrange",
    summary="Put a gallery in order",
    response=GalleryOut,
)
def put_gallery(
    request: HttpRequest, response: HttpResponse, place: Place, entry: Body[GalleryOrder]
) -> GalleryOut:
    """Send the ids of all its places once, the first one first. 409 when others are there by
    now."""
    caller = require_gm(request)
    thing = pictures.find_thing(caller.world, place, campaign=caller.campaign)
    with require_unchanged(request, thing, lambda thing: present_gallery(caller, thing)):
        pictures.arrange(thing, entry.uses)
    return with_tag(response, present_gallery(caller, thing))


@router.patch(
    "/pictures/{uuid:picture_id}/uses/{uuid:use_id}",
    operation_id="picture_use_change",
    summary="Change one place of a picture",
    response=PictureUseOut,
)
def patch_use(
    request: HttpRequest,
    response: HttpResponse,
    picture_id: UUID,
    use_id: UUID,
    change: Body[PictureUseChange],
) -> PictureUseOut:
    """Make it the portrait, or hide it from players there. The fields that are sent change."""
    require_gm(request)
    use = find_use(request, picture_id, use_id)
    with require_unchanged(request, use, present_use):
        if change.portrait is not None:
            pictures.set_portrait(use, change.portrait)
        if change.hidden is not None:
            pictures.set_hidden(use, change.hidden)
    return with_tag(response, present_use(find_use(request, picture_id, use_id)))


def present_gallery(caller: Caller, thing: pictures.Thing) -> GalleryOut:
    return GalleryOut(uses=[present_use(use) for use in gallery_of(thing, caller.audience).uses])
