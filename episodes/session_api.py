"""REST endpoints for sessions, and for scenes with their scratch."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router, Status
from pydantic import Field

from episodes import scenes
from episodes.field_types import ExternalId
from episodes.lookup import find_scene, find_session
from episodes.models import Scene, Session
from episodes.schemas import (
    SceneIn,
    SceneOut,
    ScenePage,
    ScratchIn,
    SessionIn,
    SessionOut,
    SessionPage,
)
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_party
from worlds.references import require_unreferenced
from worlds.rest import NeedsKey, check_match, require_gm, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import digest_of_values, set_location
from worlds.versions import digest_of_row

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
SORTS = {"created": "id", "updated": "updated_at", "name": "title"}
Played = TypeVar("Played", Session, Scene)
PartyFilter = Annotated[str | None, Field(max_length=200, description="Of this party alone.")]


class SessionListQuery(ListQuery):
    party_id: PartyFilter = None


class SceneListQuery(ListQuery):
    party_id: PartyFilter = None
    session_id: Annotated[
        str | None, Field(max_length=200, description="Of this session alone.")
    ] = None
    open: Annotated[bool | None, Field(description="true: not ended yet; false: ended.")] = None


@router.get("/sessions", operation_id="session_list", summary="List sessions", response=SessionPage)
def list_sessions(
    request: HttpRequest, response: HttpResponse, query: Query[SessionListQuery]
) -> dict[str, Any]:
    caller = require_gm(request)
    rows = of_caller(Session.objects.select_related("campaign", "party", "arc"), caller)
    if query.party_id:
        rows = rows.filter(party=find_party(caller.world, query.party_id, caller.campaign))
    return page_of(request, response, rows, query, SORTS).answer("sessions", SessionOut.of)


@router.get(
    "/sessions/{ref}", operation_id="session_get", summary="Get a session", response=SessionOut
)
def get_session(request: HttpRequest, response: HttpResponse, ref: Reference) -> SessionOut:
    """By its id or title."""
    session = find_callers_session(require_gm(request), ref)
    tag(response, stored_digest(session))
    return SessionOut.of(session)


@router.delete(
    "/sessions/{ref}",
    operation_id="session_delete",
    summary="Delete a session",
    response={204: None},
)
def delete_session(request: HttpRequest, ref: Reference) -> Status[None]:
    """409, which names what belongs to it, unless nothing does."""
    delete_unless_used(find_callers_session(require_gm(request), ref), request)
    return Status(204, None)


@router.get("/scenes", operation_id="scene_list", summary="List scenes", response=ScenePage)
def list_scenes(
    request: HttpRequest, response: HttpResponse, query: Query[SceneListQuery]
) -> dict[str, Any]:
    """`open=true`: those that are being played."""
    caller = require_gm(request)
    rows = of_caller(Scene.objects.select_related("campaign", "party", "session"), caller)
    if query.party_id:
        rows = rows.filter(party=find_party(caller.world, query.party_id, caller.campaign))
    if query.session_id:
        rows = rows.filter(session=find_callers_session(caller, query.session_id))
    if query.open is not None:
        rows = rows.filter(ended_at__isnull=query.open)
    return page_of(request, response, rows, query, SORTS).answer("scenes", SceneOut.of)


@router.get("/scenes/{ref}", operation_id="scene_get", summary="Get a scene", response=SceneOut)
def get_scene(request: HttpRequest, response: HttpResponse, ref: Reference) -> SceneOut:
    """By its id or title."""
    scene = find_callers_scene(require_gm(request), ref)
    tag(response, stored_digest(scene))
    return SceneOut.of(scene)


@router.delete(
    "/scenes/{ref}", operation_id="scene_delete", summary="Delete a scene", response={204: None}
)
def delete_scene(request: HttpRequest, ref: Reference) -> Status[None]:
    """409, which names what belongs to it, unless nothing does."""
    delete_unless_used(find_callers_scene(require_gm(request), ref), request)
    return Status(204, None)


@router.put(
    "/sessions",
    operation_id="session_upsert",
    summary="Create or update a session",
    response=SessionOut,
)
def upsert_session(
    request: HttpRequest, response: HttpResponse, entry: Body[SessionIn]
) -> SessionOut:
    """By its id. `If-Match` with the ETag of the last answer refuses the change of a session that
    others have changed since."""
    caller = require_gm(request)
    rows = of_caller(Session.objects.filter(external_id=entry.session_id), caller)
    write = partial(scenes.upsert_session, caller.world, entry, only=caller.campaign)
    return SessionOut.of(write_unless_stale(request, response, rows, write, path="sessions"))


@router.put(
    "/scenes", operation_id="scene_upsert", summary="Create or update a scene", response=SceneOut
)
def upsert_scene(request: HttpRequest, response: HttpResponse, entry: Body[SceneIn]) -> SceneOut:
    """By its id. `If-Match` with the ETag of the last answer refuses the change of a scene that
    others have changed since."""
    caller = require_gm(request)
    rows = of_caller(Scene.objects.filter(external_id=entry.scene_id), caller)
    write = partial(scenes.upsert_scene, caller.world, entry, only=caller.campaign)
    return SceneOut.of(write_unless_stale(request, response, rows, write, path="scenes"))


def write_unless_stale(
    request: HttpRequest,
    response: HttpResponse,
    rows: "QuerySet[Played]",
    write: Callable[[], Played],
    *,
    path: str,
) -> Played:
    """Create or change the one row of `rows`, and set `ETag` and, of a new row, `Location`. Raises
    `Stale` when `If-Match` names another state of the row."""
    with transaction.atomic():
        stored = digest_of_row(rows)
        check_match(request, stored)
        row = write()
        tag(response, digest_of_row(rows))
    if stored is None:
        set_location(response, f"world/{path}/{row.external_id}")
    return row


@router.post(
    "/scenes/{ref}/end", operation_id="scene_end", summary="End a scene", response=SceneOut
)
def end_scene(request: HttpRequest, response: HttpResponse, ref: Reference) -> SceneOut:
    """Its scratch (working memory) is deleted."""
    with transaction.atomic():
        scene = find_callers_scene(require_gm(request), ref)
        check_match(request, stored_digest(scene))
        scene = scenes.end_scene(scene)
        tag(response, stored_digest(scene))
    return SceneOut.of(scene)


@router.get(
    "/scenes/{ref}/scratch",
    operation_id="scratch_get",
    summary="Read the scratch of a scene",
    response=dict[str, Any],
)
def get_scratch(request: HttpRequest, response: HttpResponse, ref: Reference) -> dict[str, Any]:
    """All values by their keys."""
    values = scenes.read_scratch(find_callers_scene(require_gm(request), ref))
    tag(response, digest_of_values(values))
    return values


@router.put(
    "/scenes/{ref}/scratch/{key}",
    operation_id="scratch_put",
    summary="Write a scratch value",
    response=dict[str, Any],
)
def put_scratch(
    request: HttpRequest,
    response: HttpResponse,
    ref: Reference,
    key: Annotated[ExternalId, Path()],
    note: Body[ScratchIn],
) -> Any:
    """Stored until the scene ends. The `ETag` is that of the whole scratch."""
    scene = find_callers_scene(require_gm(request), ref)
    with transaction.atomic():
        # One writer at a time: each compares with what the other has stored.
        Scene.objects.select_for_update().get(pk=scene.pk)
        check_match(request, digest_of_values(scenes.read_scratch(scene)))
        scenes.write_scratch(scene, key, note.value)
        values = scenes.read_scratch(scene)
    tag(response, digest_of_values(values))
    return values


def of_caller(rows: Any, caller: Caller) -> Any:
    """Narrow sessions or scenes to the caller's world, and to its campaign if it has one."""
    rows = rows.filter(world=caller.world)
    return rows.filter(campaign=caller.campaign) if caller.campaign else rows


def find_callers_session(caller: Caller, reference: str) -> Session:
    return find_session(caller.world, reference, campaign=caller.campaign)


def find_callers_scene(caller: Caller, reference: str) -> Scene:
    return find_scene(caller.world, reference, campaign=caller.campaign)


@transaction.atomic
def delete_unless_used(row: Session | Scene, request: HttpRequest | None = None) -> None:
    """Raise `Referenced` when something belongs to the row, `Stale` when the `If-Match` of
    `request` names another state."""
    if request:
        check_match(request, stored_digest(row))
    require_unreferenced(row)
    row.delete()


@transaction.atomic
def stored_digest(row: Session | Scene) -> str | None:
    return digest_of_row(type(row)._default_manager.filter(pk=row.pk))
