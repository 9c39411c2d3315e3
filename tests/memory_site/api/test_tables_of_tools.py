"""docs/tools.md lists each code that a problem can have, with its status, and the cost of each
tool."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from memory_site import urls  # noqa: F401  loads every page and operation, and so every problem
from memory_site.errors import status_of
from memory_site.toolbox import TOOLS, Profile
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


def test_the_tables_of_costs_have_every_tool() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "tools.md").read_text()
    section = page.split("### What they cost")[1].split("\n## ")[0]
    lists, answers = section.split("| answer |")
    documented = dict(re.findall(r"^\| `?(\w+)`? \| (\d+) \|", lists, re.MULTILINE))
    counts = {str(each): sum(each in tool.profiles for tool in TOOLS) for each in Profile}
    counts["all"] = len(TOOLS)
    assert documented == {name: str(count) for name, count in counts.items()}
    assert set(re.findall(r"^\| `(\w+)`", answers, re.MULTILINE)) == {tool.name for tool in TOOLS}
