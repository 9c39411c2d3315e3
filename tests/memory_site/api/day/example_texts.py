"""Exchanges of the day as examples: short, and the same in every run where nobody looks for a
value."""

import re
from typing import Any

from tests.memory_site.api.day.run import Exchange

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)")
SECRET = re.compile(r"m37_[0-9a-z]+_[\w-]+|(?<=/invitation/)[\w-]+")
MOST_ITEMS = 2


class Shortener:
    """Replaces ids by such as stay the same from run to run, by the order in which they come."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def shorten(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(name): self.shorten(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.shorten(item) for item in value[:MOST_ITEMS]]
        if isinstance(value, float):
            return round(value, 3)
        return self.text(value) if isinstance(value, str) else value

    def text(self, value: str) -> str:
        value = UUID.sub(lambda match: self.same_id(match[0]), value)
        value = SECRET.sub("…", value)
        return MOMENT.sub("2026-11-22T19:40:00Z", value)

    def same_id(self, value: str) -> str:
        new = f"01a20000-0000-7000-8000-{len(self.ids) + 1:012d}"
        return self.ids.setdefault(value, new)


def examples_of(exchanges: list[Exchange]) -> dict[str, dict[str, Any]]:
    """Return the first exchange of each operation."""
    found: dict[str, dict[str, Any]] = {}
    shortener = Shortener()
    for each in exchanges:
        if each.call.operation in found:
            continue
        example = {"body": each.body, "answer": each.answer}
        if each.call.files:
            example["body"] = {**(each.body or {}), **files_of(each)}
        kept = {name: shortener.shorten(part) for name, part in example.items() if part is not None}
        found[each.call.operation] = kept
    return dict(sorted(found.items()))


def files_of(exchange: Exchange) -> dict[str, Any]:
    """The files that were sent, in words; `files` is a list."""
    return {
        name: ["(the file)"] if name == "files" else "(the file)" for name in exchange.call.files
    }
