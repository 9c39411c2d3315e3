"""Schemas of the OpenAPI document, kept apart when two classes have one name.

django-ninja files every schema under its class name, and the last one wins: `Written` of the lore would be described as
`Written` of the graph. Here the second gets a name of its own.
"""

from collections.abc import Mapping
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema


class Document(OpenAPISchema):
    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        self._as_given: dict[str, Any] = {}
        self._renamed: dict[str, str] = {}
        super().__init__(api, path_prefix)

    def _create_schema_from_model(self, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], bool]:
        self._renamed = {}
        details, required = super()._create_schema_from_model(*args, **kwargs)
        return referring(details, self._renamed), required

    def add_schema_definitions(self, definitions: dict[str, Any]) -> None:
        self._renamed = {name: self._name_for(name, schema) for name, schema in definitions.items()}
        for name, schema in definitions.items():
            own = self._renamed[name]
            self._as_given[own] = schema
            self.schemas[own] = referring(schema, self._renamed)

    def file(self, name: str, schema: dict[str, Any]) -> dict[str, str]:
        """Keep `schema` with its definitions under `name`, or one like it; return the reference to it."""
        self.add_schema_definitions({**schema.pop("$defs", {}), name: schema})
        return {"$ref": REF_TEMPLATE.format(model=self._renamed[name])}

    def _name_for(self, name: str, schema: Any) -> str:
        number, wanted = 1, name
        while wanted in self._as_given and self._as_given[wanted] != schema:
            number += 1
            wanted = f"{name}{number}"
        return wanted


def referring(node: Any, renamed: Mapping[str, str]) -> Any:
    """Return `node` with its references led to the new names."""
    if isinstance(node, list):
        return [referring(item, renamed) for item in node]
    if not isinstance(node, dict):
        return node
    led = {key: referring(value, renamed) for key, value in node.items()}
    if isinstance(reference := node.get("$ref"), str):
        name = reference.rsplit("/", 1)[-1]
        led["$ref"] = REF_TEMPLATE.format(model=renamed.get(name, name))
    return led
