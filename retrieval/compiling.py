"""A queryset as part of a larger statement with named parameters."""

import re
from itertools import count
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

PLACEHOLDER = re.compile(r"%(%|s)")


def named_parameters(queryset: "QuerySet[Any, Any]", *columns: str) -> tuple[str, dict[str, Any]]:
    """Return the SQL that selects `columns` of `queryset`, with parameters named `f0`, `f1`, … so that it may be used
    more than once in a statement."""
    sql, values = _compiled(queryset, columns)
    numbers = count()
    named = PLACEHOLDER.sub(lambda found: "%%" if found[1] == "%" else f"%(f{next(numbers)})s", sql)
    return named, {f"f{number}": value for number, value in enumerate(values)}


def _compiled(queryset: "QuerySet[Any, Any]", columns: tuple[str, ...]) -> tuple[str, tuple[Any, ...]]:
    narrowed = queryset.order_by().values(*columns)
    try:
        sql, values = narrowed.query.get_compiler(queryset.db).as_sql()
    except EmptyResultSet:  # such as `id__in=[]`: Django knows that nothing can match, and writes no SQL
        nothing = queryset.model._base_manager.using(queryset.db).extra(where=["false"]).values(*columns)
        sql, values = nothing.query.get_compiler(queryset.db).as_sql()
    return sql, tuple(values)
