"""Every request has an id: the caller's own when it is well-formed, else a new one; echoed, logged
and audited."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
