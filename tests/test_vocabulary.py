"""Names and layout that the coding standards ask for and that no linter checks."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

APPS = ("retrieval", "worlds", "knowledge", "episodes", "npcs", "art", "memories", "memory_site")
ROOT = Path(settings.BASE_DIR)

IRREGULAR = [
    "begun",
    "bought",
    "bound",
    "brought",
    "built",
    "caught",
    "chosen",
    "cut",
    "dealt",
    "done",
    "drawn",
    "fallen",
    "felt",
    "forgotten",
    "fought",
    "found",
    "given",
    "gone",
    "grown",
    "heard",
    "held",
    "kept",
    "known",
    "laid",
    "led",
    "left",
    "lent",
    "lost",
    "made",
    "meant",
    "met",
    "paid",
    "read",
    "said",
    "seen",
    "sent",
    "shown",
    "shut",
    "sold",
    "sought",
    "spent",
    "split",
    "spoken",
    "spread",
    "struck",
    "taken",
    "taught",
    "thought",
    "told",
    "understood",
    "woken",
    "won",
    "worn",
    "written",
]
NOT_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}
"""Verbs in the infinitive, and nouns."""
QUERYSET_FILTERS = {"believed", "published"}
"""Adjectives, as Django names the filters of a queryset."""
VERBS_TOO = {"cut", "read", "shut", "split", "spread", "left"}
"""Also the infinitive (or, `left`, an opposite of right)."""

METAPHORS = re.compile(
    r"(^|_)(doors?|rooms?|shelf|shelves|court|minds?|keepers?|heard|told|settl(e|es|ed|ing)|stumbles?"
    r"|casting|likeness|ways)(_|$)",
    re.IGNORECASE,
)
TWO_MEANINGS = {
    "DatabaseWrapper",  # Django looks for this name in each database backend
}
NOUNS_IN_ING = {
    "admin_locking",
    "admin_scoping",
    "entity_linking",
    "hashing",
    "name_matching",
    "scoring",
    "working",
}
"""Names of algorithms, and `working` memory: terms of the field."""


def product_files() -> Iterator[Path]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def is_lone_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in NOT_PARTICIPLES | VERBS_TOO | QUERYSET_FILTERS:
        return False
    return word in IRREGULAR or (len(word) > 3 and word.endswith("ed"))


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in product_files()
    }


def functions(trees: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{file}:{node.lineno}", node.name


def classes(trees: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    for file, tree in trees.items():
        yield from (
            (f"{file}:{node.lineno}", node.name)
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        )


@pytest.mark.parametrize("name", ["told", "_kept", "written", "checked"])
def test_a_lone_participle_is_recognised(name: str) -> None:
    assert is_lone_participle(name)


@pytest.mark.parametrize("name", ["write_evidence", "embed", "read", "is_checked", "red_dot"])
def test_a_verb_is_no_participle(name: str) -> None:
    assert not is_lone_participle(name)


def test_functions_are_named_by_what_they_do(trees: dict[str, ast.Module]) -> None:
    assert [where for where in functions(trees) if is_lone_participle(where[1])] == []


def test_a_class_name_has_one_meaning(trees: dict[str, ast.Module]) -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for where, name in classes(trees):
        places[name].append(where)
    assert {
        name: where
        for name, where in places.items()
        if len(where) > 1 and name not in TWO_MEANINGS and name != "Command"
    } == {}


def test_names_are_terms_and_not_metaphors(trees: dict[str, ast.Module]) -> None:
    named = [*functions(trees), *classes(trees), *((file, Path(file).stem) for file in trees)]
    assert [where for where in named if METAPHORS.search(where[1])] == []


def test_modules_are_named_after_things(trees: dict[str, ast.Module]) -> None:
    stems = {file: Path(file).stem for file in trees}
    assert [
        file for file, stem in stems.items() if stem.endswith("ing") and stem not in NOUNS_IN_ING
    ] == []


def test_the_formatter_decides_the_layout() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in product_files()
        if re.search(r"#\s*fmt:", path.read_text(encoding="utf-8"))
    ]
    assert marked == []
