"""REST for the whole installation: what a key is, the game systems, and the worlds."""

import logging
from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router, Status
from pydantic import Field

from retrieval.errors import Invalid
from worlds.erasure import permanent_deletion
from worlds.key_presenter import present_key
from worlds.key_schemas import Me
from worlds.lookup import find_exact
from worlds.members import create_world, new_slug
from worlds.models import GameSystem, World
from worlds.offered_systems import offered_systems
from worlds.rest import NeedsAnyKey, NeedsInstallationKey, check_match, key_of, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import set_location
from worlds.schemas import (
    SystemIn,
    SystemOut,
    Systems,
    WorldChange,
    WorldIn,
    WorldOut,
    Worlds,
)
from worlds.versions import lock_row
from worlds.world_resource import (
    change_world,
    digest_of_world,
    find_system,
    present_world,
    require_open_description,
)

logger = logging.getLogger(__name__)
router = Router(tags=["installation"], auth=NeedsInstallationKey())
Reference = Annotated[str, Path(max_length=200)]
SORTS = {"created": "id", "updated": "updated_at", "name": "name"}


@router.get(
    "/me", operation_id="me", summary="What this key may do", response=Me, auth=NeedsAnyKey()
)
def get_me(request: HttpRequest) -> Me:
    """The key, its world, scopes, audience and limits. The call counts under `me` alone."""
    key = key_of(request)
    world = present_world(key.world) if key.world else None
    if world and key.world:
        world.description = key.world.open_description
    return Me(key=present_key(key), world=world, version=settings.VERSION)


@router.get(
    "/systems",
    operation_id="system_list",
    summary="List the game systems",
    response=Systems,
    auth=NeedsAnyKey(),
)
def list_systems(request: HttpRequest) -> dict[str, Any]:
    """A world names one of them; its rules then hold there."""
    # The rules of other worlds are none of the business of a world's key.
    world = key_of(request).world
    systems = (offered_systems(world) if world else GameSystem.objects.all()).order_by("slug")
    return {
        "systems": [
            {"system_id": each.slug, "name": each.name, "edition": each.edition} for each in systems
        ]
    }


@router.post(
    "/systems",
    operation_id="system_create",
    summary="Create a game system",
    response={201: SystemOut},
)
def post_system(
    request: HttpRequest,  # noqa: ARG001 - django-ninja passes it
    entry: Body[SystemIn],
) -> Status[SystemOut]:
    """For a game whose rules several worlds share. 409 when the slug is taken. The rules come with
    an import (docs/import.md), or each world writes its own."""
    slug = new_slug(entry.system_id, entry.name, GameSystem.objects.all(), "game system")
    system = GameSystem.objects.create(slug=slug, name=entry.name, edition=entry.edition)
    return Status(201, SystemOut(system_id=slug, name=system.name, edition=system.edition))


@router.get("/worlds", operation_id="world_list", summary="List the worlds", response=Worlds)
def list_worlds(
    request: HttpRequest, response: HttpResponse, query: Query[ListQuery]
) -> dict[str, Any]:
    page = page_of(request, response, World.objects.select_related("system"), query, SORTS)
    return page.answer("worlds", present_world)


@router.post(
    "/worlds", operation_id="world_create", summary="Create a world", response={201: WorldOut}
)
def post_world(
    request: HttpRequest,  # noqa: ARG001 - django-ninja passes it
    response: HttpResponse,
    entry: Body[WorldIn],
) -> Status[WorldOut]:
    """Its members are invited on the site; make a key for its engine with `POST /world/keys` and
    the header `X-World`. 409 when the slug is taken."""
    require_open_description(entry.description)
    world = create_world(
        name=entry.name,
        slug=new_slug(entry.world_id, entry.name, World.objects.all(), "world"),
        language=entry.language,
        system=find_system(entry.system_id),
        description=entry.description,
    )
    set_location(response, f"worlds/{world.slug}")
    tag(response, digest_of_world(world))
    return Status(201, present_world(world))


@router.get("/worlds/{ref}", operation_id="world_get", summary="Get a world", response=WorldOut)
def get_world(request: HttpRequest, response: HttpResponse, ref: Reference) -> WorldOut:  # noqa: ARG001
    world = find_world_by_slug(ref)
    tag(response, digest_of_world(world))
    return present_world(world)


@router.patch(
    "/worlds/{ref}", operation_id="world_change", summary="Change a world", response=WorldOut
)
def patch_world(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[WorldChange]
) -> WorldOut:
    """The fields that are sent change; the slug stays."""
    world = change_world(request, find_world_by_slug(ref), change)
    tag(response, digest_of_world(world))
    return present_world(world)


@router.delete(
    "/worlds/{ref}",
    operation_id="world_delete",
    summary="Delete a world permanently",
    response={204: None},
)
def delete_world(
    request: HttpRequest,
    ref: Reference,
    confirm: Annotated[str, Query(max_length=80), Field(description="The slug once more.")],
) -> Status[None]:
    """With everything in it: lore, NPCs, episodes, memories, keys, history. It cannot be undone,
    so `confirm` repeats the slug; back the world up before (`manage.py archive_world`)."""
    world = find_world_by_slug(ref)
    if confirm != world.slug:
        raise Invalid(
            f"Send confirm={world.slug} to delete the world with everything in it.",
            errors=[{"loc": ["confirm"], "msg": "must be the slug of the world"}],
        )
    key = key_of(request)
    # What the NPCs think is in ledgers that nothing else may shorten.
    with permanent_deletion():
        lock_row(world)
        check_match(request, digest_of_world(world))
        world.delete()
    logger.warning("The world %s was deleted with the key %s", ref, key.prefix)
    return Status(204, None)


def find_world_by_slug(reference: str) -> World:
    return find_exact(
        World.objects.select_related("system"), reference, what="world", key="slug", in_world=False
    )
