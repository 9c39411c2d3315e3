"""What a core memory must look like, checked after the model and before anything is stored
(requirement 2.1).

Sections intact, each bullet in one section, about 8 bullets, nothing transient. Only added bullets
are held against the last rule: a person may write what a model may not.
"""

import re
from dataclasses import dataclass

SECTIONS = ("SOUL", "TOOLS", "RULE", "USER")
TEMPLATE = "\n".join(f"# {name}\n" for name in SECTIONS)
SOFT_BUDGET, MAX_BULLETS, MAX_CHARACTERS = 8, 10, 4000

TRANSIENT = re.compile(
    r"\b(?:this session|current session|right now|for now|for today|today only|just now|"
    r"at the moment|temporar(?:y|ily)|in this conversation|one-off|"
    r"currently (?:debugging|working on|trying|waiting))\b"
    r"|\bTraceback\b|\b(?:ERROR|WARN(?:ING)?|DEBUG)\b[: ]|\b\d{1,2}:\d{2}:\d{2}\b"
    r"|(?i:сейчас|в этой сессии|на сегодня|временно|пока что)|지금|이번 세션|임시로|오늘만",
    re.IGNORECASE,
)
HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$")
BULLET = re.compile(r"^\s*[-*+]\s+(.*\S)\s*$")


@dataclass(frozen=True)
class ParsedCore:
    """A core memory by sections: each has its lines without the heading and without blank lines."""

    sections: dict[str, list[str]]
    foreign_lines: tuple[str, ...] = ()
    repeated_sections: tuple[str, ...] = ()

    @property
    def bullets(self) -> list[tuple[str, str]]:
        """Section and text of each bullet."""
        lines = [(name, line) for name, lines in self.sections.items() for line in lines]
        return [(name, match[1]) for name, line in lines if (match := BULLET.match(line))]

    def markdown(self) -> str:
        parts = (
            f"# {name}\n" + "".join(f"{line}\n" for line in self.sections[name])
            for name in SECTIONS
        )
        return "\n".join(parts)


def parse_core(markdown: str) -> ParsedCore:
    """Read Markdown into sections, with the lines and headings that belong to none."""
    sections: dict[str, list[str]] = {}
    stray: list[str] = []
    repeated: list[str] = []
    here: str | None = None
    for line in markdown.splitlines():
        if heading := HEADING.match(line):
            here = heading[1].upper() if heading[1].upper() in SECTIONS else None
            if here is None:
                stray.append(line)
            elif here in sections:
                repeated.append(here)
            else:
                sections[here] = []
        elif line.strip():
            (sections[here] if here else stray).append(line.rstrip())
    return ParsedCore(sections, tuple(stray), tuple(repeated))


def problems(markdown: str, *, before: str = TEMPLATE) -> list[str]:
    """Return why `markdown` must not replace `before`; an empty list if it may."""
    core, former = parse_core(markdown), parse_core(before)
    found = find_shape_problems(core)
    sections_of: dict[str, list[str]] = {}
    for name, bullet in core.bullets:
        sections_of.setdefault(" ".join(bullet.casefold().split()).rstrip("."), []).append(name)
    found += [
        f"In {' and '.join(names)}: {text[:80]}"
        for text, names in sections_of.items()
        if len(names) > 1
    ]
    # A core that is over the limit already may be changed as long as it does not grow.
    count = len(core.bullets)
    if count > MAX_BULLETS and count > len(former.bullets):
        found.append(f"{count} bullets; a core memory keeps about {SOFT_BUDGET}.")
    if len(markdown) > MAX_CHARACTERS:
        found.append(f"{len(markdown)} characters; at most {MAX_CHARACTERS}.")
    known = {bullet for _name, bullet in former.bullets}
    return found + [
        f"Passing, not lasting: {bullet[:80]}"
        for _name, bullet in core.bullets
        if bullet not in known and TRANSIENT.search(bullet)
    ]


def shape_problems(markdown: str) -> list[str]:
    """Return only what breaks the page: missing, repeated or foreign sections."""
    return find_shape_problems(parse_core(markdown))


def find_shape_problems(core: ParsedCore) -> list[str]:
    missing = [name for name in SECTIONS if name not in core.sections]
    return [
        *(f"The section # {name} is missing." for name in missing),
        *(f"The section # {name} appears twice." for name in core.repeated_sections),
        *(f"Outside the four sections: {line[:80]}" for line in core.foreign_lines),
    ]
