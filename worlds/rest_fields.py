"""`fields=name,role`: an answer with the named fields alone; of a page, fields of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import orjson
from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel

from retrieval.errors import Invalid

PARAMETER = "fields"


@dataclass(frozen=True)
class RowFields:
    """The fields that can be chosen; `page` names the list of rows in a page."""

    names: frozenset[str]
    page: str | None = None

    def choose(self, text: str) -> list[str]:
        """Return the names in `text`. Raises `Invalid` for one that there is not."""
        wanted = [name.strip() for name in text.split(",") if name.strip()]
        if unknown := [name for name in wanted if name not in self.names]:
            there_are = ", ".join(sorted(self.names))
            raise Invalid(
                f"Unknown field {', '.join(unknown)[:200]}: there are {there_are}.",
                errors=[{"loc": [PARAMETER], "msg": "unknown field"}],
                candidates=sorted(self.names)[:50],
            )
        return wanted


def fields_to_choose(operation: Any) -> RowFields | None:
    """Return the fields of what `operation` reads; None when it writes or answers with no rows."""
    wrapper: Any = operation.response_models.get(200)
    if "GET" not in operation.methods or not hasattr(wrapper, "model_fields"):
        return None
    answer = wrapper.model_fields["response"].annotation
    if get_origin(answer) is list:
        return RowFields(frozenset(get_args(answer)[0].model_fields))
    if not (isinstance(answer, type) and issubclass(answer, BaseModel)):
        return None
    if "next_cursor" in answer.model_fields:
        for name, field in answer.model_fields.items():
            row: Any = next(iter(get_args(field.annotation)), None)
            if get_origin(field.annotation) is list and hasattr(row, "model_fields"):
                return RowFields(frozenset(row.model_fields), name)
    return RowFields(frozenset(answer.model_fields))


def keep_fields(response: HttpResponse, rows: RowFields, wanted: Sequence[str]) -> None:
    """Leave the fields alone that were asked for, in the answer or in each row of it."""
    answer = orjson.loads(response.content)
    if rows.page:
        answer[rows.page] = [_pick(row, wanted) for row in answer[rows.page]]
    elif isinstance(answer, list):
        answer = [_pick(row, wanted) for row in answer]
    else:
        answer = _pick(answer, wanted)
    response.content = orjson.dumps(answer)


def _pick(row: dict[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in wanted if name in row}


def chosen_fields(request: HttpRequest, rows: RowFields | None) -> list[str]:
    """Return the fields that the request asks for; none: all. Raises `Invalid`."""
    text = request.GET.get(PARAMETER, "")
    return rows.choose(text) if rows and text else []
