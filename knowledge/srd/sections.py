"""Cut a chapter of rules by its headings: each heading with a text of its own becomes a rule."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from retrieval.text import slugify

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class SrdRule:
    """A rule as its source has it; `path` is its id without the document: `spells/fireball`."""

    path: str
    kind: str
    title: str
    body: str
    breadcrumb: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)


def split_by_heading(
    index: str, name: str, text: str, *, above: tuple[str, ...] = (), least: int = 0
) -> Iterator[SrdRule]:
    """Cut the chapter `index`. A heading without text of its own lists the headings below it; one
    whose text, with all below it, has fewer characters than `least` is not cut."""
    sections = _merge_short(list(_sections(text, name)), least=least)
    slugs: set[str] = set()
    for number, (titles, body) in enumerate(sections):
        after = sections[number + 1 :]
        children = [below[-1] for below, _text in after if below[:-1] == titles]
        if body or children:
            body = body or f"Sections: {', '.join(children)}."
            slug = _unused_slug(index, titles, slugs)
            slugs.add(slug)
            yield SrdRule(slug, "section", titles[-1], body, (*above, *titles[:-1]))


def _sections(text: str, name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (titles from the chapter down, own text) in order."""
    levels: list[tuple[int, str]] = []
    headings = list(_HEADING.finditer(text))
    if not headings or text[: headings[0].start()].strip():
        yield (name,), text[: headings[0].start() if headings else None].strip()
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        level, title = len(heading[1]), heading[2].strip()
        # A heading closes all open headings of its level and below.
        levels = [above for above in levels if above[0] < level] + [(level, title)]
        titles = tuple(above for _level, above in levels)
        # Some chapters repeat their name as the first heading, others leave it out.
        whole = titles if titles[0] == name else (name, *titles)
        yield whole, text[heading.end() : after.start() if after else None].strip()


def _merge_short(
    sections: list[tuple[tuple[str, ...], str]], *, least: int
) -> list[tuple[tuple[str, ...], str]]:
    """Join each section that is short, with what is below it, to one text."""
    merged: list[tuple[tuple[str, ...], str]] = []
    at = 0
    while at < len(sections):
        titles, text = sections[at]
        end = at + 1
        while end < len(sections) and sections[end][0][: len(titles)] == titles:
            end += 1
        below = [f"**{each[-1]}**\n\n{body}".strip() for each, body in sections[at + 1 : end]]
        whole = "\n\n".join(filter(None, [text, *below]))
        is_short = len(whole) < least
        merged.append((titles, whole if is_short else text))
        at = end if is_short else at + 1
    return merged


def _unused_slug(index: str, titles: tuple[str, ...], slugs: set[str]) -> str:
    """`rules/<chapter>[/<heading>]`; a repeated heading is preceded by its parents."""
    names = [slugify(title) for title in titles[1:]]
    slug = f"rules/{index}"
    for depth in range(min(1, len(names)), len(names) + 1):
        slug = "/".join(["rules", index, *names[len(names) - depth :]])
        if slug not in slugs:
            break
    while slug in slugs:
        slug += "-2"
    return slug
