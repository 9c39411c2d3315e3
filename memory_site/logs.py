"""Logging: one line per record, as text or JSON, with the request id, key and tool of the call.

A request's id is the caller's own when it is well-formed, else a new one.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from uuid6 import uuid7

REQUEST_ID_HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,64}")
current_request_id: ContextVar[str] = ContextVar("request_id", default="")
_call: ContextVar[tuple[str, str]] = ContextVar("call", default=("", ""))


@contextmanager
def log_context(request_id: str, key: str, tool: str) -> Iterator[None]:
    """Add the call to every record that is logged within."""
    tokens = current_request_id.set(request_id or current_request_id.get()), _call.set((key, tool))
    try:
        yield
    finally:
        current_request_id.reset(tokens[0])
        _call.reset(tokens[1])


def valid_or_new_id(request_id: str | None) -> str:
    """Return the caller's `request_id` when it is well-formed, else a new one."""
    return request_id if request_id and _WELL_FORMED.fullmatch(request_id) else uuid7().hex


class CallContext(logging.Filter):
    """Add the request id, and the key and tool of the current call, to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        key, tool = _call.get()
        call = {"request_id": current_request_id.get(), "key": key, "tool": tool}
        for name, value in call.items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class WithoutTraceback(logging.Filter):
    """For what any stranger causes with one request: its line says all, and twenty more each time
    would hide the others."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


def logging_config(form: str, level: str) -> dict[str, Any]:
    """Return Django's LOGGING: one line per record on standard error, as text or as JSON."""
    json_fields = "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s %(key)s %(tool)s"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "call": {"()": "memory_site.logs.CallContext"},
            "one_line": {"()": "memory_site.logs.WithoutTraceback"},
        },
        "formatters": {
            "json": {"()": "pythonjsonlogger.json.JsonFormatter", "fmt": json_fields},
            "text": {"format": "%(levelname)s %(name)s: %(message)s [%(request_id)s]"},
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["call"]}
        },
        "loggers": {
            "django.request": {"level": "ERROR"},  # 4xx answers are in the audit
            "django.security.DisallowedHost": {"filters": ["one_line"]},
        },
        "root": {"handlers": ["stderr"], "level": level},
    }
