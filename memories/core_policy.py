"""What a core memory must look like, checked after the model and before anything is stored
(requirement 2.1).

Sections intact, each bullet in one section, about 8 bullets, nothing transient. Only added bullets
are held against the last rule: a person may write what a model may not.
"""

import re
from dataclasses import dataclass

SECTIONS = ("SOUL", "TOOLS", "RULE", "USER")
TEMPLATE = "\n".join(f"# {name}\n" for name in SECTIONS)
SOFT_BUDGET, MOST_BULLETS, MOST_CHARACTERS = 8, 10, 4000

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
    """A core memory read into its sections: each a list of lines that are not headings."""

    sections: dict[str, list[str]]
    stray: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    @property
    def bullets(self) -> dict[str, list[str]]:
        return {
            name: [m[1] for line in lines if (m := BULLET.match(line))]
            for name, lines in self.sections.items()
        }

    def markdown(self) -> str:
        parts = (
            f"# {name}\n" + "".join(f"{line}\n" for line in self.sections[name])
            for name in SECTIONS
        )
        return "\n".join(parts)


def parse_core(markdown: str) -> ParsedCore:
    """Read Markdown into sections; text outside them, and unknown or repeated headings, are told
    apart."""
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
    """Say what stands against replacing `before` by `markdown`; nothing when it may be taken
    over."""
    core, former = parse_core(markdown), parse_core(before)
    return [
        *_shape(core),
        *_ownership(core),
        *_size(markdown, core, former),
        *_transience(core, former),
    ]


def shape_problems(markdown: str) -> list[str]:
    """Only what breaks the page: missing, repeated or foreign sections."""
    return _shape(parse_core(markdown))


def _shape(core: ParsedCore) -> list[str]:
    missing = [
        f"The section # {name} is missing." for name in SECTIONS if name not in core.sections
    ]
    twice = [f"The section # {name} appears twice." for name in core.repeated]
    return missing + twice + [f"Outside the four sections: {line[:80]}" for line in core.stray]


def _ownership(core: ParsedCore) -> list[str]:
    owners: dict[str, list[str]] = {}
    for name, bullets in core.bullets.items():
        for bullet in bullets:
            owners.setdefault(" ".join(bullet.casefold().split()).rstrip("."), []).append(name)
    return [
        f"In {' and '.join(names)}: {text[:80]}" for text, names in owners.items() if len(names) > 1
    ]


def _size(markdown: str, core: ParsedCore, former: ParsedCore) -> list[str]:
    count, was = _count(core), _count(former)
    found = []
    if count > MOST_BULLETS and count > was:
        found.append(f"{count} bullets; a core memory keeps about {SOFT_BUDGET}.")
    if len(markdown) > MOST_CHARACTERS:
        found.append(f"{len(markdown)} characters; at most {MOST_CHARACTERS}.")
    return found


def _transience(core: ParsedCore, former: ParsedCore) -> list[str]:
    known = {bullet for bullets in former.bullets.values() for bullet in bullets}
    added = [
        bullet for bullets in core.bullets.values() for bullet in bullets if bullet not in known
    ]
    return [f"Passing, not lasting: {bullet[:80]}" for bullet in added if TRANSIENT.search(bullet)]


def _count(core: ParsedCore) -> int:
    return sum(len(bullets) for bullets in core.bullets.values())
