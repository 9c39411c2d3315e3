"""The OpenAPI document, made once for each process: that takes more than a second."""

from functools import cache
from typing import Any

from memory_site.api import api


@cache
def api_document() -> dict[str, Any]:
    """Return the document that all tests share: they only read it."""
    return dict(api.get_openapi_schema())
