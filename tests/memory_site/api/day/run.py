"""Carries out the calls of an engine's day and keeps what was sent and answered.

`"$party.party_id"` in an address or a body stands for that value of the answer saved as `party`;
`"$rows.rows.0.id"` goes into lists."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from worlds import keys
from worlds.keys import Scope

REFERENCE = re.compile(r"\$([a-z_]+)((?:\.\w+)*)")


@dataclass(frozen=True)
class Call:
    """One call of an operation; `path` are the values of the parameters of its address."""

    operation: str
    body: Any = None
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes | str]] = field(default_factory=dict)
    save: str = ""


@dataclass(frozen=True)
class Meanwhile:
    """What happens between two calls: the worker carries out a step, a person does something on
    the site. It is told what the answers saved so far are."""

    happens: Callable[[dict[str, Any]], Any]


def call(operation: str, body: Any = None, *, save: str = "", **more: Any) -> Call:
    """`more`: `query`, `files`, and the parameters of the address by their names."""
    known = {name: more.pop(name) for name in ("query", "files") if name in more}
    return Call(operation, body, path=more, save=save, **known)


@dataclass
class Exchange:
    """What was sent and what was answered."""

    call: Call
    status: int
    body: Any
    answer: Any
    headers: dict[str, str]


class Day:
    """Sends the calls with one key of the installation. `addresses` are the method and path of each
    operation, from the OpenAPI document."""

    def __init__(self, addresses: dict[str, tuple[str, str]]) -> None:
        _key, text = keys.create_key(None, name="engine", scopes=[Scope.ADMIN], audience="gm")
        self.addresses = addresses
        self.client = Client(headers={"Authorization": f"Bearer {text}"})
        self.saved: dict[str, Any] = {}
        self.exchanges: list[Exchange] = []

    def carry_out(self, steps: Sequence[Call | Meanwhile]) -> None:
        for step in steps:
            if isinstance(step, Call):
                self.send(step)
            else:
                step.happens(self.saved)

    def send(self, step: Call) -> None:
        answer = self.ask(step)
        content = b"".join(answer) if answer.streaming else answer.content
        assert answer.status_code < 300, (step, content[:800])
        is_json = answer.get("Content-Type", "").startswith("application/json")
        parsed = json.loads(content) if content and is_json else None
        if step.save:
            self.saved[step.save] = parsed
        self.exchanges.append(
            Exchange(step, answer.status_code, self.filled(step.body), parsed, dict(answer.headers))
        )

    def ask(self, step: Call, **more: str) -> Any:
        """Send the call with `more` headers and return the answer."""
        method, address = self.addresses[step.operation]
        for name, value in step.path.items():
            text = str(self.filled(value))
            address = re.sub(rf"{{(\w+:)?{name}}}", quote(text), address)
        if step.query:
            address += "?" + urlencode(self.filled(step.query))
        headers = {"X-World": "salt-coast", "X-Namespace": "scribe", **more}
        body = self.filled(step.body)
        if step.files:
            parts = {
                field: SimpleUploadedFile(name, self.filled(content))
                for field, (name, content) in step.files.items()
            }
            return self.client.post(address, {**(body or {}), **parts}, headers=headers)
        text = "" if body is None else json.dumps(body)
        return self.client.generic(
            method, address, text, content_type="application/json", headers=headers
        )

    def filled(self, value: Any) -> Any:
        """Replace references to saved answers, at any depth."""
        if isinstance(value, dict):
            return {name: self.filled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        if match := REFERENCE.fullmatch(value):
            return self.lookup(match)
        return REFERENCE.sub(lambda match: str(self.lookup(match)), value)

    def lookup(self, match: re.Match[str]) -> Any:
        found = self.saved[match[1]]
        for name in match[2].split(".")[1:]:
            found = found[int(name)] if isinstance(found, list) else found[name]
        return found
