"""Logging: one line per record, as text or JSON, with the request id, key and tool of the call."""

import logging
from typing import Any

from memory_site import request_ids


class CallContext(logging.Filter):
    """Add the request id, and the key and tool of the current call, to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        request_id, key, tool = request_ids.call_in_progress()
        for name, value in {"request_id": request_id, "key": key, "tool": tool}.items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


def logging_config(form: str, level: str) -> dict[str, Any]:
    """Return Django's LOGGING: one line per record on standard error, as text or as JSON."""
    json_fields = "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s %(key)s %(tool)s"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"call": {"()": "memory_site.logs.CallContext"}},
        "formatters": {
            "json": {"()": "pythonjsonlogger.json.JsonFormatter", "fmt": json_fields},
            "text": {"format": "%(levelname)s %(name)s: %(message)s [%(request_id)s]"},
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["call"]}
        },
        "loggers": {"django.request": {"level": "ERROR"}},  # 4xx answers are in the audit
        "root": {"handlers": ["stderr"], "level": level},
    }
