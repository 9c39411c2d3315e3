"""REST endpoints for art cards and their moderation."""

from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Router

from art.models import ArtCard
from art.schemas import ArtCardIn, ArtCardOut, ArtCardsIn, ArtUpsertOut, ModerationIn
from art.suggestions import present_card
from art.upsert import find_card, ingest_art, moderate_card
from episodes.api import name_of
from retrieval.tasks import embed_soon
from worlds.audiences import GM
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, check_match, require_gm, tag

router = Router(tags=["art"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]


@router.put(
    "/art", operation_id="art_upsert", summary="Create or update an art card", response=ArtUpsertOut
)
def upsert(request: HttpRequest, response: HttpResponse, entry: Body[ArtCardIn]) -> ArtUpsertOut:
    """By its image id. The picture itself is never fetched."""
    caller = require_gm(request)
    rows = ArtCard.objects.filter(world=caller.world, external_id=entry.image_id)
    check_match(request, rows.values_list("version", flat=True).first())
    report = upsert_and_embed(caller, entry)
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
    caller = require_gm(request)

    def write(item: Any) -> tuple[str, str]:
        report = upsert_and_embed(caller, ArtCardIn.model_validate(item))
        return report.image_id, report.outcome

    return write_all(batch.cards, write, atomic=batch.atomic)


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


def upsert_and_embed(caller: Caller, entry: ArtCardIn) -> ArtUpsertOut:
    with transaction.atomic():
        card, outcome, unknown = ingest_art(caller.world, entry)
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
