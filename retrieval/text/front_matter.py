"""YAML front matter of a Markdown text."""

import re
from itertools import accumulate
from typing import Any

import yaml
from django.utils.translation import gettext as _

from retrieval.errors import Invalid

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


# The parser in C is ten times as fast; not every platform's wheel of PyYAML has it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_BRACKETS = re.compile(r"[\[\]{}]")
DEEPEST_BRACKETS = 100
"""The parser takes quadratic time for more and more open brackets."""
_NESTED = re.compile(rf"(?:[-?:][ \t]+){{{DEEPEST_BRACKETS + 1}}}")
"""Lists in lists in one line, `- - - …`: thousands of them overflow the stack of the parser, which
ends the process. Deeper indentation takes too many characters for that."""
LONGEST_YAML = 200_000


def load_yaml(text: str, *, first_line: int = 1, longest: int = LONGEST_YAML) -> Any:
    """Return what the YAML holds. Raises `Invalid` with the line, counted from `first_line`, for
    what is no YAML, and for aliases: a few lines of them can stand for gigabytes. The same for more
    than `longest` characters, and for more than 100 brackets that are not closed, or lists in lists
    in one line."""
    if len(text) > longest:
        raise Invalid(
            _("This is too long: YAML may have at most %(count)s characters.")
            % {"count": f"{longest:,}"}
        )
    depths = accumulate(1 if each in "[{" else -1 for each in _BRACKETS.findall(text))
    if max(depths, default=0) > DEEPEST_BRACKETS:
        raise Invalid(
            _("This is not YAML: more than %(count)s brackets are open at once.")
            % {"count": DEEPEST_BRACKETS}
        )
    if _NESTED.search(text):
        raise Invalid(
            _("This is not YAML: more than %(count)s lists begin in one line.")
            % {"count": DEEPEST_BRACKETS}
        )
    try:
        has_aliases = "*" in text and any(
            isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=_Loader)
        )
        if has_aliases:
            raise yaml.YAMLError("aliases are not allowed")
        return yaml.load(text, Loader=_Loader)  # nosec B506 - of SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        reason = getattr(problem, "problem", "") or str(problem) or "too deep"
        mark = getattr(problem, "problem_mark", None)
        place = [{"loc": ["line", mark.line + first_line], "msg": reason}] if mark else []
        raise Invalid(
            _("This is not YAML: %(reason)s.") % {"reason": reason.splitlines()[0]}, errors=place
        ) from problem


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Take YAML front matter off `text`; what is not a YAML object stays in the text."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    try:
        fields = load_yaml(match[1] or "", first_line=2)  # after the fence
    except Invalid as problem:
        detail = _("The front matter cannot be read. %(problem)s") % {"problem": problem.detail}
        raise Invalid(detail, errors=problem.errors) from problem
    if not isinstance(fields, dict):
        return {}, text
    return {str(key): value for key, value in fields.items()}, text[match.end() :]
