"""Lists over REST: a page of rows, sorted, with a cursor and a `Link` to the next page.

class LoreListQuery(ListQuery):
    status: Status | None = None

SORTS = {"created": "id", "updated": "updated_at", "name": "title"}

return page_of(request, response, rows, query, SORTS).answer("notes", NoteOut.of)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from pydantic import Field

from retrieval.errors import Invalid
from worlds.base_schemas import StrictModel
from worlds.rest import operation_of

MOST_ROWS = 200
Row = TypeVar("Row", bound=Model)
Sort = Literal["created", "-created", "updated", "-updated", "name", "-name"]
TimeSort = Literal["created", "-created", "updated", "-updated"]
"""For rows without a name."""


class PageQuery(StrictModel):
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="Rows in a page.")] = 50
    cursor: Annotated[
        str | None,
        Field(
            max_length=1000, description="`next_cursor` of the page before; empty: from the top."
        ),
    ] = None


class SortedQuery(PageQuery):
    """What lists take of rows that have no time of their last change."""

    sort: Annotated[Sort, Field(description="`-` sorts downwards: the newest or last first.")] = (
        "-created"
    )


class ListQuery(SortedQuery):
    """What every other list takes. `since` includes rows changed at that moment, so that none is
    missed when the time of the last answer is sent."""

    since: Annotated[
        datetime | None, Field(description="Rows created or changed since then (RFC 3339).")
    ] = None


@dataclass(frozen=True)
class ListPage(Generic[Row]):
    rows: Sequence[Row]
    next_cursor: str | None

    def answer(self, name: str, present: Callable[[Row], Any]) -> dict[str, Any]:
        """Return the answer of the list: the rows under `name`, each as `present` gives it."""
        return {name: [present(row) for row in self.rows], "next_cursor": self.next_cursor}


def page_of(
    request: HttpRequest,
    response: HttpResponse,
    rows: "QuerySet[Row, Any]",
    query: SortedQuery,
    columns: Mapping[str, str],
) -> ListPage[Row]:
    """Return the page of `rows` that `query` asks for, and set the answer's `Link` header.

    `columns` names the column of each sort: `created` (which has to be unique, such as an id that
    grows with time), `updated` and `name`. A row that is added or deleted between two pages
    neither repeats nor hides another. Raises `Invalid` for a cursor of another list, world or
    sort."""
    if isinstance(query, ListQuery) and query.since is not None:
        rows = rows.filter(**{f"{columns['updated']}__gte": query.since})
    falls, column = query.sort.startswith("-"), columns[query.sort.removeprefix("-")]
    # The id decides between equal values, so that the order is complete.
    order = [column] if column == columns["created"] else [column, columns["created"]]
    caller = getattr(request, "caller", None)  # none asks with a key of the installation
    kind = f"{operation_of(request)}:{caller and caller.world.pk}:{query.sort}"
    if query.cursor:
        rows = rows.filter(_beyond(_read_cursor(rows.model, order, kind, query.cursor), falls))
    prefix = "-" if falls else ""
    found = list(rows.order_by(*(prefix + name for name in order))[: query.limit + 1])
    page, cursor = found[: query.limit], None
    if len(found) > query.limit:
        values = [getattr(page[-1], name) for name in order]
        # No time is signed: else each answer would have another tag.
        cursor = signing.Signer(salt=kind).sign_object([_to_text(value) for value in values])
        link_to_next(request, response, cursor)
    return ListPage(page, cursor)


def _to_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _read_cursor(
    model: type[Model], order: Sequence[str], kind: str, cursor: str
) -> list[tuple[str, Any]]:
    try:
        texts = signing.Signer(salt=kind).unsign_object(cursor)
    except signing.BadSignature as error:
        raise Invalid(
            "This cursor is not of this list: leave `cursor` out to begin again, and send the same "
            "`sort` with it.",
            errors=[{"loc": ["cursor"], "msg": "not of this list"}],
        ) from error
    fields: list[Any] = [model._meta.get_field(name) for name in order]
    return [
        (name, field.to_python(text))
        for name, field, text in zip(order, fields, texts, strict=True)
    ]


def _beyond(values: Sequence[tuple[str, Any]], falls: bool) -> Q:
    """The condition of the rows after the one with `values`, compared one after the other."""
    comparison = "lt" if falls else "gt"
    (name, value), rest = values[0], values[1:]
    further = Q(**{f"{name}__{comparison}": value})
    return further | (Q(**{name: value}) & _beyond(rest, falls)) if rest else further


def link_to_next(request: HttpRequest, response: HttpResponse, cursor: str) -> None:
    """Set the answer's `Link` to the next page, which `cursor` names."""
    parameters = request.GET.copy()
    parameters["cursor"] = cursor
    address = request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}")
    response["Link"] = f'<{address}>; rel="next"'
