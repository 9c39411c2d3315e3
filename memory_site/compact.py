"""The compact form of a tool's answer, for language models: what says nothing is left out, numbers
are rounded, and a document's licence and attribution are given once instead of with every hit."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

UNREAD = frozenset(
    {
        *("score", "legs", "match", "language", "updated_at", "created_at", "version"),
        *("row", "passage", "explanation"),
    }
)
"""What programs compare; a model reads it and gains nothing."""
USUAL: Mapping[str, object] = {"visibility": "public", "status": "published"}
"""Values that say nothing, of fields that say much otherwise."""
EMPTY: tuple[object, ...] = (None, "", [], {})
DECIMALS = 2
LONG_TEXT = 40
"""A text of more characters is not given twice."""
SOURCES = "sources"


def compact(answer: BaseModel) -> dict[str, Any]:
    """Return `answer` in its compact form. A list of rows is there even if nothing is in it."""
    sources: list[dict[str, Any]] = []
    full = answer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    short = _shorten_object(full, sources)
    if sources:
        short[SOURCES] = {_key(number): source for number, source in enumerate(sources, 1)}
    return {name: [] for name in _row_lists(type(answer))[:1]} | short


def _row_lists(model: type[BaseModel]) -> list[str]:
    """Return the fields that are lists of rows: the first is what the tool is asked for."""
    lists = {
        name: get_args(field.annotation)[0]
        for name, field in model.model_fields.items()
        if get_origin(field.annotation) is list
    }
    return [name for name, item in lists.items() if _is_row(item)]


def _is_row(item: Any) -> bool:
    choices = get_args(item) or (item,)
    return any(is_dataclass(one) or hasattr(one, "model_fields") for one in choices)


def _shorten(value: Any, sources: list[dict[str, Any]]) -> Any:
    if isinstance(value, dict):
        return _shorten_object(value, sources)
    if isinstance(value, list):
        return [_shorten(item, sources) for item in value]
    if isinstance(value, float):
        rounded = round(value, DECIMALS)
        return int(rounded) if rounded.is_integer() else rounded
    return value


def _shorten_object(node: dict[str, Any], sources: list[dict[str, Any]]) -> dict[str, Any]:
    short = {}
    texts = {each for each in node.values() if isinstance(each, str) and len(each) > LONG_TEXT}
    for name, value in node.items():
        if _is_unread(name, value, node):
            continue
        item = _shorten(value, sources)
        if name == "source" and isinstance(item, dict):
            item = _cite(item, node, sources)
        elif isinstance(item, dict):
            item = {key: part for key, part in item.items() if not _is_in(part, texts)}
        if item not in EMPTY:
            short[name] = item
    return short


def _is_unread(name: str, value: Any, node: dict[str, Any]) -> bool:
    if name == "score":
        return "label" not in node  # the score of a disposition is what the answer says
    if name == "id":
        # A memory is revised and told by its id; no tool asks for that of another row.
        return _is_row_id(value) and "bucket" not in node
    return name in UNREAD or (name in USUAL and USUAL[name] == value)


def _is_in(part: Any, texts: set[str]) -> bool:
    return isinstance(part, str) and part in texts


def _cite(source: dict[str, Any], hit: dict[str, Any], sources: list[dict[str, Any]]) -> str:
    """Return the key of `source` in the answer's table, where it is added if it is new. An entry
    that is its own document needs none."""
    if source.get("document") == hit.get("title"):
        source = {name: value for name, value in source.items() if name != "document"}
    if not source:
        return ""
    if source not in sources:
        sources.append(source)
    return _key(sources.index(source) + 1)


def _key(number: int) -> str:
    return f"s{number}"


def _is_row_id(value: Any) -> bool:
    """Whether `value` is the id of a database row."""
    try:
        UUID(value)
    except (ValueError, AttributeError, TypeError):
        return False
    return True


def compact_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of the compact form of `model`: every field may be left out."""
    schema = model.model_json_schema(by_alias=True, mode="serialization")
    parts = schema.get("$defs", {})
    cites = "SourceOut" in parts
    short = {**_loosen(schema), "$defs": {name: _loosen(part) for name, part in parts.items()}}
    if cites:
        table = {"type": "object", "additionalProperties": {"$ref": "#/$defs/SourceOut"}}
        short["properties"][SOURCES] = {**table, "description": "Documents, by key."}
    return _without_unused(short)


def _loosen(node: dict[str, Any]) -> dict[str, Any]:
    """Remove from an object's schema what the compact form leaves out."""
    loose = {name: value for name, value in node.items() if name not in ("required", "title")}
    if "properties" not in node:
        return loose
    loose["properties"] = {
        name: _plain(field)
        for name, field in node["properties"].items()
        if not _is_unread(name, None, node["properties"])
    }
    if node["properties"].get("source", {}).get("$ref") == "#/$defs/SourceOut":
        loose["properties"]["source"] = {"type": "string", "description": "Key in `sources`."}
    return loose


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Remove the notes on a field, and null, which is left out."""
    plain = {name: value for name, value in field.items() if name not in ("title", "default")}
    branches = [each for each in plain.pop("anyOf", ()) if each != {"type": "null"}]
    if len(branches) == 1:
        return {**branches[0], **plain}
    return {**plain, "anyOf": branches} if branches else plain


def _without_unused(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the definitions that nothing refers to any more."""
    text, parts = str({**schema, "$defs": {}}), schema.pop("$defs")
    used: dict[str, Any] = {}
    while added := {
        name: part
        for name, part in parts.items()
        if name not in used and f"'#/$defs/{name}'" in text
    }:
        used |= added
        text += str(added)
    return {**schema, "$defs": used} if used else schema
