"""Every request has an id: the caller's own when it is well-formed, else a new one; echoed, logged
and audited."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse
from uuid6 import uuid7

HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,64}")
current: ContextVar[str] = ContextVar("request_id", default="")
_call: ContextVar[tuple[str, str]] = ContextVar("call", default=("", ""))


def call_in_progress() -> tuple[str, str, str]:
    """Return request id, key prefix and tool of what this thread or task is doing, as far as known."""
    return (current.get(), *_call.get())


@contextmanager
def log_context(request_id: str, key: str, tool: str) -> Iterator[None]:
    """Let what is logged within name the call."""
    tokens = current.set(request_id or current.get()), _call.set((key, tool))
    try:
        yield
    finally:
        current.reset(tokens[0])
        _call.reset(tokens[1])


def valid_or_new_id(offered: str | None) -> str:
    """Return `offered` when it may be used as an id, else a new one."""
    return offered if offered and _WELL_FORMED.fullmatch(offered) else uuid7().hex


class RequestIds:
    """Middleware, outermost: `request.request_id`, the log's context, and the header of the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = valid_or_new_id(request.headers.get(HEADER))  # type: ignore[attr-defined]
        token = current.set(request.request_id)  # type: ignore[attr-defined]
        try:
            response = self.get_response(request)
        finally:
            current.reset(token)
        response[HEADER] = request.request_id  # type: ignore[attr-defined]
        return response
