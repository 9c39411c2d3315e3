"""The OpenAPI document and what checks it, made once for each process that needs them: each takes
more than a second."""

from functools import cache
from typing import Any

from memory_site.api import api


@cache
def api_document() -> dict[str, Any]:
    """Return the document that all tests share: they only read it."""
    return dict(api.get_openapi_schema())


def json_schema_validator() -> Any:
    """Return the class of validators. Its import builds the grammars of all formats, so a process
    that only collects the tests does without."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator
