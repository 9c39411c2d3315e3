"""Check the secret blocks of a text before it is stored: a fence that is misspelt or never closed
would show a secret, and an audience that does not exist would hide it from those who know it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from retrieval.errors import Invalid
from retrieval.text import DEEPEST_SECRET, Fence, read_fences
from worlds.audience_names import (
    AudienceName,
    audience_names,
    describe_missing,
    missing_audiences,
)
from worlds.audiences import NAMED_KINDS
from worlds.exact_forms import UNFINISHED_MERGE
from worlds.models import Campaign, World
from worlds.text_diff import lines_of_markers

MOST_PROBLEMS = 20
LONGEST_SOURCE = 60
_NAMED = re.compile(r"^(?P<kind>\w+)[:：][ \t]*(?P<slug>\S*)")
_AUDIENCE_KINDS = NAMED_KINDS


@dataclass(frozen=True)
class MarkupProblem:
    """What is wrong in `line` (from 1), and what to do about it. `candidates` are audiences that
    may have been meant."""

    line: int
    message: str
    candidates: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _("Line %(line)d: %(message)s") % {"line": self.line, "message": self.message}


def check_markup(
    world: World | None, text: str, *, only: Campaign | None = None
) -> list[MarkupProblem]:
    """Return what is wrong with the secret blocks of `text`, by line, at most 20 problems.

    The messages name parties and NPCs of `world`, so they are for game masters alone. A shared rule
    has no world: the audiences in it are not checked. `only` as in `missing_audiences`."""
    audiences = check_audiences(world, text, only=only) if world else ()
    problems = [*check_structure(text), *audiences]
    return sorted(problems, key=lambda problem: problem.line)[:MOST_PROBLEMS]


def check_structure(text: str) -> list[MarkupProblem]:
    """Return what is wrong whatever the world: broken fences, and what a merge has left."""
    return [*check_fences(text), *check_markers(text)]


def check_markers(text: str) -> list[MarkupProblem]:
    """Return the first marker line of a merge that nobody has finished."""
    return [MarkupProblem(line, str(UNFINISHED_MERGE)) for line in lines_of_markers(text)[:1]]


def check_fences(text: str) -> list[MarkupProblem]:
    """Return the fences that are misspelt, never closed, never opened or nested too deep."""
    flawed = [fence for fence in read_fences(text) if fence.flaw][:MOST_PROBLEMS]
    return [MarkupProblem(fence.line, MESSAGES[fence.flaw](fence)) for fence in flawed]


def check_audiences(
    world: World, text: str, *, only: Campaign | None = None
) -> list[MarkupProblem]:
    """Return the audiences of secrets that `world` does not have, and words meant as one."""
    fences = [fence for fence in read_fences(text) if not fence.flaw or fence.audiences]
    named = {name for fence in fences for name in fence.audiences}
    missing = missing_audiences(world, named, only=only)
    wrong = [
        (fence, written)
        for fence in fences
        for written in (*(name for name in fence.audiences if name in missing), *_slips(fence))
    ][:MOST_PROBLEMS]
    names = audience_names(world, only=only) if wrong else []
    return [_unknown_audience(fence.line, written, names) for fence, written in wrong]


def require_sound_markup(
    world: World | None, text: str, *, field: str = "body", only: Campaign | None = None
) -> None:
    """Raise `Invalid` with every problem of `text`, the lines and the candidates."""
    if problems := check_markup(world, text, only=only):
        raise _invalid(problems, [field])


def require_sound_structure(texts: Mapping[int, str], *, field: str = "body") -> None:
    """Raise `Invalid` for the broken structure of `texts`, by their numbers in a batch."""
    for number, text in texts.items():
        if problems := check_structure(text):
            raise _invalid(problems, [number, field])


def _invalid(problems: Iterable[MarkupProblem], loc: list[Any]) -> Invalid:
    rows = list(problems)
    candidates = dict.fromkeys(name for problem in rows for name in problem.candidates)
    errors = [{"loc": [*loc, problem.line], "msg": problem.message} for problem in rows]
    field = loc[-1]
    detail = " ".join(str(problem) for problem in rows[:3])
    return Invalid(f"{field}: {detail}", errors=errors, candidates=list(candidates)[:5])


def _slips(fence: Fence) -> list[str]:
    """Return the words after the audiences that were meant as one: `partie:x`, `party: x`."""
    named = _NAMED.match(fence.rest)
    if not named:
        return []
    kind, slug = named["kind"].lower(), named["slug"]
    is_like_kind = kind[:2] in {each[:2] for each in _AUDIENCE_KINDS} and len(kind) <= 12
    return [f"{kind}:{slug}"] if is_like_kind else []


def _unknown_audience(line: int, written: str, names: list[AudienceName]) -> MarkupProblem:
    message, candidates = describe_missing(names, written)
    return MarkupProblem(line, message, candidates)


def _source(fence: Fence) -> dict[str, str]:
    shown = fence.source[:LONGEST_SOURCE] + ("…" if len(fence.source) > LONGEST_SOURCE else "")
    return {"source": shown}


MESSAGES: dict[str, Callable[[Fence], str]] = {
    "misspelt": lambda fence: (
        _("“%(source)s” is no secret block. Open one with :::secret and close it with :::.")
        % _source(fence)
    ),
    "unknown_block": lambda fence: (
        _("“%(source)s” opens no block that this site knows. Only :::secret does.") % _source(fence)
    ),
    "not_closed": lambda _fence: _(
        "This secret is never closed. Add a line with ::: where it ends."
    ),
    "not_opened": lambda _fence: _(
        "This ::: closes nothing. Remove it, or open the secret above with :::secret."
    ),
    "too_deep": lambda _fence: (
        _("Secrets can lie inside each other %(count)d deep at most. Close one above with :::.")
        % {"count": DEEPEST_SECRET}
    ),
}
