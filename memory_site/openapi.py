"""The OpenAPI 3.1 document, completed with the responses and headers that django-ninja does not
declare; its digest; and the parser and renderer of the API."""

import hashlib
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson
from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.parser import Parser
from ninja.renderers import BaseRenderer
from pydantic import BaseModel
from pydantic_core import to_json

from memory_site.api_reference.descriptions import describe_fields, describe_schemas
from memory_site.api_reference.directions import apply_directions
from memory_site.api_reference.examples import add_examples
from memory_site.api_reference.headers import HEADERS, PARAMETERS, describe_headers
from memory_site.api_reference.problems import problem_answer, share_problems
from memory_site.api_reference.schema_names import rename_schemas
from memory_site.errors import ProblemOut
from memory_site.toolbox import TOOLS, Tool
from retrieval.errors import Invalid
from worlds.answer_dates import add_dates
from worlds.callers import Caller
from worlds.deprecations import DEPRECATED

ALWAYS = (400, 401, 403, 404, 413, 422, 429, 503)
WRITES = (409, 412)
NOTES = ("description", "default", "title")
"""Members that stay beside `anyOf` when a schema is made nullable."""
PROSE = ("description", "title", "examples", "example")
"""Members of a schema that are texts for people."""
SERVERS = [
    {
        "url": "{origin}",
        "description": "Your own server.",
        "variables": {
            "origin": {"default": "http://127.0.0.1:8000", "description": "Its address."}
        },
    }
]
TAGS = {
    "tools": "What a language model calls while it narrates; the same as OpenAI functions and over "
    "MCP.",
    "installation": "What a key is, the game systems, and the worlds.",
    "world": "The key's world, its campaigns and parties, and who learned what.",
    "people": "Members, invitations and keys.",
    "webhooks": "Addresses that are told of events.",
    "knowledge": "Lore, rules, rule books, kinds, comments and proposals.",
    "graph": "Facts: which entity stands in which relation to which, since when, says who.",
    "episodes": "Sessions, scenes, what happened in them, threads and recaps.",
    "npcs": "Characters of the world, and what they think of each party.",
    "art": "Uploaded pictures, and cards that describe pictures for scenes.",
    "audit": "Which program asked what.",
    "archives": "A world as one file: made, downloaded, restored; and as a vault of notes.",
    "imports": "Files of other programs: checked, written, undone.",
    "events": "What has changed, in the order of the commits.",
    "memory": "What an agent remembers: statements, their history, the core memory.",
    "agent": "A working agent: tasks, errors it has met, rules of code.",
}


DEEPEST_JSON = 64
"""What is nested deeper could be stored and then not be read: each reader has its own limit."""


class StrictParser(Parser):
    """Strict UTF-8 and JSON: the standard library lets lone surrogates, NaN and Infinity in."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        text = request.body
        body: dict[str, Any] = orjson.loads(text)
        # Counting is quick, and nearly every body passes by it.
        if text.count(b"[") + text.count(b"{") > DEEPEST_JSON and depth_of(body) > DEEPEST_JSON:
            raise Invalid(f"The body may be nested {DEEPEST_JSON} deep at most.")
        return body


def depth_of(value: Any) -> int:
    """Return how many lists and objects lie inside each other."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = list(
            chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level)
        )
    return depth


class Renderer(BaseRenderer):
    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:  # noqa: ARG002
        caller = getattr(request, "auth", None)
        if isinstance(caller, Caller):
            add_dates(data, caller.world)
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
        document["servers"] = SERVERS
        document["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
        components = document["components"]
        problem_schema = ProblemOut.model_json_schema(ref_template=REF_TEMPLATE)
        components["schemas"]["ProblemOut"] = problem_schema
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: m37_…"},
            "api_key": {
                "type": "apiKey",
                "in": "header",
                "name": "X-API-Key",
                "description": "The same key, for programs that cannot set `Authorization`.",
            },
        }
        components["parameters"], components["headers"] = PARAMETERS, HEADERS
        for method, path, operation in operations(document):
            complete_operation(method, operation, document)
            describe_headers(method, path, operation)
            add_examples(operation)
        used = {tag for *_, operation in operations(document) for tag in operation["tags"]}
        document["tags"] = [{"name": tag, "description": TAGS[tag]} for tag in TAGS if tag in used]
        rename_schemas(document)
        describe_schemas(document)
        describe_fields(document)
        apply_directions(document)
        share_problems(document)
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
    tags = set(operation.get("tags", ()))
    reads = method == "GET"
    for status in (*ALWAYS, *(WRITES if writes else ())) if needs_key else (400, 404, 503):
        operation["responses"].setdefault(status, problem_answer(status, tags))
    for status in {409, 410} & set(operation["responses"]):
        operation["responses"][status] = problem_answer(status, tags)
    if reads:
        operation["responses"].setdefault(304, {"description": "Nothing changed since."})
    operation.setdefault("description", f"{operation['summary']}.")
    if old := DEPRECATED.get(operation["operationId"]):
        operation["deprecated"] = True
        operation["description"] += f"\n\nUse `{old.instead}`. Works until {old.sunset:%Y-%m-%d}."
    tool = next((tool for tool in TOOLS if tool.name == operation["operationId"]), None)
    if tool:
        operation["requestBody"] = _tool_body(tool, document)
    if tool and not tool.reads_only:
        operation["responses"].setdefault(409, problem_answer(409, tags))


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
    parameters = [each for each in operation.get("parameters", ()) if "$ref" not in each]
    if not parameters and "requestBody" not in operation:
        return None
    return [parameters, _schemas_in(operation.get("requestBody", {}))]


def _outputs(operation: dict[str, Any]) -> Any:
    responses = operation["responses"].items()
    return {str(status): _schemas_in(each) for status, each in responses if int(status) < 300}


def _schemas_in(part: dict[str, Any]) -> Any:
    """The content of a body or answer without its example, which changes no contract."""
    content = part.get("content")
    return content and {
        media: {name: value for name, value in each.items() if name != "example"}
        for media, each in content.items()
    }


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
