"""REST for the player characters of a world."""

from typing import Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router, Status

from retrieval.errors import Invalid
from worlds.callers import Caller
from worlds.characters import (
    CharacterValues,
    change_character,
    create_character,
    delete_character,
    lock_parties,
)
from worlds.keys import Scope
from worlds.lookup import find_named_exactly, find_party
from worlds.members import new_slug
from worlds.models import Character
from worlds.references import require_unreferenced
from worlds.rest import NeedsKey, require_gm
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import CharacterChange, CharacterIn, CharacterOut, Characters

router = Router(tags=["world"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
SORTS = {"created": "id", "updated": "updated_at", "name": "name", "position": "position"}


@router.get(
    "/characters",
    operation_id="character_list",
    summary="List the player characters",
    response=Characters,
)
def list_characters(
    request: HttpRequest,
    response: HttpResponse,
    query: Query[ListQuery],
    party_id: Annotated[str | None, Query(max_length=200)] = None,
) -> dict[str, Any]:
    """`party_id`: the members of this party."""
    caller = require_gm(request)
    rows = characters_of(caller)
    if party_id:
        rows = rows.filter(party=find_party(caller.world, party_id, caller.campaign))
    return page_of(request, response, rows, query, SORTS).answer("characters", present_character)


@router.post(
    "/characters",
    operation_id="character_create",
    summary="Create a player character",
    response={201: CharacterOut},
)
def post_character(
    request: HttpRequest, response: HttpResponse, entry: Body[CharacterIn]
) -> Status[CharacterOut]:
    """The last member of its party. From then on `character:<slug>` is an audience. 409 when the
    slug is taken."""
    caller = require_gm(request)
    require_party(caller, entry.party_id)
    rows = Character.objects.filter(world=caller.world)
    row = create_character(
        caller.world,
        name=entry.name,
        slug=new_slug(entry.character_id, entry.name, rows, "character"),
        party=find_party(caller.world, entry.party_id, caller.campaign) if entry.party_id else None,
    )
    set_location(response, f"world/characters/{row.slug}")
    return Status(201, with_tag(response, present_character(row)))


@router.get(
    "/characters/{ref}",
    operation_id="character_get",
    summary="Get a player character",
    response=CharacterOut,
)
def get_character(request: HttpRequest, response: HttpResponse, ref: Reference) -> CharacterOut:
    return with_tag(response, present_character(find_character(require_gm(request), ref)))


@router.patch(
    "/characters/{ref}",
    operation_id="character_change",
    summary="Change a player character",
    response=CharacterOut,
)
@transaction.atomic
def patch_character(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[CharacterChange]
) -> CharacterOut:
    """Its name and party; the slug stays, because audiences name it. Without a party the character
    has left: it knows what was revealed to it alone."""
    caller = require_gm(request)
    row = find_character(caller, ref)
    values: CharacterValues = {"name": change.name} if change.name else {}
    if "party_id" in change.model_fields_set:
        require_party(caller, change.party_id)
        values["party"] = (
            find_party(caller.world, change.party_id, caller.campaign) if change.party_id else None
        )
    lock_parties(row.world_id)
    with require_unchanged(request, row, present_character):
        change_character(row, **values)
    return with_tag(response, present_character(row))


@router.delete(
    "/characters/{ref}",
    operation_id="character_delete",
    summary="Delete a player character",
    response={204: None},
)
@transaction.atomic
def delete_one_character(request: HttpRequest, ref: Reference) -> Status[None]:
    """409, which names what belongs to it, unless nobody plays it and it alone knows nothing."""
    row = find_character(require_gm(request), ref)
    lock_parties(row.world_id)
    with require_unchanged(request, row, present_character):
        require_unreferenced(row)
        delete_character(row)
    return Status(204, None)


def characters_of(caller: Caller) -> "QuerySet[Character]":
    rows = Character.objects.filter(world=caller.world).select_related("party")
    return rows.filter(party__campaign=caller.campaign) if caller.campaign else rows


def find_character(caller: Caller, reference: str) -> Character:
    return find_named_exactly(characters_of(caller), reference, what="character")


def require_party(caller: Caller, party_id: str | None) -> None:
    """Raise `Invalid` if the holder of a key of one campaign names no party: the character would be
    out of its reach."""
    if caller.campaign and not party_id:
        raise Invalid(
            f"This key is for the campaign {caller.campaign.slug}: name one of its parties.",
            errors=[{"loc": ["party_id"], "msg": "required"}],
        )


def present_character(row: Character) -> CharacterOut:
    return CharacterOut(
        character_id=row.slug,
        name=row.name,
        party_id=row.party.slug if row.party else None,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
