"""REST endpoints for uploaded pictures: files, descriptions, and the galleries that show them."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, File, Form, Query, Router, Status, UploadedFile

from art import pictures
from art.galleries import pictures_to_list
from art.models import Picture, PictureUse
from art.schemas import (
    PictureChange,
    PictureIn,
    PictureList,
    PictureOut,
    PicturePlaceIn,
    PictureUseList,
    PictureUseOut,
)
from art.views import file_response
from episodes.api import name_of
from episodes.field_types import Storable
from retrieval.errors import NotFound
from worlds.audiences import Audience, Visibility
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.rest import NeedsKey, caller_of, check_match, expecting, require_gm, tag
from worlds.rest_rows import digest_of_answer, require_unchanged, set_location, with_tag

router = Router(tags=["art"], auth=NeedsKey(Scope.WORLD_WRITE))
READ = NeedsKey(Scope.TOOLS_READ)
Words = Annotated[str, Query(max_length=200), Storable]
MOST_PICTURES = 100
FILE = {
    "description": "The file.",
    "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
}


@router.post(
    "/pictures",
    operation_id="picture_upload",
    summary="Upload a picture",
    response={201: PictureOut},
)
def upload_picture(
    request: HttpRequest,
    response: HttpResponse,
    file: File[UploadedFile],
    fields: Form[PictureIn],
) -> Any:
    """As multipart/form-data: `file` is a PNG, JPEG, WebP, GIF or AVIF of up to 20 MB. The same
    file again is the same picture."""
    caller = require_gm(request)
    thing = (
        pictures.find_thing(caller.world, fields.place, campaign=caller.campaign)
        if fields.place
        else None
    )
    picture = pictures.store_picture(
        caller.world,
        file,
        alt=fields.alt,
        caption=fields.caption,
        by=name_of(caller),
        visibility=fields.visibility,
    )
    if thing:
        pictures.place_picture(picture, thing, is_portrait=fields.portrait)
    set_location(response, f"world/pictures/{picture.pk}")
    tag(response, picture.version)
    return Status(201, present_picture(picture, caller.audience))


@router.get(
    "/pictures",
    operation_id="picture_list",
    summary="List pictures",
    response=PictureList,
    auth=READ,
)
def list_pictures(
    request: HttpRequest,
    show: Literal["all", "unused", "deleted"] = "all",
    q: Words = "",
    limit: Annotated[int, Query(ge=1, le=MOST_PICTURES)] = 50,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> PictureList:
    """Those that the key's audience may see. `q`: words of description or caption, for the audience
    gm of the name, too.
    `deleted` ones are for the audience gm alone."""
    caller = require_gm(request) if show == "deleted" else caller_of(request)
    rows = pictures_to_list(caller.world, caller.audience, show=show, q=q)
    total = rows.count()
    return PictureList(
        pictures=[present_picture(row, caller.audience) for row in rows[offset : offset + limit]],
        total=total,
        truncated=total > offset + limit,
    )


@router.get(
    "/pictures/{uuid:picture_id}",
    operation_id="picture_get",
    summary="Get a picture's description",
    response=PictureOut,
    auth=READ,
)
def get_picture(request: HttpRequest, response: HttpResponse, picture_id: UUID) -> PictureOut:
    """Its texts, its size and the Markdown that shows it; `…/file` is the file."""
    audience = caller_of(request).audience
    picture = visible_picture(request, picture_id)
    answer = present_picture(picture, audience)
    # The version counts changes of the visibility too, of which players are not told.
    tag(response, picture.version if audience.is_gm else digest_of_answer(answer))
    return answer


@router.patch(
    "/pictures/{uuid:picture_id}",
    operation_id="picture_change",
    summary="Change a picture's description",
    response=PictureOut,
)
def patch_picture(
    request: HttpRequest, response: HttpResponse, picture_id: UUID, change: Body[PictureChange]
) -> PictureOut:
    """The fields that are sent change; the file stays. Another file is another picture."""
    caller = require_gm(request)
    picture = visible_picture(request, picture_id)
    values = {
        "alt": picture.alt,
        "caption": picture.caption,
        **change.model_dump(exclude_unset=True),
    }
    with expecting(request, picture.version) as version:
        picture = pictures.change_picture(picture, **values, expected_version=version)
    tag(response, picture.version)
    return present_picture(picture, caller.audience)


@router.get(
    "/pictures/{uuid:picture_id}/file",
    operation_id="picture_file",
    summary="Get a picture's file",
    auth=READ,
    openapi_extra={"responses": {200: FILE}},
)
def get_picture_file(
    request: HttpRequest,
    picture_id: UUID,
    size: Literal["file", "preview", "thumbnail"] = "file",
) -> Any:
    """`preview` has at most 1280, `thumbnail` 320 pixels a side (WebP)."""
    picture = visible_picture(request, picture_id)
    return file_response(request, picture, size, caller_of(request).audience)


@router.delete(
    "/pictures/{uuid:picture_id}",
    operation_id="picture_delete",
    summary="Delete a picture",
    response={204: None},
)
def delete_picture(request: HttpRequest, picture_id: UUID) -> Any:
    """It is shown nowhere any more, and can be restored on its page for some weeks."""
    require_gm(request)
    picture = visible_picture(request, picture_id)
    check_match(request, picture.version)
    pictures.delete_pictures([picture])
    return Status(204, None)


@router.post(
    "/pictures/{uuid:picture_id}/restore",
    operation_id="picture_restore",
    summary="Restore a deleted picture",
    response=PictureOut,
)
def restore_picture(request: HttpRequest, response: HttpResponse, picture_id: UUID) -> PictureOut:
    """It is shown again wherever it was."""
    caller = require_gm(request)
    deleted = Picture.objects.in_world(caller.world).filter(deleted_at__isnull=False)
    picture: Picture | None = deleted.filter(pk=picture_id).first()
    if picture is None:
        raise NotFound(f"There is no picture {picture_id} among the deleted ones.")
    pictures.restore_picture(picture)
    tag(response, picture.version)
    return present_picture(picture, caller.audience)


@router.post(
    "/pictures/{uuid:picture_id}/uses",
    operation_id="picture_place",
    summary="Add a picture to a gallery",
    response={201: PictureUseOut},
)
def place_picture(
    request: HttpRequest, response: HttpResponse, picture_id: UUID, entry: Body[PicturePlaceIn]
) -> Status[PictureUseOut]:
    """Of a lore entry or an NPC. Placing it again changes nothing."""
    caller = require_gm(request)
    thing = pictures.find_thing(caller.world, entry.place, campaign=caller.campaign)
    use = pictures.place_picture(
        visible_picture(request, picture_id),
        thing,
        is_portrait=entry.portrait,
        is_hidden=entry.hidden,
    )
    set_location(response, f"world/pictures/{picture_id}/uses/{use.pk}")
    return Status(201, with_tag(response, present_use(use)))


@router.get(
    "/pictures/{uuid:picture_id}/uses",
    operation_id="picture_use_list",
    summary="Where a picture is shown",
    response=PictureUseList,
)
def list_uses(request: HttpRequest, picture_id: UUID) -> PictureUseList:
    """The galleries that show it. Texts show it by its Markdown and are not listed."""
    require_gm(request)
    uses = uses_of_picture(request, picture_id)
    return PictureUseList(uses=[present_use(use) for use in uses[:MOST_PICTURES]])


@router.get(
    "/pictures/{uuid:picture_id}/uses/{uuid:use_id}",
    operation_id="picture_use_get",
    summary="Get one place of a picture",
    response=PictureUseOut,
)
def get_use(
    request: HttpRequest, response: HttpResponse, picture_id: UUID, use_id: UUID
) -> PictureUseOut:
    """Whose gallery it is, and whether the picture is the portrait there."""
    require_gm(request)
    return with_tag(response, present_use(find_use(request, picture_id, use_id)))


@router.delete(
    "/pictures/{uuid:picture_id}/uses/{uuid:use_id}",
    operation_id="picture_use_remove",
    summary="Take a picture out of a gallery",
    response={204: None},
)
def remove_use(request: HttpRequest, picture_id: UUID, use_id: UUID) -> Status[None]:
    """The picture stays in the world; placing it again brings it back."""
    require_gm(request)
    use = find_use(request, picture_id, use_id)
    with require_unchanged(request, use, present_use):
        pictures.remove_use(use)
    return Status(204, None)


def uses_of_picture(request: HttpRequest, picture_id: UUID) -> Any:
    """The places of the picture; for a key that is bound to a campaign none of other campaigns."""
    uses: Any = visible_picture(request, picture_id).uses
    return uses.present().in_campaign(caller_of(request).campaign)


def find_use(request: HttpRequest, picture_id: UUID, use_id: UUID) -> PictureUse:
    uses = uses_of_picture(request, picture_id)
    use: PictureUse | None = uses.filter(pk=use_id).first()
    if use is None:
        raise NotFound(f"The picture {picture_id} has no place {use_id}.")
    return use


def present_use(use: PictureUse) -> PictureUseOut:
    kind, row_id = ("lore", use.lore_id) if use.lore_id else ("npc", use.npc_id)
    return PictureUseOut(
        id=use.pk,
        place=f"{kind}:{row_id}",
        picture_id=use.picture_id,
        portrait=use.is_portrait,
        hidden=use.is_hidden,
    )


def visible_picture(request: HttpRequest, picture_id: UUID) -> Picture:
    caller = caller_of(request)
    rows = Picture.objects.in_world(caller.world).visible_to(caller.audience).present()
    picture: Picture = find_by_id(rows, picture_id, what="picture")
    return picture


def present_picture(picture: Picture, audience: Audience) -> PictureOut:
    return PictureOut(
        id=str(picture.pk),
        name=pictures.shown_name(picture, audience),
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        size=picture.size,
        alt=picture.alt,
        caption=picture.caption,
        markdown=pictures.markdown_of(picture),
        updated_at=picture.updated_at if audience.is_gm else None,
        visibility=Visibility(picture.visibility) if audience.is_gm else None,
    )
