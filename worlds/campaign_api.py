"""REST for the key's world, its campaigns and its parties."""

from typing import Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router, Status

from retrieval.errors import Invalid
from worlds.callers import Caller
from worlds.characters import create_party, lock_parties, set_members
from worlds.keys import Scope
from worlds.lookup import find_named_exactly
from worlds.members import new_slug
from worlds.models import Campaign, Party
from worlds.references import require_unreferenced
from worlds.rest import NeedsKey, check_match, require_gm, require_whole_world, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import set_location
from worlds.schemas import (
    CampaignChange,
    CampaignIn,
    CampaignOut,
    Campaigns,
    Parties,
    PartyChange,
    PartyIn,
    PartyOut,
    WorldChange,
    WorldOut,
)
from worlds.versions import digest_of_row, lock_row
from worlds.world_resource import change_world, digest_of_world, present_world

router = Router(tags=["world"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
SORTS = {"created": "id", "updated": "updated_at", "name": "name"}


# --- the world


@router.get("", operation_id="own_world_get", summary="Get the key's world", response=WorldOut)
def get_own_world(request: HttpRequest, response: HttpResponse) -> WorldOut:
    world = require_gm(request).world
    tag(response, digest_of_world(world))
    return present_world(world)


@router.patch(
    "",
    operation_id="own_world_change",
    summary="Change the key's world",
    response=WorldOut,
    auth=NeedsKey(Scope.ADMIN),
)
def patch_own_world(
    request: HttpRequest, response: HttpResponse, change: Body[WorldChange]
) -> WorldOut:
    """The fields that are sent change; the slug stays."""
    caller = require_whole_world(request)
    world = change_world(request, type(caller.world).objects.get(pk=caller.world.pk), change)
    tag(response, digest_of_world(world))
    return present_world(world)


# --- campaigns


@router.get(
    "/campaigns", operation_id="campaign_list", summary="List the campaigns", response=Campaigns
)
def list_campaigns(
    request: HttpRequest, response: HttpResponse, query: Query[ListQuery]
) -> dict[str, Any]:
    page = page_of(request, response, campaigns_of(require_gm(request)), query, SORTS)
    return page.answer("campaigns", present_campaign)


@router.post(
    "/campaigns",
    operation_id="campaign_create",
    summary="Create a campaign",
    response={201: CampaignOut},
)
def post_campaign(
    request: HttpRequest, response: HttpResponse, entry: Body[CampaignIn]
) -> Status[CampaignOut]:
    """409 when the slug is taken."""
    caller = require_whole_world(request)
    rows = Campaign.objects.filter(world=caller.world)
    slug = new_slug(entry.campaign_id, entry.name, rows, "campaign")
    row = Campaign.objects.create(world=caller.world, slug=slug, name=entry.name)
    set_location(response, f"world/campaigns/{slug}")
    tag(response, digest_of(row))
    return Status(201, present_campaign(row))


@router.get(
    "/campaigns/{ref}",
    operation_id="campaign_get",
    summary="Get a campaign",
    response=CampaignOut,
)
def get_campaign(request: HttpRequest, response: HttpResponse, ref: Reference) -> CampaignOut:
    row = find_own_campaign(require_gm(request), ref)
    tag(response, digest_of(row))
    return present_campaign(row)


@router.patch(
    "/campaigns/{ref}",
    operation_id="campaign_change",
    summary="Rename a campaign",
    response=CampaignOut,
)
def patch_campaign(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[CampaignChange]
) -> CampaignOut:
    row = find_own_campaign(require_gm(request), ref)
    save_change(request, row, change.model_dump(exclude_unset=True))
    tag(response, digest_of(row))
    return present_campaign(row)


@router.delete(
    "/campaigns/{ref}",
    operation_id="campaign_delete",
    summary="Delete a campaign",
    response={204: None},
)
def delete_campaign(request: HttpRequest, ref: Reference) -> Status[None]:
    """409, which names what belongs to it, unless it is empty."""
    delete_row(request, find_own_campaign(require_gm(request), ref))
    return Status(204, None)


# --- parties


@router.get("/parties", operation_id="party_list", summary="List the parties", response=Parties)
def list_parties(
    request: HttpRequest,
    response: HttpResponse,
    query: Query[ListQuery],
    campaign_id: Annotated[str | None, Query(max_length=200)] = None,
) -> dict[str, Any]:
    """`campaign_id`: those of this campaign."""
    caller = require_gm(request)
    rows = parties_of(caller)
    if campaign_id:
        rows = rows.filter(campaign=find_own_campaign(caller, campaign_id))
    return page_of(request, response, rows, query, SORTS).answer("parties", present_party)


@router.post(
    "/parties",
    operation_id="party_create",
    summary="Create a party",
    response={201: PartyOut},
)
def post_party(
    request: HttpRequest, response: HttpResponse, entry: Body[PartyIn]
) -> Status[PartyOut]:
    """In its campaign. From then on `party:<slug>` is an audience. 409 when the slug is taken."""
    caller = require_gm(request)
    campaign = campaign_for_party(caller, entry.campaign_id)
    rows = Party.objects.filter(world=caller.world)
    row = create_party(
        caller.world,
        name=entry.name,
        campaign=campaign,
        slug=new_slug(entry.party_id, entry.name, rows, "party"),
        members=entry.members,
    )
    set_location(response, f"world/parties/{row.slug}")
    tag(response, digest_of(row))
    return Status(201, present_party(row))


@router.get("/parties/{ref}", operation_id="party_get", summary="Get a party", response=PartyOut)
def get_party(request: HttpRequest, response: HttpResponse, ref: Reference) -> PartyOut:
    row = find_own_party(require_gm(request), ref)
    tag(response, digest_of(row))
    return present_party(row)


@router.patch(
    "/parties/{ref}", operation_id="party_change", summary="Change a party", response=PartyOut
)
def patch_party(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[PartyChange]
) -> PartyOut:
    """Its name and members; slug and campaign stay, because audiences and episodes name them. Each
    member is a character of the world: a new name makes one, and a name that is missing leaves the
    party."""
    row = find_own_party(require_gm(request), ref)
    save_change(request, row, change.model_dump(exclude_unset=True))
    tag(response, digest_of(row))
    return present_party(row)


@router.delete(
    "/parties/{ref}", operation_id="party_delete", summary="Delete a party", response={204: None}
)
def delete_party(request: HttpRequest, ref: Reference) -> Status[None]:
    """409, which names what belongs to it, unless it has played nothing and learned nothing."""
    delete_row(request, find_own_party(require_gm(request), ref))
    return Status(204, None)


# --- both


def campaigns_of(caller: Caller) -> "QuerySet[Campaign]":
    rows = Campaign.objects.filter(world=caller.world)
    return rows.filter(pk=caller.campaign.pk) if caller.campaign else rows


def parties_of(caller: Caller) -> "QuerySet[Party]":
    rows = Party.objects.filter(world=caller.world).select_related("campaign")
    return rows.filter(campaign=caller.campaign) if caller.campaign else rows


def find_own_campaign(caller: Caller, reference: str) -> Campaign:
    return find_named_exactly(campaigns_of(caller), reference, what="campaign")


def find_own_party(caller: Caller, reference: str) -> Party:
    return find_named_exactly(parties_of(caller), reference, what="party")


def campaign_for_party(caller: Caller, reference: str | None) -> Campaign:
    """Return the campaign that is named, else the only one. Raises `Invalid`, `NotFound`."""
    if reference:
        return find_own_campaign(caller, reference)
    found = list(campaigns_of(caller).order_by("slug")[:20])
    if len(found) == 1:
        return found[0]
    how_many = "several campaigns" if found else "no campaign"
    raise Invalid(
        f"The world has {how_many}: name one in campaign_id.",
        errors=[{"loc": ["campaign_id"], "msg": "required"}],
        candidates=[row.slug for row in found],
    )


@transaction.atomic
def save_change(request: HttpRequest, row: Campaign | Party, values: dict[str, Any]) -> None:
    """Write the fields that were sent, if `If-Match` names the stored state."""
    lock_with_members(row)
    check_match(request, digest_of(row))
    if values.get("name") == "":
        raise Invalid("The name is missing.", errors=[{"loc": ["name"], "msg": "required"}])
    members = values.pop("members", None)
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=[*values, "updated_at"])
    if isinstance(row, Party) and members is not None:
        set_members(row, members)


@transaction.atomic
def delete_row(request: HttpRequest, row: Campaign | Party) -> None:
    lock_with_members(row)
    check_match(request, digest_of(row))
    require_unreferenced(row)
    if isinstance(row, Party):
        set_members(row, [])
    row.delete()


def lock_with_members(row: Campaign | Party) -> None:
    if isinstance(row, Party):
        lock_parties(row.world_id)  # before the row: whoever changes members takes all of them
    lock_row(row)


@transaction.atomic
def digest_of(row: Campaign | Party) -> str | None:
    return digest_of_row(type(row).objects.filter(pk=row.pk))


def present_campaign(row: Campaign) -> CampaignOut:
    return CampaignOut(
        campaign_id=row.slug, name=row.name, created_at=row.created_at, updated_at=row.updated_at
    )


def present_party(row: Party) -> PartyOut:
    return PartyOut(
        party_id=row.slug,
        name=row.name,
        campaign_id=row.campaign.slug,
        members=row.members,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
