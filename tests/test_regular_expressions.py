"""No regular expression of the project takes more than a moment for a hostile text.

Python's matcher tries every way of reading a text, so two nested repetitions take seconds for a few
thousand characters. Every pattern that a module holds is tried with texts that repeat what it
might repeat.
"""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator

import pytest

PACKAGES = [
    "retrieval",
    "worlds",
    "knowledge",
    "episodes",
    "npcs",
    "art",
    "memories",
    "memory_site",
]
LENGTH = 2_000
UNITS = [
    "a", " ", "\n", "1", "1 ", "-", "a ", "A", "Aa ", ".", ",", '"', "'", "[[", "[", "](", "(",
    "{", "{{", "<", "<a ", "&", ":", ":::", "::: ", "*", "**", "_", "`", "#", "|", "| ", "\\", "/",
    "@", "=", "~", "$", "ё", "가", "a.", "a-", "1d", "1.", "\t", "> ", "- ", "\n\n", "a\n", "http://",
]  # fmt: skip
SECONDS = 0.5
"""Of CPU, for one text. A pattern that takes quadratic time needs a tenth of it."""
SKIPPED_MODULES = ("migrations", "management", "__main__", "wsgi", "asgi", "celery")


def modules() -> Iterator[str]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        for found in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not any(part in SKIPPED_MODULES for part in found.name.split(".")):
                yield found.name


def patterns() -> dict[re.Pattern[str], str]:
    """Every pattern of text that a module holds by name, in a table or a sequence too."""
    found: dict[re.Pattern[str], str] = {}
    for name in modules():
        for attribute, value in vars(importlib.import_module(name)).items():
            for each in inner_values(value):
                if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                    found.setdefault(each, f"{name}.{attribute}")
    return found


def inner_values(value: object, depth: int = 3) -> Iterator[object]:
    yield value
    if depth and isinstance(value, dict):
        value = list(value.values())
    if depth and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from inner_values(each, depth - 1)


@pytest.mark.timeout(240)
def test_no_pattern_is_slow_for_a_hostile_text() -> None:
    found = patterns()
    assert len(found) > 150
    texts = [(unit * LENGTH)[:LENGTH] + end for unit in UNITS for end in ("", "!")]
    slow = {}
    for pattern, place in found.items():
        for text in texts:
            began = time.process_time()
            pattern.search(text)
            if (taken := time.process_time() - began) > SECONDS:
                slow[place] = (text[:8], round(taken, 1))
                break
    assert slow == {}
