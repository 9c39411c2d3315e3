"""Cut a chapter of rules by its headings: each heading with a text of its own becomes a rule."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from retrieval.indexing.normalize import slugify

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Written:
    """A rule as its source has it; `path` is the part of its id after the document: `spells/fireball`."""

    path: str
    kind: str
    title: str
    body: str
    breadcrumb: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)


def by_heading(
    index: str, name: str, text: str, *, above: tuple[str, ...] = ()
) -> Iterator[Written]:
    """Cut the chapter `index`; a heading without text of its own lists what follows under it."""
    sections = list(_sections(text, name))
    used: set[str] = set()
    for number, (path, body) in enumerate(sections):
        below = [
            title for titles, _text in sections[number + 1 :] if (title := _child(path, titles))
        ]
        if not body and not below:
            continue
        slug = _slug(index, path, used)
        yield Written(
            slug,
            "section",
            path[-1],
            body or f"Sections: {', '.join(below)}.",
            (*above, *path[:-1]),
        )


def _sections(text: str, name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (titles from the chapter down, own text) in order."""
    levels: list[tuple[int, str]] = []
    headings = list(_HEADING.finditer(text))
    if not headings or text[: headings[0].start()].strip():
        yield (name,), text[: headings[0].start() if headings else None].strip()
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        level, title = len(heading[1]), heading[2].strip()
        levels = [above for above in levels if above[0] < level] + [(level, title)]
        titles = tuple(above for _level, above in levels)
        whole = titles if titles[0] == name else (name, *titles)
        yield whole, text[heading.end() : after.start() if after else None].strip()


def _child(path: tuple[str, ...], titles: tuple[str, ...]) -> str | None:
    return titles[-1] if titles[:-1] == path else None


def _slug(index: str, path: tuple[str, ...], used: set[str]) -> str:
    """`rules/<chapter>`, `rules/<chapter>/<heading>`; a heading that comes twice names its parent as well."""
    names = [slugify(title) for title in path[1:]]
    slug = f"rules/{index}"
    for depth in range(min(1, len(names)), len(names) + 1):
        slug = "/".join(["rules", index, *names[len(names) - depth :]])
        if slug not in used:
            break
    while slug in used:
        slug += "-2"
    used.add(slug)
    return slug
