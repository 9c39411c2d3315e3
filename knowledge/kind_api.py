"""REST for engines: the kinds of lore entries that a world adds to the built-in ones.

The operations are added to the router of `knowledge.api`."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Status
from pydantic import Field, StringConstraints

from knowledge.api import Reference, router
from knowledge.list_api import Filter
from knowledge.lore_kinds import LoreKind
from knowledge.markup_check import require_sound_markup
from knowledge.models import Lore
from knowledge.own_kinds import change_kind, create_kind, delete_kind
from retrieval.errors import NotFound
from retrieval.tasks import embed_soon
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.rest import require_gm, require_whole_world
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import Name, Prose
from worlds.versions import lock_row

MOST_KINDS = 500
Icon = Annotated[str, StringConstraints(max_length=16, pattern=r"^[^\x00]*$")]


class LoreKindCreate(StrictModel):
    name: Name
    icon: Icon = ""
    template: Prose = ""


class LoreKindChange(StrictModel):
    """The fields that are sent change."""

    name: Name = ""
    icon: Icon = ""
    template: Prose = ""


class LoreKindOut(ResponseModel):
    kind_id: str
    name: str
    icon: str
    template: str
    created_at: datetime
    updated_at: datetime


class LoreKindList(ResponseModel):
    built_in: list[str]
    kinds: list[LoreKindOut]


class KindDeletionQuery(StrictModel):
    entries_become: Annotated[
        Filter, Field(description="Kind of its entries from then on; left out: custom.")
    ] = None


@router.get(
    "/kinds", operation_id="kind_list", summary="List the kinds of lore", response=LoreKindList
)
def list_kinds(request: HttpRequest) -> LoreKindList:
    """The built-in ones by name, and those of the world with their templates."""
    rows = LoreKind.objects.filter(world=require_gm(request).world).order_by("name")[:MOST_KINDS]
    return LoreKindList(built_in=[*Lore.Kind.values], kinds=[present_kind(row) for row in rows])


@router.post(
    "/kinds",
    operation_id="kind_create",
    summary="Add a kind of lore",
    response={201: LoreKindOut},
)
def post_kind(
    request: HttpRequest, response: HttpResponse, entry: Body[LoreKindCreate]
) -> Status[LoreKindOut]:
    """Its id is made from the name. 409 when another kind has the name."""
    caller = require_whole_world(request)
    require_sound_markup(caller.world, entry.template)
    kind = create_kind(caller.world, **entry.model_dump())
    set_location(response, f"world/kinds/{kind.slug}")
    return Status(201, with_tag(response, present_kind(kind)))


@router.get(
    "/kinds/{ref}", operation_id="kind_get", summary="Get a kind of lore", response=LoreKindOut
)
def get_kind(request: HttpRequest, response: HttpResponse, ref: Reference) -> LoreKindOut:
    """One of the world's own, with the text that its new entries begin with."""
    return with_tag(response, present_kind(find_kind(require_gm(request), ref)))


@router.patch(
    "/kinds/{ref}",
    operation_id="kind_change",
    summary="Change a kind of lore",
    response=LoreKindOut,
)
def patch_kind(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[LoreKindChange]
) -> LoreKindOut:
    """The id stays: filters and imports name the kind by it. Entries stay as they are."""
    caller = require_whole_world(request)
    kind = find_kind(caller, ref)
    sent = change.model_dump(exclude_unset=True)
    require_sound_markup(caller.world, sent.get("template", ""))
    with require_unchanged(request, kind, present_kind):
        lock_row(kind)
        values = {"name": kind.name, "icon": kind.icon, "template": kind.template}
        kind = change_kind(kind, **values | sent)
    return with_tag(response, present_kind(kind))


@router.delete(
    "/kinds/{ref}",
    operation_id="kind_delete",
    summary="Delete a kind of lore",
    response={204: None},
)
def remove_kind(
    request: HttpRequest, ref: Reference, query: Query[KindDeletionQuery]
) -> Status[None]:
    """Its entries keep their texts and get another kind, by default `custom`."""
    caller = require_whole_world(request)
    kind = find_kind(caller, ref)
    wanted = query.entries_become or Lore.Kind.CUSTOM
    to_own = None if wanted in Lore.Kind else find_kind(caller, wanted)
    with require_unchanged(request, kind, present_kind):
        delete_kind(
            kind,
            to_kind=Lore.Kind.CUSTOM if to_own else wanted,
            to_own=to_own,
            by=str(caller.key or "site")[:150],
        )
        embed_soon("lore")
    return Status(204, None)


def find_kind(caller: Caller, reference: str) -> LoreKind:
    rows: Any = LoreKind.objects.filter(world=caller.world)
    kind: LoreKind | None = rows.filter(slug=reference).first()
    if kind is None:
        known = [*rows.order_by("slug").values_list("slug", flat=True)[:20]]
        raise NotFound(f"This world has no kind {reference!r} of its own.", candidates=known)
    return kind


def present_kind(kind: LoreKind) -> LoreKindOut:
    return LoreKindOut(
        kind_id=kind.slug,
        name=kind.name,
        icon=kind.icon,
        template=kind.template,
        created_at=kind.created_at,
        updated_at=kind.updated_at,
    )
