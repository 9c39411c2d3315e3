"""REST for engines: the books that rules come from, with what has to be cited.

The operations are added to the router of `knowledge.api`."""

from typing import Annotated, Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Status
from pydantic import Field, HttpUrl, StringConstraints

from knowledge.api import Reference, router
from knowledge.models import Document
from retrieval.errors import Forbidden, NotFound
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.lookup import as_uuid
from worlds.references import Referenced
from worlds.rest import check_match, require_gm, require_whole_world, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.schemas import Name, NextCursor, Prose

BOOK_SORTS = {"created": "id", "updated": "updated_at", "name": "title"}
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
Short = Annotated[str, StringConstraints(max_length=80, pattern=r"^[^\x00]*$")]


class RuleBookOut(ResponseModel):
    """A source of rules: what to cite, and under which licence it may be passed on."""

    book_id: str
    id: str
    title: str
    system_id: str | None
    shared: bool
    publisher: str
    edition: str
    licence: str
    licence_url: str
    attribution: str
    source: str
    rules: int
    version: int


class RuleBookPage(ResponseModel):
    books: list[RuleBookOut]
    next_cursor: NextCursor = None


class RuleBookChange(StrictModel):
    """The fields that are sent change."""

    title: Name = ""
    publisher: Line = ""
    edition: Short = ""
    licence: Short = ""
    licence_url: HttpUrl | None = None
    attribution: Prose = ""


class RuleBookListQuery(ListQuery):
    shared: Annotated[
        bool, Field(description="Also the books that the worlds of the game system share.")
    ] = True


class RuleBookDeletionQuery(StrictModel):
    with_rules: Annotated[
        bool, Field(description="true: delete the book with every rule in it.")
    ] = False


@router.get(
    "/rule-books",
    operation_id="rule_book_list",
    summary="List the rule books",
    response=RuleBookPage,
)
def list_books(
    request: HttpRequest, response: HttpResponse, query: Query[RuleBookListQuery]
) -> dict[str, Any]:
    """The books by which the world plays: its own, and those of its game system."""
    rows = books_of(require_gm(request))
    if not query.shared:
        rows = rows.filter(world__isnull=False)
    return page_of(request, response, rows, query, BOOK_SORTS).answer("books", present_book)


@router.get(
    "/rule-books/{ref}",
    operation_id="rule_book_get",
    summary="Get a rule book",
    response=RuleBookOut,
)
def get_book(request: HttpRequest, response: HttpResponse, ref: Reference) -> RuleBookOut:
    """By its slug or id, with the attribution that its licence asks for."""
    book = find_book(require_gm(request), ref)
    tag(response, book.version)
    return present_book(book)


@router.patch(
    "/rule-books/{ref}",
    operation_id="rule_book_change",
    summary="Change a rule book",
    response=RuleBookOut,
)
def patch_book(
    request: HttpRequest, response: HttpResponse, ref: Reference, change: Body[RuleBookChange]
) -> RuleBookOut:
    """Its title, edition and what is cited. The slug stays: the ids of its rules begin with it."""
    caller = require_whole_world(request)
    sent = change.model_dump(exclude_unset=True, mode="json")
    with transaction.atomic():
        book = lock_own_book(request, caller, ref)
        for name, value in sent.items():
            setattr(book, name, value or "")
        if sent:
            book.version += 1
            book.save()
    tag(response, book.version)
    return present_book(find_book(caller, ref))


@router.delete(
    "/rule-books/{ref}",
    operation_id="rule_book_delete",
    summary="Delete a rule book",
    response={204: None},
)
def delete_book(
    request: HttpRequest, ref: Reference, query: Query[RuleBookDeletionQuery]
) -> Status[None]:
    """For good. 409 as long as there are rules in it, unless `with_rules` says so. An imported
    book is better undone with its import."""
    caller = require_whole_world(request)
    with transaction.atomic():
        book = lock_own_book(request, caller, ref)
        count = book.rules.count()
        if count and not query.with_rules:
            raise Referenced(
                f"{count} rules are in this book: delete them first, or send with_rules=true."
            )
        book.delete()
    return Status(204, None)


def books_of(caller: Caller) -> "QuerySet[Document]":
    """The world's own books and those of its game system, with `count` of their rules."""
    readable = Q(world=caller.world)
    if caller.world.system_id:
        readable |= Q(world=None, system=caller.world.system_id)
    rows = Document.objects.filter(readable).select_related("system")
    return rows.annotate(count=Count("rules"))


def find_book(caller: Caller, reference: str) -> Any:
    """Return the book; of two with one slug the world's own. Raises `NotFound`."""
    rows = books_of(caller).filter(Q(slug=reference) | Q(pk=as_uuid(reference)))
    book = rows.order_by("world").first()
    if book is None:
        known = [*books_of(caller).order_by("slug").values_list("slug", flat=True)[:20]]
        raise NotFound(f"There is no rule book {reference!r} here.", candidates=known)
    return book


def lock_own_book(request: HttpRequest, caller: Caller, reference: str) -> Document:
    """Return the world's own book, locked. Raises `Forbidden` for a shared one, `Stale`."""
    found = find_book(caller, reference)
    if found.world_id is None:
        raise Forbidden("This book is shared by all worlds of the game system: it is read-only.")
    book = Document.objects.select_for_update().get(pk=found.pk)
    check_match(request, book.version)
    return book


def present_book(book: Any) -> RuleBookOut:
    names = ("title", "publisher", "edition", "licence", "licence_url", "attribution", "source")
    return RuleBookOut(
        book_id=book.slug,
        id=str(book.pk),
        system_id=book.system.slug if book.system else None,
        shared=book.world_id is None,
        rules=book.count,
        version=book.version,
        **{name: getattr(book, name) for name in names},
    )
