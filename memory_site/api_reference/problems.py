"""The problems that each operation may answer with, listed by status."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from http import HTTPStatus
from typing import Any

import episodes.lore_effects  # noqa: F401 - defines a problem, and is else imported when it is needed
from memory_site.errors import MEDIA_TYPE, STATUS, ProblemOut, status_of
from retrieval.errors import Problem

AREAS = {
    "knowledge": {"knowledge", "graph", "tools", "imports", "world"},
    "episodes": {"episodes", "tools", "npcs"},
    "npcs": {"npcs", "episodes", "tools", "world"},
    "art": {"art", "tools"},
    "memories": {"memory", "agent", "tools"},
}
"""Tags of the operations that may raise the problems of each app; those of `retrieval`, `worlds`
and the site are everywhere."""
ONLY_IN = {"events_gone": {"events", "webhooks"}, "method_not_allowed": set(), "internal": set()}


@cache
def problems_by_status() -> dict[int, list[type[Problem]]]:
    found: dict[int, list[type[Problem]]] = defaultdict(list)
    for kind in {each.code: each for each in [*STATUS, *_subclasses(Problem)]}.values():
        found[status_of(kind("example"))].append(kind)
    return found


def _subclasses(kind: type[Problem]) -> Iterator[type[Problem]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def problem_answer(status: int, tags: set[str]) -> dict[str, Any]:
    """Return the OpenAPI response of a problem: its codes, and one of them as an example."""
    kinds = [each for each in problems_by_status()[status] if _may_occur(each, tags)]
    listed = "; ".join(f"`{each.code}`: {each.title}" for each in sorted(kinds, key=_code))
    phrase = HTTPStatus(status).phrase
    first = next((each for each in kinds if each in STATUS), kinds[0] if kinds else Problem)
    example = ProblemOut(
        type=f"urn:memory37:problem:{first.code}",
        title=first.title,
        status=status,
        detail="What went wrong here, and what to do next.",
        instance="01a207ba2d4f7815bc483774992905a5",
        code=first.code,
    )
    content = {
        "schema": {"$ref": "#/components/schemas/ProblemOut"},
        "example": example.model_dump(),
    }
    description = f"{phrase}. {listed}." if listed else f"{phrase}."
    return {"description": description, "content": {MEDIA_TYPE: content}}


def share_problems(document: dict[str, Any]) -> None:
    """Describe equal problem responses of `document` once, in `components/responses`, and refer to
    them. Each is named after its status and the tags of the first operation that gives it."""
    shared: dict[str, dict[str, Any]] = {}
    names: dict[str, str] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if MEDIA_TYPE not in response.get("content", {}):
                    continue
                text = json.dumps(response, sort_keys=True)
                if text not in names:
                    names[text] = _unused_name(int(status), operation["tags"], shared)
                    shared[names[text]] = response
                reference = f"#/components/responses/{names[text]}"
                operation["responses"][status] = {"$ref": reference}
    document["components"]["responses"] = shared


def _unused_name(status: int, tags: list[str], used: Collection[str]) -> str:
    name = "".join(word.title() for word in [*HTTPStatus(status).phrase.split(), *sorted(tags)])
    same = sum(each == name or each.startswith(f"{name}-") for each in used)
    return f"{name}-{same + 1}" if same else name


def _code(kind: type[Problem]) -> str:
    return kind.code


def _may_occur(kind: type[Problem], tags: set[str]) -> bool:
    if kind.code in ONLY_IN:
        return bool(ONLY_IN[kind.code] & tags)
    area = AREAS.get(kind.__module__.split(".", maxsplit=1)[0])
    return area is None or bool(area & tags)
