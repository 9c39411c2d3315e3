"""The map from exceptions to problem+json (RFC 9457); MCP reports a tool error by the same
problems."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pydantic
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError as BrokerDown
from ninja import NinjaAPI, errors
from psycopg.errors import UniqueViolation
from psycopg_pool import PoolTimeout

from knowledge.graph.protocol import TooBroad
from memories.coding_agent.stores.protocol import StoreDamaged, StoreDown
from retrieval.errors import (
    Ambiguous,
    Conflict,
    EmbedderDown,
    Forbidden,
    Invalid,
    LanguageModelDown,
    NotFound,
    Problem,
    RateLimited,
    SearchTimeout,
    Stale,
    TooLarge,
    Unauthorized,
)
from worlds.event_api import StreamNeedsAsgi
from worlds.event_log.read import EventsGone
from worlds.event_log.streams import StreamsFull
from worlds.keys import NO_KEY
from worlds.validation_words import faults_of, summary_of

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class ProblemOut(pydantic.BaseModel):
    """RFC 9457. `detail` says what to do next; `instance` is the request id; `candidates` are names
    that fit better."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: list[dict[str, Any]] = []
    candidates: list[str] = []


class Unreadable(Problem):
    code, title = "unreadable", "The request cannot be read"


class Unavailable(Problem):
    code, title = "unavailable", "The database cannot be reached"


class WorkerUnreachable(Problem):
    code, title = "worker_down", "The background worker cannot be reached"


class Internal(Problem):
    code, title = "internal", "Something failed on the server"


class NotAllowed(Problem):
    code, title = "method_not_allowed", "Method not allowed"


STATUS: dict[type[Problem], int] = {
    Problem: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    NotAllowed: 405,
    Conflict: 409,
    Stale: 412,
    EventsGone: 410,
    TooLarge: 413,
    Ambiguous: 422,
    Invalid: 422,
    TooBroad: 422,
    RateLimited: 429,
    Internal: 500,
    StoreDamaged: 500,
    StreamNeedsAsgi: 501,
    EmbedderDown: 503,
    LanguageModelDown: 503,
    SearchTimeout: 503,
    StoreDown: 503,
    StreamsFull: 503,
    Unavailable: 503,
    WorkerUnreachable: 503,
}
"""The HTTP status of each error; a subclass has that of its nearest base listed here."""


def status_of(problem: Problem) -> int:
    return next(STATUS[kind] for kind in type(problem).__mro__ if kind in STATUS)


def from_validation_error(exc: pydantic.ValidationError | errors.ValidationError) -> Problem:
    details: Any
    if isinstance(exc, errors.ValidationError):
        details = exc.errors
    else:
        details = exc.errors(include_url=False, include_input=False)
    rows = faults_of({**row, "loc": path_in_request(row["loc"])} for row in details)
    summary = summary_of(rows, "body")
    return Invalid(
        _("Correct these arguments and call again: %(faults)s.") % {"faults": summary},
        errors=rows[:50],
    )


PARTS = {"body", "query", "path", "header", "form", "file"}
VALUES_WITH_A_NAME = {"body", "form"}
"""Parts of a request in which django-ninja names the argument of the view before the field."""


def path_in_request(location: Sequence[str | int]) -> list[str]:
    """Return where in what was sent the error is, without the names of our own arguments."""
    parts = [str(each) for each in location]
    if len(parts) < 2 or parts[0] not in PARTS:
        return parts
    part, *path = parts
    if part in VALUES_WITH_A_NAME or path[0] == part:
        # The whole value is at fault: name the part.
        return path[1:] or [part]
    return path


def from_http_error(exc: errors.HttpError) -> Problem:
    if exc.status_code == 400:
        return Unreadable(_("The body is not valid JSON: send one JSON object."))
    return Internal(str(exc))


def unavailable(_exc: Exception) -> Problem:
    return Unavailable(_("Try again in a moment."), headers={"Retry-After": "2"})


def unique_violation(exc: BaseException) -> UniqueViolation | None:
    """Return why a unique constraint has refused a row, if one has: another request has written one
    with the same name after this one had looked for it."""
    cause = exc.__cause__ if isinstance(exc, IntegrityError) else None
    return cause if isinstance(cause, UniqueViolation) else None


def from_integrity_error(exc: IntegrityError) -> Problem:
    if violation := unique_violation(exc):
        # It may be a fault of ours, which writes a row twice. The name holds no text of anybody.
        logger.warning("A unique constraint refused a row: %s", violation.diag.constraint_name)
        return Conflict(
            _(
                "Somebody else has just stored the same thing, or another one of that name: look "
                "for it, or send yours again under another name."
            )
        )
    return internal_error(exc)


def internal_error(exc: BaseException) -> Problem:
    logger.error("Unexpected %s", type(exc).__name__, exc_info=exc)
    return Internal(
        _("This is a fault of the server, not of the request: report the request id to its owner.")
    )


PROBLEMS: dict[type[Exception], Callable[[Any], Problem]] = {
    Problem: lambda exc: exc,
    pydantic.ValidationError: from_validation_error,
    errors.ValidationError: from_validation_error,
    errors.AuthenticationError: lambda _exc: Unauthorized(NO_KEY),
    errors.HttpError: from_http_error,
    Http404: lambda _exc: NotFound(_("There is nothing at this address.")),
    ObjectDoesNotExist: lambda _exc: NotFound(_("There is no such thing in this world.")),
    RequestDataTooBig: lambda _exc: TooLarge(_("The body may be at most 10 MB: send it in parts.")),
    MultiPartParserError: lambda _exc: Unreadable(
        _("The form cannot be read: send multipart/form-data with its boundary.")
    ),
    UnreadablePostError: lambda _exc: Unreadable(_("The body ended too early: send it again.")),
    SuspiciousOperation: lambda _exc: Unreadable(_("The request is malformed.")),
    DataError: lambda _exc: Invalid(
        _("A value is out of range or holds characters that cannot be stored (NUL).")
    ),
    UnicodeEncodeError: lambda _exc: Invalid(_("A text holds half of a character (a surrogate).")),
    IntegrityError: from_integrity_error,
    OperationalError: unavailable,
    InterfaceError: unavailable,
    BrokerDown: lambda _exc: WorkerUnreachable(
        _("The background worker cannot be reached: try again in a minute."),
        headers={"Retry-After": "60"},
    ),
    PoolTimeout: lambda _exc: Unavailable(
        _("Too many calls at once: try again in a moment."), headers={"Retry-After": "2"}
    ),
}


def problem_of(exc: BaseException) -> Problem:
    """Return the problem to answer `exc` with; an unexpected exception is logged and answered
    without details."""
    for kind in type(exc).__mro__:
        if kind in PROBLEMS:
            return PROBLEMS[kind](exc)
    return internal_error(exc)


def bare_problem(status: int) -> Problem:
    """Return the problem for a response that carries only a status."""
    if status == 405:
        return NotAllowed(_("This address does not take that method: see the Allow header."))
    if status == 404:
        return NotFound(_("There is nothing at this address: see /api/v1/docs."))
    if status < 500:
        return Unreadable(_("The request is malformed."))
    return Internal(_("Try again later."))


def problem_body(problem: Problem, request_id: str) -> dict[str, Any]:
    return ProblemOut(
        type=f"urn:memory37:problem:{problem.code}",
        title=problem.title,
        status=status_of(problem),
        detail=problem.detail,
        instance=request_id,
        code=problem.code,
        errors=list(problem.errors),
        candidates=list(problem.candidates),
    ).model_dump()


def problem_answer(exc: BaseException, request_id: str) -> tuple[int, dict[str, str], bytes]:
    """Return the status, headers and body that answer `exc`."""
    problem = problem_of(exc)
    headers = {"Content-Type": MEDIA_TYPE, **problem.headers}
    if isinstance(problem, Unauthorized):
        headers["WWW-Authenticate"] = 'Bearer realm="memory37"'
    return status_of(problem), headers, orjson.dumps(problem_body(problem, request_id))


def problem_response(request: HttpRequest, exc: Any) -> HttpResponse:
    problem = problem_of(exc)
    status, headers, body = problem_answer(problem, getattr(request, "request_id", ""))
    response = HttpResponse(body, status=status, headers=headers)
    response.problem_code = problem.code  # type: ignore[attr-defined]
    return response


def add_problem_handlers(api: NinjaAPI) -> None:
    """Make `api` answer every exception with a problem."""
    for kind in (*PROBLEMS, Exception):
        api.add_exception_handler(kind, problem_response)
