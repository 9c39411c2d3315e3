"""docs/tools.md lists each code that a problem can have, with its status."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from memory_site import api  # noqa: F401  loads every operation, and so every problem
from memory_site.errors import status_of
from retrieval.errors import Problem

NEVER_ANSWERED = {"bad_request", "reranker_down"}
"""The base class; and an order of hits that is left as it is."""
ROW = re.compile(r"^\| (\d{3}) \| (.+) \|$", re.MULTILINE)


def problems(base: type[Problem]) -> Iterator[type[Problem]]:
    for each in base.__subclasses__():
        yield each
        yield from problems(each)


def test_the_table_of_errors_has_every_code_with_its_status() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "tools.md").read_text()
    section = page.split("## Errors")[1].split("\n## ")[0]
    documented = {
        (int(status), code)
        for status, codes in ROW.findall(section)
        for code in re.findall(r"`(\w+)`", codes)
    }
    there_are = {
        (status_of(each("")), each.code)
        for each in problems(Problem)
        if each.__module__.partition(".")[0] != "tests" and each.code not in NEVER_ANSWERED
    }
    assert documented == there_are
