"""REST: the filters of the lore list that members have saved under a name."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from ninja import Body, Query, Router, Status
from pydantic import Field, StringConstraints

from knowledge.editing_models import SavedFilter
from memory_site.lists.filters import ORDERS, LoreFilter
from memory_site.lists.lore_list import MOST_FILTERS
from retrieval.errors import Conflict, Invalid
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.members import find_game_master
from worlds.rest import NeedsKey, require_whole_world
from worlds.rest_lists import SortedQuery, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import NextCursor

router = Router(tags=["knowledge"], auth=NeedsKey(Scope.ADMIN))
FILTER = "/saved-filters/{uuid:filter_id}"
SORTS = {"created": "id", "name": "name"}
FilterName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=80, strip_whitespace=True, pattern=r"^[^\x00]+$"),
]
FilterText = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]


class LoreFilterIn(StrictModel):
    """What the list of lore is narrowed by and sorted by; what is empty narrows nothing."""

    kind: FilterText = Field("", description="A kind, or `custom:` and the slug of an own kind.")
    folder: FilterText = Field("", description="With the folders in it; `-`: in no folder.")
    tag: FilterText = Field("", description="Entries that have this tag.")
    status: FilterText = Field("", description="`draft`, `review` or `published`.")
    visibility: FilterText = Field("", description="`gm`, `revealed` or `public`.")
    campaign: FilterText = Field("", description="Slug; `-`: canon alone; `*`: every campaign.")
    author: FilterText = Field("", description="Entries first written by this author.")
    language: FilterText = Field("", description="Code of the entries' language, such as `en`.")
    text: FilterText = Field("", description="Occurs in the title, another name or the text.")
    sort: FilterText = Field(
        "title", description=f"One of {', '.join(ORDERS)}; with `-` before it, downwards."
    )


class SavedFilterIn(StrictModel):
    """A filter of the list of lore to keep for a member."""

    user: str = Field(max_length=150, description="User name of the designer or game master.")
    name: FilterName = Field(description="The member sees it under this name.")
    filter: LoreFilterIn = Field(description="What the list is narrowed by and sorted by.")


class SavedFilterChange(StrictModel):
    """The fields to change of a saved filter; those left out stay."""

    name: FilterName | None = Field(None, description="The new name.")
    filter: LoreFilterIn | None = Field(None, description="The new filter, whole.")


class SavedFilterOut(ResponseModel):
    """A filter of the list of lore that a member has saved. Only that member sees it on the
    site."""

    id: UUID
    user: str = Field(description="User name of the member.")
    name: str
    filter: dict[str, str] = Field(description="The parts that are set, as they were saved.")


class SavedFilterPage(ResponseModel):
    """A page of saved filters."""

    filters: list[SavedFilterOut] = Field(description="The saved filters of this page.")
    next_cursor: NextCursor = None


class SavedFilterQuery(SortedQuery):
    sort: Literal["created", "-created", "name", "-name"] = "name"
    user: Annotated[
        str | None, Field(max_length=150, description="Those of this member alone.")
    ] = None


@router.get(
    "/saved-filters",
    operation_id="saved_filter_list",
    summary="List saved filters",
    response=SavedFilterPage,
)
def list_filters(
    request: HttpRequest, response: HttpResponse, query: Query[SavedFilterQuery]
) -> dict[str, Any]:
    """The filters of the list of lore that members have saved."""
    rows = filters_of(request)
    if query.user:
        rows = rows.filter(user__username=query.user)
    return page_of(request, response, rows, query, SORTS).answer("filters", present_filter)


@router.post(
    "/saved-filters",
    operation_id="saved_filter_create",
    summary="Save a filter",
    response={201: SavedFilterOut},
)
def post_filter(
    request: HttpRequest, response: HttpResponse, entry: Body[SavedFilterIn]
) -> Status[SavedFilterOut]:
    """The member finds it above the list of lore. 409 when they have one of that name."""
    caller = require_whole_world(request)
    user = find_game_master(caller.world, entry.user)
    query = query_of(entry.filter)
    with transaction.atomic():
        own = SavedFilter.objects.filter(user=user, world=caller.world)
        require_free_name(own, entry.name)
        if own.count() >= MOST_FILTERS:
            raise Conflict(f"{entry.user} has {MOST_FILTERS} saved filters: delete one first.")
        row = own.create(user=user, world=caller.world, name=entry.name, query=query)
    set_location(response, f"world/saved-filters/{row.pk}")
    return Status(201, with_tag(response, present_filter(row)))


@router.get(
    FILTER, operation_id="saved_filter_get", summary="Get a saved filter", response=SavedFilterOut
)
def get_filter(request: HttpRequest, response: HttpResponse, filter_id: UUID) -> SavedFilterOut:
    """Its name, its member and what it narrows by."""
    return with_tag(response, present_filter(find_filter(request, filter_id)))


@router.patch(
    FILTER,
    operation_id="saved_filter_change",
    summary="Change a saved filter",
    response=SavedFilterOut,
)
def patch_filter(
    request: HttpRequest, response: HttpResponse, filter_id: UUID, change: Body[SavedFilterChange]
) -> SavedFilterOut:
    """The name, the filter, or both. 409 when the member has another one of that name."""
    row = find_filter(request, filter_id)
    with require_unchanged(request, row, present_filter):
        if change.name is not None:
            own = SavedFilter.objects.filter(user=row.user, world=row.world)
            require_free_name(own.exclude(pk=row.pk), change.name)
            row.name = change.name
        if change.filter is not None:
            row.query = query_of(change.filter)
        row.save(update_fields=["name", "query"])
    return with_tag(response, present_filter(row))


@router.delete(
    FILTER,
    operation_id="saved_filter_delete",
    summary="Delete a saved filter",
    response={204: None},
)
def delete_filter(request: HttpRequest, filter_id: UUID) -> Status[None]:
    """For good."""
    row = find_filter(request, filter_id)
    with require_unchanged(request, row, present_filter):
        row.delete()
    return Status(204, None)


def filters_of(request: HttpRequest) -> "QuerySet[SavedFilter]":
    rows = SavedFilter.objects.filter(world=require_whole_world(request).world)
    return rows.select_related("user", "world")


def find_filter(request: HttpRequest, filter_id: UUID) -> SavedFilter:
    return find_by_id(filters_of(request), filter_id, what="saved filter")


def require_free_name(others: "QuerySet[SavedFilter]", name: str) -> None:
    if others.filter(name=name).exists():
        raise Conflict(f"There is a saved filter {name!r} already: choose another name.")


def query_of(entry: LoreFilterIn) -> str:
    """Return the filter as the list's address has it. Raises `Invalid` for an unknown order."""
    if entry.sort.removeprefix("-") not in ORDERS:
        raise Invalid(
            f"Sort by one of {', '.join(ORDERS)}.",
            errors=[{"loc": ["filter", "sort"], "msg": "no such order"}],
        )
    return LoreFilter(**entry.model_dump()).query


def present_filter(row: SavedFilter) -> SavedFilterOut:
    names = asdict(LoreFilter())
    sent = QueryDict(row.query)
    parts = {name: sent[name] for name in names if sent.get(name)}
    return SavedFilterOut(id=row.pk, user=row.user.get_username(), name=row.name, filter=parts)
