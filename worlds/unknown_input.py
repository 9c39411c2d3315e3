"""What is sent to an operation that does not take it: parameters of the query, and bodies. Both are
refused, because whoever sends them expects them to count."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

from retrieval.errors import Invalid

EMPTY_BODIES, LONGEST_EMPTY = {b"", b"{}", b"null"}, 100


def query_parameters(operation: Any) -> frozenset[str]:
    """Return the names of the parameters that the operation takes in its query."""
    parts = [each for each in operation.models if each.__ninja_param_source__ == "query"]
    return frozenset(
        alias for each in parts for alias, *_path in each.__ninja_flatten_map__.items()
    )


def unknown_parameters(unknown: Sequence[str], known: Collection[str]) -> Invalid:
    """The refusal of parameters that an operation does not take: a misspelled filter would
    otherwise answer with everything."""
    offered = ", ".join(sorted(known)) or "none"
    return Invalid(
        f"Unknown parameter {', '.join(unknown)}: this operation takes {offered}.",
        errors=[{"loc": [name], "msg": "unknown parameter"} for name in unknown],
        candidates=sorted(known),
    )


def reads_body(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Mark an endpoint that reads the body itself, without declaring it to django-ninja."""
    view.reads_body = True  # type: ignore[attr-defined]
    return view


def takes_body(operation: Any) -> bool:
    sources = {each.__ninja_param_source__ for each in operation.models}
    is_declared = bool(sources & {"body", "form", "file"})
    return is_declared or getattr(operation.view_func, "reads_body", False)


def is_body_sent(request: HttpRequest) -> bool:
    """Whether a write has a body that says something: many programs send `{}` with every POST."""
    length = request.headers.get("Content-Length", "")
    if request.method == "GET" or not length.isdecimal() or length == "0":
        return False
    return int(length) > LONGEST_EMPTY or request.body.strip() not in EMPTY_BODIES


def unknown_body(request: HttpRequest) -> Invalid:
    """The refusal of a body that an operation does not take, by the names of its fields."""
    try:
        sent = orjson.loads(request.body)
    except (orjson.JSONDecodeError, RequestDataTooBig):
        sent = None
    names = [name[:100] for name in sent][:50] if isinstance(sent, dict) else []
    fields = names or ["body"]
    return Invalid(
        f"This operation takes no body: leave out {', '.join(fields[:5])}.",
        errors=[{"loc": [name], "msg": "unknown field"} for name in fields],
    )
