"""Callouts of Obsidian: quotations that begin with `> [!word] title`, also within lists and other
quotations."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from worlds.markdown import CALLOUT

MARK = re.compile(r"[ \t]*>[ \t]?")
ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=>)")
"""A callout may be the first thing in an item of a list."""
NEW_BLOCK = re.compile(
    r"[ \t]*(?:$|#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|```|~~~|\||:::|---|\*\*\*)"
)


@dataclass(frozen=True)
class Callout:
    """`body` is without the marks of quotation."""

    type: str
    title: str
    body: str


def callout_types(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if opening := _opening(line):
            yield opening[1].type


def replace_callouts(
    text: str, is_replaced: Callable[[str], bool], replace: Callable[[Callout], str]
) -> str:
    """Put `replace` of each callout of a type that `is_replaced` in its place."""
    lines = text.split("\n")
    parts: list[str] = []
    at = 0
    while at < len(lines):
        opening = _opening(lines[at])
        if opening is None or not is_replaced(opening[1].type):
            parts.append(lines[at])
            at += 1
            continue
        depth, callout = opening
        body = list(_body(lines, at + 1, depth=depth, before=callout.title or callout.type))
        at += 1 + len(body)
        parts.append(replace(Callout(callout.type, callout.title, "\n".join(body).strip())))
    return "\n".join(parts)


def _opening(line: str) -> tuple[int, Callout] | None:
    """How deep in quotations the line begins a callout, and the callout without its body."""
    if "[!" not in line:
        return None
    item = ITEM.match(line)
    depth, rest = _split_marks(line[item.end() :] if item else line)
    found = CALLOUT.match(rest) if depth else None
    if found is None:
        return None
    return depth, Callout(found["type"].strip().lower(), found["title"].strip(), "")


def _body(lines: Sequence[str], begin: int, *, depth: int, before: str) -> Iterator[str]:
    """The lines of a callout after its first one. A line without the mark goes on with the
    paragraph above it, as Markdown has it: what an author hid must not be shown for want of a
    mark."""
    for line in lines[begin:]:
        found, rest = _split_marks(line, most=depth)
        if found < depth and (not before.strip() or NEW_BLOCK.match(rest)):
            return
        before = rest
        yield rest


def _split_marks(line: str, *, most: int | None = None) -> tuple[int, str]:
    """How many marks of quotation the line begins with, `most` at most, and what follows them."""
    depth = at = 0
    while (most is None or depth < most) and (mark := MARK.match(line, at)):
        depth, at = depth + 1, mark.end()
    return depth, line[at:]
