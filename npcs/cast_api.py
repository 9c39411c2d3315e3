"""REST endpoints for the cast of a scene: which NPCs are there."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router

from episodes.models import Scene
from episodes.running_scenes import change_cast
from episodes.session_api import find_callers_scene, stored_digest
from npcs.lookup import find_npc
from npcs.models import NPC
from npcs.schemas import CastMember, SceneCast
from retrieval.errors import NotFound
from worlds.keys import Scope
from worlds.rest import NeedsKey, check_match, require_gm, tag

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
Who = Annotated[
    str, Path(max_length=200, description="The id of an NPC, or one of its whole names.")
]


@router.get(
    "/scenes/{ref}/cast",
    operation_id="scene_cast",
    summary="Get the cast of a scene",
    response=SceneCast,
)
def get_cast(request: HttpRequest, response: HttpResponse, ref: Reference) -> SceneCast:
    """The NPCs who are there, in the order in which they entered. The `ETag` is the scene's."""
    return present_cast(response, find_callers_scene(require_gm(request), ref))


@router.put(
    "/scenes/{ref}/cast/{npc}",
    operation_id="scene_cast_add",
    summary="Let an NPC enter a scene",
    response=SceneCast,
)
def add_to_cast(
    request: HttpRequest, response: HttpResponse, ref: Reference, npc: Who
) -> SceneCast:
    """Who is there stays where they are. 409 when the scene has ended."""
    caller = require_gm(request)
    scene = find_callers_scene(caller, ref)
    check_match(request, stored_digest(scene))
    entering = find_npc(caller.world, npc)
    if entering.slug not in scene.cast:
        scene = change_cast(scene, add=entering.slug)
    return present_cast(response, scene)


@router.delete(
    "/scenes/{ref}/cast/{npc}",
    operation_id="scene_cast_remove",
    summary="Let an NPC leave a scene",
    response=SceneCast,
)
def remove_from_cast(
    request: HttpRequest, response: HttpResponse, ref: Reference, npc: Who
) -> SceneCast:
    """404 when they are not there, 409 when the scene has ended."""
    caller = require_gm(request)
    scene = find_callers_scene(caller, ref)
    check_match(request, stored_digest(scene))
    # By the id alone for one that was deleted meanwhile.
    slug = npc if npc in scene.cast else find_npc(caller.world, npc).slug
    if slug not in scene.cast:
        raise NotFound(f"{npc} is not in this scene.", candidates=scene.cast)
    return present_cast(response, change_cast(scene, remove=slug))


def present_cast(response: HttpResponse, scene: Scene) -> SceneCast:
    tag(response, stored_digest(scene))
    npcs = NPC.objects.filter(world=scene.world_id, slug__in=scene.cast)
    names = dict(npcs.values_list("slug", "name"))
    return SceneCast(
        cast=[CastMember(npc_id=slug, name=names[slug]) for slug in scene.cast if slug in names]
    )
