"""What the scripted server can answer. Each function returns an `Answer`, or a function of the
request body.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

Body = dict[str, Any]
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    wait: float = 0.0
    cut: bool = False
    """Close the connection after half of the body."""


Scripted = Answer | Callable[[Body], Answer]


def as_json(value: Any, code: int = 200, **headers: str) -> Answer:
    return Answer(code, json.dumps(value).encode(), {**JSON, **headers})


# --- Answers for any route
def status(code: int, *, retry_after: float | None = None, error: str = "scripted") -> Answer:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return as_json(
        {"error": {"message": error, "type": "scripted", "code": error}}, code, **headers
    )


def hang(seconds: float = 60) -> Answer:
    """Say nothing for so long (or until the server closes), then break off."""
    return Answer(wait=seconds, cut=True)


def garbage() -> Answer:
    return Answer(
        body=b"<html><body>Bad gateway</body></html>", headers={"Content-Type": "text/html"}
    )


def not_json() -> Answer:
    return Answer(body=b'{"data": [{"embed')


def drop() -> Answer:
    return Answer(body=b'{"data": []}' * 10, cut=True)


# --- Embeddings
def vectors(rows: list[list[float]]) -> Answer:
    data = [
        {"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)
    ]
    return as_json(
        {
            "object": "list",
            "data": data,
            "model": "scripted",
            "usage": {"prompt_tokens": 7, "total_tokens": 7},
        }
    )


def hashed(body: Body) -> Answer:
    return vectors(_rows(body))


def nan() -> Scripted:
    return lambda body: vectors([[float("nan"), *row[1:]] for row in _rows(body)])


def zeros() -> Scripted:
    return lambda body: vectors([[0.0] * len(row) for row in _rows(body)])


def wrong_width(width: int) -> Scripted:
    return lambda body: vectors([row[:width] for row in _rows(body)])


def too_few() -> Scripted:
    return lambda body: vectors(_rows(body)[:-1])


def shuffled() -> Scripted:
    """The right rows in another order, told apart by `index`, as the interface allows."""

    def reverse(body: Body) -> Answer:
        answer = json.loads(hashed(body).body)
        answer["data"].reverse()
        return as_json(answer)

    return reverse


def _rows(body: Body) -> list[list[float]]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    return [_row(text, body.get("dimensions") or 1536) for text in texts]


def _row(text: str, width: int) -> list[float]:
    row = [0.0] * width
    row[0] = 0.01
    for word in re.findall(r"\w+", text.casefold()):
        row[int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % width] += 1.0
    return row


# --- Chat
def say(text: str, *, finish: str = "stop") -> Scripted:
    return lambda _body: _message({"content": text}, finish)


def answer_json(value: Any) -> Scripted:
    return say(json.dumps(value, ensure_ascii=False))


def answer_without_usage(value: Any) -> Answer:
    """As many servers of one's own: they count no tokens."""
    body = json.loads(_message({"content": json.dumps(value)}, "stop").body)
    return as_json({**body, "usage": None})


def calls(name: str, arguments: Body | str, *, id: str = "call_1") -> Answer:
    """Ask for one tool call; `arguments` as a string may be broken JSON."""
    encoded = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": encoded}}
    return _message({"content": None, "tool_calls": [call]}, "tool_calls")


def no_schema() -> Scripted:
    """Refuse any `response_format`, as older servers do; answer the smallest fitting object without
    it.
    """
    return lambda body: (
        status(400, error="response_format is not supported")
        if "response_format" in body
        else smallest(body)
    )


def smallest(body: Body) -> Answer:
    """ "ok", or the smallest instance of the schema that was asked for."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    text = json.dumps(_instance(schema, schema.get("$defs", {}))) if schema else "ok"
    answer = say(text)
    return answer(body) if callable(answer) else answer


def _instance(schema: Body, definitions: Body) -> Any:
    if "$ref" in schema:
        return _instance(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return _instance(schema["anyOf"][-1], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {
            name: _instance(part, definitions)
            for name, part in schema.get("properties", {}).items()
        }
    if schema.get("type") == "array":
        return [_instance(schema["items"], definitions)] * schema.get("minItems", 0)
    return {
        "string": "x" * schema.get("minLength", 0),
        "integer": 0,
        "number": 0.0,
        "boolean": False,
    }.get(schema.get("type", "null"))


def _message(message: Body, finish: str) -> Answer:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return as_json({**_head("chat.completion"), "choices": [choice], "usage": _usage(str(message))})


def _head(kind: str) -> Body:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "scripted"}


def _usage(text: str) -> Body:
    spoken = len(text.split())
    return {"prompt_tokens": 11, "completion_tokens": spoken, "total_tokens": 11 + spoken}
