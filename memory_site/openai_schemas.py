"""The tools as OpenAI function schemas, in strict form, for the Responses and the Chat Completions
API.

Strict means: every object closed, every property required, an optional one nullable (null =
default), and none of the keywords that strict decoding refuses. What those said (defaults, bounds,
lengths) is said in the description instead.
"""

from enum import StrEnum
from typing import Any

from memory_site.toolbox import Tool

_BOUNDS = {
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "exclusiveMinimum": "> {}",
    "exclusiveMaximum": "< {}",
}
_LENGTHS = {"maxLength": "≤ {} chars", "maxItems": "≤ {}", "minItems": "≥ {}"}
# What strict decoding refuses, besides what `describe_limits` says in words.
_REFUSED = {"$defs", "description", "default", "format", "title", "minLength", "pattern"}
_REFUSED |= {"examples", *_BOUNDS, *_LENGTHS}


class Form(StrEnum):
    RESPONSES = "responses"
    CHAT = "chat"


ENGINE_ONLY = "x-engine-only"
"""Marks an argument that an engine may add to a call; a model is not asked about it."""


def function_schema(tool: Tool, form: Form = Form.RESPONSES) -> dict[str, Any]:
    """Return `tool` as one entry of a request's `tools`."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters(tool),
        "strict": True,
    }
    if form is Form.CHAT:
        return {"type": "function", "function": function}
    return {"type": "function", **function}


def parameters(tool: Tool) -> dict[str, Any]:
    """Return the strict JSON schema of the tool's arguments, with nothing left to look up."""
    schema = tool.request_model.model_json_schema(by_alias=True)
    return strict_schema({**schema, "description": ""}, schema.get("$defs", {}))


def strict_schema(node: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    node = resolve_node(node, defs)
    schema = without(node, *_REFUSED)
    if description := describe_limits(node):
        schema["description"] = description
    if "properties" in node:
        schema |= closed_object(node, defs)
    if "items" in node:
        schema["items"] = strict_schema(node["items"], defs)
    if "anyOf" in node:
        branches = [strict_schema(branch, defs) for branch in node["anyOf"]]
        schema |= one_of_types(branches) or {"anyOf": branches}
    return without(schema, "anyOf") if isinstance(schema.get("type"), list) else schema


def one_of_types(branches: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the short form of a choice between bare types; None for any other choice."""
    is_bare = all(branch.keys() == {"type"} for branch in branches)
    return {"type": [branch["type"] for branch in branches]} if is_bare else None


def closed_object(node: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    required = set(node.get("required", ()))
    properties = {}
    for name, child in node["properties"].items():
        if child.get(ENGINE_ONLY):
            continue
        strict = strict_schema(child, defs)
        properties[name] = strict if name in required else nullable(strict)
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def resolve_node(node: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, and fold `anyOf: [X, null]` into X (what is optional is made nullable by
    its object)."""
    choices = node.get("anyOf", node.get("allOf", ()))
    branches = [branch for branch in choices if branch.get("type") != "null"]
    if len(branches) == 1:
        node = {**branches[0], **without(node, "anyOf", "allOf")}
    if "$ref" in node:
        target = resolve_node(defs[node["$ref"].rsplit("/", 1)[-1]], defs)
        node = {**target, **without(node, "$ref")}
    if "const" in node:
        node = {**without(node, "const"), "enum": [node["const"]]}
    return node


def without(node: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name not in names}


def describe_limits(node: dict[str, Any]) -> str:
    limits = [
        text.format(node[name]) for name, text in {**_BOUNDS, **_LENGTHS}.items() if name in node
    ]
    if "minimum" in node and "maximum" in node:
        limits = [f"{node['minimum']}–{node['maximum']}"]
    if isinstance(node.get("default"), str | int | float) and node["default"] not in ("", False):
        limits.append(f"default {node['default']}")
    description = str(node.get("description", "")).rstrip(".")
    return ". ".join(part for part in (description, ", ".join(limits)) if part)


def nullable(node: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    nullable = {**node, "type": [*dict.fromkeys([*types, "null"])]}
    return {**nullable, "enum": [*node["enum"], None]} if "enum" in node else nullable
