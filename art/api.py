"""REST endpoints for uploaded pictures, and for art cards and their moderation."""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse
from ninja import Body, File, Form, Path, Query, Router, Status, UploadedFile
from pydantic import Field

from art import pictures
from art.galleries import pictures_to_list
from art.models import ArtCard, Picture
from art.schemas import (
    ArtCardOut,
    ArtCardsIn,
    ArtCardWrite,
    ArtPage,
    ArtUpsertOut,
    Moderation,
    ModerationIn,
    PictureIn,
    PictureList,
    PictureOut,
)
from art.suggestions import present_card
from art.upsert import find_card, ingest_art, moderate_card
from episodes.api import name_of
from episodes.field_types import Storable
from retrieval.errors import NotFound
from retrieval.tasks import embed_soon
from worlds.audiences import GM, Audience, Visibility
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, check_match, expecting, require_gm, tag
from worlds.rest_lists import ListQuery, page_of

router = Router(tags=["art"], auth=NeedsKey(Scope.WORLD_WRITE))
READ = NeedsKey(Scope.TOOLS_READ)
Reference = Annotated[str, Path(max_length=200)]
Words = Annotated[str, Query(max_length=200), Storable]
MOST_PICTURES = 100
SORTS = {"created": "id", "updated": "updated_at", "name": "external_id"}
FILE = {
    "description": "The file.",
    "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
}


class ArtListQuery(ListQuery):
    moderation: Moderation | None = None
    scene_id: Annotated[str | None, Field(max_length=200, description="Of this scene alone.")] = (
        None
    )


@router.put(
    "/art", operation_id="art_upsert", summary="Create or update an art card", response=ArtUpsertOut
)
def upsert(request: HttpRequest, response: HttpResponse, entry: Body[ArtCardWrite]) -> ArtUpsertOut:
    """By its image id. The picture itself is never fetched. `If-Match` or `version` refuses the
    change of a card that others have changed since it was read."""
    caller = require_gm(request)
    rows = ArtCard.objects.filter(world=caller.world, external_id=entry.image_id)
    stored = rows.values_list("version", flat=True).first()
    with expecting(request, stored, in_body=entry.version) as version:
        report = upsert_and_embed(caller, entry, version)
    tag(response, report.version)
    return report


@router.post(
    "/art/bulk",
    operation_id="art_upsert_bulk",
    summary="Create or update many art cards",
    response=BulkReport,
)
def upsert_bulk(request: HttpRequest, batch: Body[ArtCardsIn]) -> BulkReport:
    """Up to 500 cards, with a report on each; `atomic` writes all or none."""
    write = partial(upsert_and_embed, require_gm(request))
    return write_all(batch.cards, ArtCardWrite, write, atomic=batch.atomic, id_field="image_id")


@router.get("/art", operation_id="art_list", summary="List art cards", response=ArtPage)
def list_cards(
    request: HttpRequest, response: HttpResponse, query: Query[ArtListQuery]
) -> dict[str, Any]:
    """As a game master sees them."""
    caller = require_gm(request)
    rows: Any = ArtCard.objects.in_world(caller.world).select_related("scene")
    if query.moderation:
        rows = rows.filter(moderation=query.moderation)
    if query.scene_id:
        rows = rows.filter(scene__external_id=query.scene_id)
    page = page_of(request, response, rows.defer("embedding", "search_vector"), query, SORTS)
    cards = [present_card(card, GM) for card in page.rows]
    return {"cards": cards, "next_cursor": page.next_cursor}


@router.delete(
    "/art/{ref}", operation_id="art_delete", summary="Delete an art card", response={204: None}
)
def delete_card(request: HttpRequest, ref: Reference) -> Any:
    """For good. An uploaded picture that it shows stays."""
    card = find_card(require_gm(request).world, ref)
    check_match(request, card.version)
    card.delete()
    return Status(204, None)


@router.get("/art/{ref}", operation_id="art_get", summary="Get an art card", response=ArtCardOut)
def get_card(request: HttpRequest, response: HttpResponse, ref: Reference) -> ArtCardOut:
    """By its image id, as a game master sees it."""
    card = find_card(require_gm(request).world, ref)
    tag(response, card.version)
    return present_card(card, GM)


@router.post(
    "/art/{ref}/moderation",
    operation_id="art_moderate",
    summary="Moderate an art card",
    response=ArtCardOut,
)
def moderate(request: HttpRequest, ref: Reference, verdict: Body[ModerationIn]) -> ArtCardOut:
    """Players see approved cards only."""
    caller = require_gm(request)
    card = find_card(caller.world, ref)
    moderate_card(card, verdict.moderation, by=name_of(caller), note=verdict.note)
    return present_card(card, GM)


def upsert_and_embed(
    caller: Caller, entry: ArtCardWrite, expected_version: int | None = None
) -> ArtUpsertOut:
    with transaction.atomic():
        card, outcome, unknown = ingest_art(
            caller.world, entry, expected_version=expected_version or entry.version
        )
        if outcome != "unchanged":
            embed_soon("art")
    return ArtUpsertOut(
        id=str(card.pk),
        image_id=card.external_id,
        outcome=outcome,
        version=card.version,
        moderation=card.moderation,
        unknown=unknown,
    )


@router.post(
    "/pictures",
    operation_id="picture_upload",
    summary="Upload a picture",
    response={201: PictureOut},
)
def upload_picture(
    request: HttpRequest,
    file: File[UploadedFile],
    fields: Form[PictureIn],
) -> Any:
    """As multipart/form-data: `file` is a PNG, JPEG, WebP, GIF or AVIF of up to 20 MB. The same
    file again is the same picture."""
    caller = require_gm(request)
    thing = pictures.find_thing(caller.world, fields.place) if fields.place else None
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
    show: Literal["all", "unused"] = "all",
    q: Words = "",
    limit: Annotated[int, Query(ge=1, le=MOST_PICTURES)] = 50,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> PictureList:
    """Those that the key's audience may see. `q`: words of name, description or caption."""
    caller = caller_of(request)
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
def get_picture(request: HttpRequest, picture_id: UUID) -> PictureOut:
    return present_picture(visible_picture(request, picture_id), caller_of(request).audience)


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
    name, kind = pictures.stored_file(picture, size)
    return FileResponse(default_storage.open(name), content_type=kind)


@router.delete(
    "/pictures/{uuid:picture_id}",
    operation_id="picture_delete",
    summary="Delete a picture",
    response={204: None},
)
def delete_picture(request: HttpRequest, picture_id: UUID) -> Any:
    """It is shown nowhere any more, and can be restored on its page for some weeks."""
    require_gm(request)
    pictures.delete_pictures([visible_picture(request, picture_id)])
    return Status(204, None)


def visible_picture(request: HttpRequest, picture_id: UUID) -> Picture:
    caller = caller_of(request)
    rows = Picture.objects.in_world(caller.world).visible_to(caller.audience).present()
    picture: Picture | None = rows.filter(pk=picture_id).first()
    if picture is None:
        raise NotFound(f"There is no picture {picture_id} in this world.")
    return picture


def present_picture(picture: Picture, audience: Audience) -> PictureOut:
    return PictureOut(
        id=str(picture.pk),
        name=picture.name,
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        size=picture.size,
        alt=picture.alt,
        caption=picture.caption,
        markdown=pictures.markdown_of(picture),
        updated_at=picture.updated_at,
        visibility=Visibility(picture.visibility) if audience.is_gm else None,
    )
