"""Descriptions that classes leave to fields.toml (fields and parameters) and schemas.toml."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("fields.toml")
SCHEMAS = Path(__file__).with_name("schemas.toml")


@cache
def texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text())


@cache
def schema_texts() -> dict[str, str]:
    """Descriptions by the name that a schema has in the document."""
    return tomllib.loads(SCHEMAS.read_text())


def describe_schemas(document: dict[str, Any]) -> None:
    """Describe every schema whose class has no docstring."""
    for name, schema in document["components"]["schemas"].items():
        if not schema.get("description") and name in schema_texts():
            schema["description"] = schema_texts()[name]


def describe_fields(document: dict[str, Any]) -> None:
    """Describe every field and parameter that has no description of its own, and leave out the
    titles that pydantic makes of the fields' names."""
    for schema in document["components"]["schemas"].values():
        for name, node in schema.get("properties", {}).items():
            node.pop("title", None)
            if not node.get("description") and name in texts()["fields"]:
                node["description"] = texts()["fields"][name]
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                describe_parameter(parameter)


def describe_parameter(parameter: dict[str, Any]) -> None:
    if "$ref" in parameter:
        return
    schema = parameter.get("schema", {})
    schema.pop("title", None)
    text = parameter.get("description") or schema.pop("description", "")
    parameter["description"] = text or texts()["parameters"].get(parameter["name"], "")
