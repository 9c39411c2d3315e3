"""Pages for what went wrong. They read no database, so that they also work when it is away, and
show no detail of a fault: the log has it under the request id.
"""

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from kombu.exceptions import OperationalError as BrokerDown
from psycopg_pool import PoolTimeout

from memory_site.errors import problem_of, status_of, unique_violation
from retrieval.errors import Problem

logger = logging.getLogger(__name__)
EXPECTED = (
    *(Problem, DataError, OperationalError, InterfaceError, PoolTimeout, RequestDataTooBig),
    BrokerDown,
)
"""What a page may raise and `memory_site.errors` has words for."""

TITLES = {
    400: _("This address or form cannot be read"),
    403: _("You may not do this"),
    404: _("There is nothing here"),
    409: _("Somebody changed this meanwhile"),
    413: _("This is too large"),
    422: _("This cannot be used"),
    429: _("Too many requests"),
    500: _("Something failed on the server"),
    503: _("The site cannot answer just now"),
}


def is_expected(exc: Exception) -> bool:
    return isinstance(exc, EXPECTED) or unique_violation(exc) is not None


def error_page(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    context = {
        "status": status,
        "title": TITLES.get(status, TITLES[400]),
        "detail": detail,
        # Who views the world as its players do finds the way back on a page that they do not see.
        "viewer": getattr(request, "viewer", None),
        "request_id": getattr(request, "request_id", "") if status >= 500 else "",
    }
    return render(request, "error.html", context, status=status)


def problem_page(request: HttpRequest, exc: Exception) -> HttpResponse:
    problem = problem_of(exc)
    if status_of(problem) >= 500:
        logger.error("%s: %s", request.path, type(exc).__name__, exc_info=exc)
    return error_page(request, status_of(problem), problem.detail)


def bad_request(request: HttpRequest, exception: Any) -> HttpResponse:
    if isinstance(exception, TooManyFieldsSent | TooManyFilesSent):
        return error_page(request, 413, gettext("Choose fewer at once, and send the form again."))
    return error_page(request, 400, gettext("Check the address, or go back and try again."))


def permission_denied(request: HttpRequest, exception: Any) -> HttpResponse:
    detail = str(exception) or gettext("Ask a designer of the world or an operator of the site.")
    return error_page(request, 403, detail)


def not_found(request: HttpRequest, exception: Any) -> HttpResponse:
    detail = gettext(
        "The page does not exist, or you may not see it. Check the address, or look for it by name."
    )
    return error_page(request, 404, detail)


def server_error(request: HttpRequest) -> HttpResponse:
    detail = gettext("It was not your fault. What you saved before is safe; try again in a moment.")
    return error_page(request, 500, detail)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token does not fit: it is too old, or comes from another site."""
    detail = gettext(
        "The form is too old, or cookies are off. Go back, load the page again, and send the form "
        "once more. Your text is still there when you go back."
    )
    return error_page(request, 403, detail)
