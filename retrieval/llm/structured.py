"""Structured answers of a language model: JSON schema, request formats and parsing."""

import json
import re
from enum import IntEnum
from typing import Any

from pydantic import BaseModel, ValidationError

from retrieval.errors import LanguageModelDown

# Bounds where the model class sets none: small models otherwise write until the token limit.
MAX_STRING, MAX_ITEMS = 600, 20
UNSUPPORTED = {"title", "default", "examples", "discriminator", "$comment"}
BOUNDS = {"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"}
BOUNDS |= {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems"}
BOUNDS |= {"format", "pattern"}
INSTRUCTION = "Answer with one JSON object that fits this JSON schema, and with nothing else:"
THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)

Schema = dict[str, Any]
Answer = dict[str, Any]


class AnswerFormat(IntEnum):
    """Formats of the request for an object, best first."""

    BOUNDED = 0  # JSON schema with bounds (llama.cpp, vLLM)
    SCHEMA = 1  # JSON schema without bounds (OpenAI refuses them)
    JSON = 2  # any JSON object, the schema in the prompt
    PLAIN = 3  # the schema in the prompt


class InvalidAnswer(Exception):
    """The answer is not a valid object; the message tells the model what to correct."""


class NoValidAnswer(LanguageModelDown):
    """The server answered each time, but never with what was asked for."""


def strict_schema(model: type[BaseModel], *, with_bounds: bool) -> Schema:
    """Return the JSON schema of `model` with closed objects, every property required, strings and
    lists bounded or all bounds left out."""
    schema: Schema = _strict(model.model_json_schema(), with_bounds=with_bounds)
    return schema


def _strict(part: Any, *, with_bounds: bool) -> Any:
    if isinstance(part, list):
        return [_strict(item, with_bounds=with_bounds) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        # Strict mode refuses keywords beside `$ref`.
        return {"$ref": part["$ref"]}
    dropped_keys = UNSUPPORTED if with_bounds else UNSUPPORTED | BOUNDS
    schema = {
        key: value for key, value in part.items() if key not in dropped_keys or _is_field_map(part)
    }
    # Strict mode knows `anyOf` alone; for a validator of one answer the two are as good.
    schema = {
        "anyOf" if key == "oneOf" else key: _strict(value, with_bounds=with_bounds)
        for key, value in schema.items()
    }
    if with_bounds and schema.get("type") == "array":
        schema = {"maxItems": MAX_ITEMS, **schema}
    elif with_bounds and schema.get("type") == "string":
        is_bounded = bool(schema.keys() & {"enum", "const", "format"})
        schema = schema if is_bounded else {"maxLength": MAX_STRING, **schema}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        return {**schema, "additionalProperties": False, "required": list(schema["properties"])}
    return schema


def _is_field_map(part: Schema) -> bool:
    """Whether `part` maps field names to schemas, so that "title" in it is a field's name."""
    return all(isinstance(value, dict) for value in part.values())


def request_for(model: type[BaseModel], form: AnswerFormat) -> Schema:
    """Return the arguments of the call that request `model` in this `form`."""
    if form in (AnswerFormat.BOUNDED, AnswerFormat.SCHEMA):
        schema = strict_schema(model, with_bounds=form is AnswerFormat.BOUNDED)
        json_schema = {"name": model.__name__, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    return {"response_format": {"type": "json_object"}} if form is AnswerFormat.JSON else {}


def system_prompt_for(system_prompt: str, model: type[BaseModel], form: AnswerFormat) -> str:
    """Return the system prompt, with the schema added where the server does not enforce it."""
    if form in (AnswerFormat.BOUNDED, AnswerFormat.SCHEMA):
        return system_prompt
    schema = json.dumps(strict_schema(model, with_bounds=True), ensure_ascii=False)
    return f"{system_prompt}\n\n{INSTRUCTION}\n{schema}"


def text_of_answer(answer: Any) -> str:
    """Return the text of a completion, empty for anything else that a server sends."""
    choices = getattr(answer, "choices", None)
    return str(choices[0].message.content or "") if choices else ""


def parse_answer(text: str, model: type[BaseModel]) -> dict[str, Any]:
    """Return the object in `text`, validated. Raises `InvalidAnswer`."""
    try:
        return model.model_validate(first_json_object(text)).model_dump()
    except ValidationError as error:
        faults = [(".".join(map(str, e["loc"])) or "object", e["msg"]) for e in error.errors()[:5]]
        raise InvalidAnswer("; ".join(f"{place}: {text}" for place, text in faults)) from error


def first_json_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in `text`: some models write their reasoning first, or put the
    object into a code fence."""
    answer = THINKING.sub("", text)
    decoder = json.JSONDecoder()
    for brace in re.finditer(r"\{", answer):
        try:
            value, _end = decoder.raw_decode(answer, brace.start())
        except (ValueError, RecursionError):
            continue
        return dict(value)
    raise InvalidAnswer("There is no complete JSON object in the answer.")
