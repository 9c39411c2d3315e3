"""Structured answers of a language model: their schema, ways to ask for it, reading what comes."""

import json
import re
from enum import IntEnum
from typing import Any

from pydantic import BaseModel, ValidationError

MAX_STRING, MAX_ITEMS = (
    600,
    20,
)  # where the model class sets no bound: small models run on otherwise
UNSUPPORTED = {"title", "default", "examples", "discriminator", "$comment"}
BOUNDS = {
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
}
BOUNDS |= {"format", "pattern", "multipleOf", "uniqueItems"}
INSTRUCTION = "Answer with one JSON object that fits this JSON schema, and with nothing else:"
THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)

Schema = dict[str, Any]


class AnswerFormat(IntEnum):
    """How an object is asked for, best first; a server that refuses one is asked in the next."""

    BOUNDED = 0  # JSON schema with bounds (llama.cpp, vLLM)
    SCHEMA = 1  # JSON schema without bounds (OpenAI refuses them)
    JSON = 2  # any JSON object, the schema in the prompt
    PLAIN = 3  # the schema in the prompt


class InvalidAnswer(Exception):
    """What came back is not the object asked for; the message tells the model what is wrong."""


def strict_schema(model: type[BaseModel], *, bounded: bool) -> Schema:
    """Return the JSON schema of `model` with closed objects, every property required, strings and
    lists bounded or all bounds left out."""
    schema: Schema = _strict(model.model_json_schema(), bounded=bounded)
    return schema


def _strict(part: Any, *, bounded: bool) -> Any:
    if isinstance(part, list):
        return [_strict(item, bounded=bounded) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return {"$ref": part["$ref"]}  # strict mode allows no neighbours
    dropped_keys = UNSUPPORTED if bounded else UNSUPPORTED | BOUNDS
    schema = {
        key: value for key, value in part.items() if key not in dropped_keys or _is_field_map(part)
    }
    schema = {rename_keyword(key): _strict(value, bounded=bounded) for key, value in schema.items()}
    return close_object(add_bounds(schema) if bounded else schema)


def _is_field_map(part: Schema) -> bool:
    """Whether `part` maps field names to schemas: then "title" or "format" in it is a field, not a
    keyword."""
    return all(isinstance(value, dict) for value in part.values())


def rename_keyword(key: str) -> str:
    return "anyOf" if key == "oneOf" else key


def close_object(part: Schema) -> Schema:
    if part.get("type") != "object" or not isinstance(part.get("properties"), dict):
        return part
    return {**part, "additionalProperties": False, "required": list(part["properties"])}


def add_bounds(part: Schema) -> Schema:
    if (
        part.get("type") == "string"
        and "enum" not in part
        and "const" not in part
        and "format" not in part
    ):
        return {"maxLength": MAX_STRING, **part}
    return {"maxItems": MAX_ITEMS, **part} if part.get("type") == "array" else part


def request_for(model: type[BaseModel], way: AnswerFormat) -> Schema:
    """Return the arguments of the call that ask for `model` in this `way`."""
    if way in (AnswerFormat.BOUNDED, AnswerFormat.SCHEMA):
        schema = strict_schema(model, bounded=way is AnswerFormat.BOUNDED)
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": model.__name__, "strict": True, "schema": schema},
            }
        }
    return {"response_format": {"type": "json_object"}} if way is AnswerFormat.JSON else {}


def system_prompt_for(system_prompt: str, model: type[BaseModel], way: AnswerFormat) -> str:
    """Return the system prompt, with the schema where the server does not hold the model to it."""
    if way in (AnswerFormat.BOUNDED, AnswerFormat.SCHEMA):
        return system_prompt
    schema = json.dumps(strict_schema(model, bounded=True), ensure_ascii=False)
    return f"{system_prompt}\n\n{INSTRUCTION}\n{schema}"


def parse_answer(text: str, model: type[BaseModel]) -> dict[str, Any]:
    """Return the object in `text`, validated. Raises `InvalidAnswer`."""
    try:
        return model.model_validate(first_json_object(text)).model_dump()
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'object'}: {fault['msg']}"
            for fault in error.errors()[:5]
        ]
        raise InvalidAnswer("; ".join(faults)) from error


def first_json_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in `text`: some models think aloud first, or wrap it in a code
    fence."""
    answer = THINKING.sub("", text)
    decoder = json.JSONDecoder()
    for brace in re.finditer(r"\{", answer):
        try:
            value, _end = decoder.raw_decode(answer, brace.start())
        except (ValueError, RecursionError):
            continue
        return dict(value)
    raise InvalidAnswer("There is no complete JSON object in the answer.")
