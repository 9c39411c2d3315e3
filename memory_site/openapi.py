"""The OpenAPI 3.1 document, completed with the responses and headers that django-ninja does not
declare; its digest; and the parser and renderer of the API."""

import hashlib
import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import orjson
from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.parser import Parser
from ninja.renderers import BaseRenderer
from pydantic import BaseModel
from pydantic_core import to_json

from memory_site.api_reference.schema_names import rename_schemas
from memory_site.errors import MEDIA_TYPE, ProblemOut
from memory_site.toolbox import TOOLS, Tool

ALWAYS = (400, 401, 403, 404, 413, 422, 429, 503)
WRITES = (409, 412)
WRITE_HEADERS = (
    "Headers: `Idempotency-Key` (the same again replays the first answer for a day "
    "instead of writing twice),"
    " `If-Match` (the ETag last read; 412 when the entity has changed since)."
)
"""Text instead of parameters: a generated test would send one key with two bodies, which the API
refuses."""
NOTES = ("description", "default", "title")
"""Members that stay beside `anyOf` when a schema is made nullable."""
PROSE = ("description", "title", "examples", "example")
"""Members of a schema that are texts for people."""
_REQUEST_ID = {
    "in": "header",
    "name": "X-Request-ID",
    "required": False,
    "description": "Your own id for this request (1 to 64 of A-Z a-z 0-9 . _ : -), "
    "else it gets a new one.",
    "schema": {"type": "string"},
}


class StrictParser(Parser):
    """Strict UTF-8 and JSON: the standard library lets lone surrogates, NaN and Infinity in."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        body: dict[str, Any] = orjson.loads(request.body)
        return body


class Renderer(BaseRenderer):
    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:  # noqa: ARG002
        try:
            return orjson.dumps(data, default=str)
        except TypeError:  # an integer of more than 64 bits in somebody's payload
            return to_json(data, fallback=str)


class ApiDocument(OpenAPISchema):
    """django-ninja stores every schema under its class name, and the last one wins: here two that
    differ are an error."""

    def add_schema_definitions(self, definitions: dict[str, Any]) -> None:
        for name, schema in definitions.items():
            if self.schemas.setdefault(name, schema) != schema:
                raise ValueError(f"Two different schemas are called {name}: rename one class.")

    def add_model(self, model: type[BaseModel], schema: dict[str, Any]) -> dict[str, str]:
        """Add the schema of `model` with its definitions; return the reference to it."""
        self.add_schema_definitions({**schema.pop("$defs", {}), model.__name__: schema})
        return {"$ref": REF_TEMPLATE.format(model=model.__name__)}


class MemoryApi(NinjaAPI):
    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        document = ApiDocument(
            self, self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        )
        components = document["components"]
        problem_schema = ProblemOut.model_json_schema(ref_template=REF_TEMPLATE)
        components["schemas"]["ProblemOut"] = problem_schema
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: m37_…"},
            "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        for method, _path, operation in operations(document):
            complete_operation(method, operation, document)
        rename_schemas(document)
        return document


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path and operation of everything in `document`."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def complete_operation(method: str, operation: dict[str, Any], document: ApiDocument) -> None:
    writes = method != "GET" and "tools" not in operation.get("tags", ())
    needs_key = "security" in operation
    if needs_key:
        operation["security"] = [{"bearer": []}, {"api_key": []}]
    for status in (*ALWAYS, *(WRITES if writes else ())) if needs_key else (400, 404, 503):
        operation["responses"].setdefault(status, _problem_answer(status))
    operation.setdefault("parameters", []).append(_REQUEST_ID)
    if writes:
        operation["description"] = f"{operation.get('description', '')}\n\n{WRITE_HEADERS}".strip()
    tool = next((tool for tool in TOOLS if tool.name == operation["operationId"]), None)
    if tool:
        operation["requestBody"] = _tool_body(tool, document)
    if tool and not tool.reads_only:
        operation["responses"].setdefault(409, _problem_answer(409))


def _problem_answer(status: int) -> dict[str, Any]:
    reference = {"$ref": REF_TEMPLATE.format(model="ProblemOut")}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": reference}},
    }


def _tool_body(tool: Tool, document: ApiDocument) -> dict[str, Any]:
    schema = tool.request_model.model_json_schema(by_alias=True, ref_template=REF_TEMPLATE)
    content = {"schema": document.add_model(tool.request_model, _null_is_default(schema))}
    return {"required": bool(schema.get("required")), "content": {"application/json": content}}


def _null_is_default(schema: dict[str, Any]) -> dict[str, Any]:
    """Declare every optional property nullable, at any depth: a tool takes null as "left out"."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, node in part.get("properties", {}).items():
            is_nullable = {"type": "null"} in node.get("anyOf", ())
            if name in part.get("required", ()) or is_nullable:
                continue
            notes = {key: node.pop(key) for key in NOTES if key in node}
            part["properties"][name] = {"anyOf": [node, {"type": "null"}], **notes}
    return schema


def contract_digest(document: dict[str, Any]) -> list[str]:
    """Return one line per operation: method, path, operation id, and what goes in and out (by short
    hashes)."""
    schemas = document["components"]["schemas"]
    return sorted(
        f"{method:6} {path} {operation['operationId']} "
        f"in={schema_mark(_inputs(operation), schemas)}"
        f" out={schema_mark(_outputs(operation), schemas)}"
        for method, path, operation in operations(document)
    )


def _inputs(operation: dict[str, Any]) -> Any:
    parameters = [
        each for each in operation.get("parameters", ()) if each["name"] != _REQUEST_ID["name"]
    ]
    if not parameters and "requestBody" not in operation:
        return None
    return [parameters, operation.get("requestBody", {}).get("content")]


def _outputs(operation: dict[str, Any]) -> Any:
    responses = operation["responses"].items()
    return {str(status): each.get("content") for status, each in responses if int(status) < 400}


def schema_mark(node: Any, schemas: dict[str, Any]) -> str:
    """Name the schema and hash all that it refers to; texts for people do not count."""
    if node is None:
        return "-"
    text = json.dumps(resolve_references(node, schemas, ()), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def resolve_references(node: Any, schemas: dict[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [resolve_references(item, schemas, within) for item in node]
    if not isinstance(node, dict):
        return node
    name = str(node.get("$ref", "")).rsplit("/", 1)[-1]
    if name:
        if name in within:
            return name
        return resolve_references(schemas[name], schemas, (*within, name))
    return {
        key: resolve_references(value, schemas, within)
        for key, value in node.items()
        if key not in PROSE or isinstance(value, dict)
    }
