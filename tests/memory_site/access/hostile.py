"""Values that break programs which trust what they are sent."""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

NUL = "a\x00b"
TEXTS = (
    NUL,
    "nan",
    "inf",
    "-1",
    "9" * 40,
    "0.5",
    "'\"; DROP TABLE worlds_world; --",
    "%s %(a)s {0} {{ 7 }}",
    "\u202e\ufeff\u0301",
    "../../etc/passwd",
    "[[" * 400,
    ":::secret\n" * 400,
    "party:",
    "character:nobody",
    "true",
    "\\",
    "x" * 9_000,
)
"""Sent as a part of an address, a parameter or a field of a form."""
VALUES = (*TEXTS, None, -1, 10**40, 1e308, True, [], {}, [[]], ["a"] * 300, {"a": {"b": [None]}})
"""Sent in place of a value of a JSON body."""
READS = re.compile(
    r"""(?:GET|POST|data|request\.POST|form)\s*(?:\.get|\.getlist)?[\[(]\s*["']([a-z_]+)["']"""
)


def names_read(view: Any) -> set[str]:
    """The parameters and form fields that the module of a view reads."""
    while hasattr(view, "__wrapped__"):
        view = view.__wrapped__
    module = sys.modules.get(getattr(view, "__module__", ""))
    if module is None or not getattr(module, "__file__", None):
        return set()
    with open(str(module.__file__), encoding="utf-8") as source:
        return set(READS.findall(source.read()))


def changed_bodies(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the path of each value of a JSON body, and a function's worth of bodies: the same body
    with that value replaced by each hostile one."""
    for path in paths_in(body):
        for value in VALUES:
            yield ".".join(map(str, path)), replaced(body, path, value)


def paths_in(body: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if above:
        yield above
    items: Any = ()
    if isinstance(body, Mapping):
        items = body.items()
    elif isinstance(body, list):
        items = enumerate(body[:1])
    for key, value in items:
        yield from paths_in(value, (*above, key))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(body) if isinstance(body, Mapping) else list(body)
    copy[path[0]] = replaced(body[path[0]], path[1:], value)
    return copy
