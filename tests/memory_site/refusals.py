"""Find refusals that a page would show in English whatever its language is. No database needed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from retrieval.errors import Problem
from tests.memory_site.catalogues import PACKAGES

FOR_PROGRAMS = re.compile(
    r"""
    (^|/)(
        (\w+_)?(api|tools) | mcp\w* | rest | rest_\w+ | openapi | toolbox | unknown_input
        | idempotency | callers | browser_origins | web_server | world_resource | references
        | memgpt | vector_store | agent_\w+ | conversation | transfer | request | domains
    )\.py$
    | /(embedders|llm|rerankers|event_log)/  # what an operator configures, what a program reads
    | /(buckets|code_rules|coding_agent|ledger|fact_check|srd)/  # of agents and commands alone
    | (^|/)(management|demo)/
    | knowledge/(ingest|export|search)\.py$
    | graph/(api|caller_views|neo4j_store)\.py$
    | episodes/threads\.py$ | memories/namespaces\.py$ | play/live\.py$ | webhooks/attempts\.py$
    """,
    re.VERBOSE,
)
"""Modules whose refusals no page shows: they answer programs, agents and commands."""


def untranslated_refusals() -> list[str]:
    """Return file and line of each problem that is raised with a text of its own in English."""
    base = Path(settings.BASE_DIR)
    names = {each.__name__ for each in _subclasses(Problem)}
    found = []
    for package in PACKAGES:
        for path in sorted((base / package).rglob("*.py")):
            module = str(path.relative_to(base))
            if not FOR_PROGRAMS.search(module):
                lines = _lines_with_a_literal(ast.parse(path.read_text()), names)
                found += [f"{module}:{line}" for line in lines]
    return found


def _subclasses(kind: type[Problem]) -> Iterator[type[Problem]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)


def _lines_with_a_literal(tree: ast.Module, names: set[str]) -> Iterator[int]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        if node.func.id in names and _has_words(node.args[0]):
            yield node.lineno


def _has_words(node: ast.expr) -> bool:
    """Whether the text has words of its own. The name of a field before a colon is none."""
    if isinstance(node, ast.BinOp):
        return _has_words(node.left)
    if isinstance(node, ast.IfExp):
        return _has_words(node.body) or _has_words(node.orelse)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return any(re.search(r"[A-Za-z]{2}", re.sub(r"^\w+: $", "", str(part))) for part in parts)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
