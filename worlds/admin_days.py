"""World days in lists of the admin, as dates of the calendar of each row's world."""

import json
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from worlds.calendar_model import CalendarVersion
from worlds.world_calendar import calendar_from_text, show_date


class DayColumns:
    """For an admin of rows with a world: reads the calendar with each row, in the one query of the
    list."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        versions = CalendarVersion.objects.filter(world=OuterRef("world")).order_by("-version")
        rows: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        return rows.annotate(  # type: ignore[no-any-return]
            row_calendar=Subquery(versions.values("definition")[:1])
        )


def day_column(name: str, description: Any) -> Callable[[Any, Any], str]:
    """Return a column that shows the world day in the field `name` as a date and its number."""

    @admin.display(description=description, ordering=name, empty_value="-")
    def column(_self: Any, row: Any) -> str:
        day, definition = getattr(row, name), row.row_calendar
        if day is None or definition is None:
            return "" if day is None else show_date(None, day)
        calendar = calendar_from_text(json.dumps(definition, sort_keys=True))
        return f"{show_date(calendar, day)} ({day:g})"

    return column
