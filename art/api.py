"""REST endpoints for art cards and their moderation."""

from functools import partial
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router, Status
from pydantic import Field

from art.models import ArtCard
from art.schemas import (
    ArtCardOut,
    ArtCardsIn,
    ArtCardWrite,
    ArtPage,
    ArtUpsertOut,
    Moderation,
    ModerationIn,
)
from art.suggestions import present_card
from art.upsert import find_card, ingest_art, moderate_card
from episodes.api import name_of
from retrieval.tasks import embed_soon
from worlds.audiences import GM
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, check_match, expecting, require_gm, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import set_location

router = Router(tags=["art"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
SORTS = {"created": "id", "updated": "updated_at", "name": "external_id"}


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
    rows = ArtCard.objects.in_world(caller.world).in_campaign(caller.campaign)
    rows = rows.filter(external_id=entry.image_id)
    stored = rows.values_list("version", flat=True).first()
    with expecting(request, stored, in_body=entry.version) as version:
        report = upsert_and_embed(caller, entry, version)
    tag(response, report.version)
    if report.outcome == "created":
        set_location(response, f"world/art/{report.image_id}")
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
    rows: Any = ArtCard.objects.in_world(caller.world).in_campaign(caller.campaign)
    rows = rows.select_related("scene")
    if query.moderation:
        rows = rows.filter(moderation=query.moderation)
    if query.scene_id:
        rows = rows.filter(scene__external_id=query.scene_id)
    page = page_of(request, response, rows.defer("embedding", "search_vector"), query, SORTS)
    return page.answer("cards", partial(present_card, audience=GM))


@router.delete(
    "/art/{ref}", operation_id="art_delete", summary="Delete an art card", response={204: None}
)
def delete_card(request: HttpRequest, ref: Reference) -> Any:
    """For good. An uploaded picture that it shows stays."""
    card = find_callers_card(require_gm(request), ref)
    check_match(request, card.version)
    card.delete()
    return Status(204, None)


@router.get("/art/{ref}", operation_id="art_get", summary="Get an art card", response=ArtCardOut)
def get_card(request: HttpRequest, response: HttpResponse, ref: Reference) -> ArtCardOut:
    """By its image id, as a game master sees it."""
    card = find_callers_card(require_gm(request), ref)
    tag(response, card.version)
    return present_card(card, GM)


@router.post(
    "/art/{ref}/moderation",
    operation_id="art_moderate",
    summary="Moderate an art card",
    response=ArtCardOut,
)
def moderate(
    request: HttpRequest, response: HttpResponse, ref: Reference, verdict: Body[ModerationIn]
) -> ArtCardOut:
    """Players see approved cards only."""
    caller = require_gm(request)
    card = find_callers_card(caller, ref)
    check_match(request, card.version)
    moderate_card(card, verdict.moderation, by=name_of(caller), note=verdict.note)
    tag(response, card.version)
    return present_card(card, GM)


def find_callers_card(caller: Caller, reference: str) -> ArtCard:
    return find_card(caller.world, reference, campaign=caller.campaign)


def upsert_and_embed(
    caller: Caller, entry: ArtCardWrite, expected_version: int | None = None
) -> ArtUpsertOut:
    with transaction.atomic():
        card, outcome, unknown = ingest_art(
            caller.world,
            entry,
            expected_version=expected_version or entry.version,
            campaign=caller.campaign,
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
