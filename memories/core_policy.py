"""The rules of a core memory, checked between the model's answer and the write (requirement 2.1).

The four sections are intact, each bullet is in one section, there are about 8 bullets, and none is
transient. The last rule applies to new bullets only: a person may write what a model may not.
"""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

SECTIONS = ("SOUL", "TOOLS", "RULE", "USER")
TEMPLATE = "\n".join(f"# {name}\n" for name in SECTIONS)
SOFT_BUDGET, MAX_BULLETS, MAX_CHARACTERS = 8, 10, 4000

TRANSIENT = re.compile(
    r"\b(?:this session|current session|right now|for now|for today|today only|just now|"
    r"at the moment|temporar(?:y|ily)|in this conversation|one-off|"
    r"(?:today|tonight|this (?:morning|evening|week))(?!'s)|"
    r"currently (?:(?:am|is|are|we|I|it) )*"
    r"(?:debugging|working|trying|waiting|testing|fixing|reading))\b"
    r"|\bTraceback\b|\b(?:ERROR|WARN(?:ING)?|DEBUG)\b[: ]|\b\d{1,2}:\d{2}:\d{2}\b"
    r"|(?i:сейчас|в этой сессии|на этой неделе|\bсегодня\b|временно|пока что)"
    r"|지금|이번 (?:세션|주)|임시로|오늘",
    re.IGNORECASE,
)
HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$")
BULLET = re.compile(r"^\s*[-*+]\s+(.*\S)\s*$")
MARKER = re.compile(r"^\s*[-*+]\s+")


@dataclass(frozen=True)
class ParsedCore:
    """The sections, each with its lines without the heading and without blank lines."""

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


def split_bullet(line: str) -> tuple[str, str]:
    """Return the marker of a line with the space after it, "" if there is none, and its text."""
    marker = MARKER.match(line)
    return (line[: marker.end()], line[marker.end() :].strip()) if marker else ("", line.strip())


def parse_core(markdown: str) -> ParsedCore:
    """Parse Markdown into sections, with the lines and headings that belong to none."""
    sections: dict[str, list[str]] = {}
    foreign_lines: list[str] = []
    repetitions: list[str] = []
    section: str | None = None
    for line in markdown.splitlines():
        if heading := HEADING.match(line):
            section = heading[1].upper() if heading[1].upper() in SECTIONS else None
            if section is None:
                foreign_lines.append(line)
            elif section in sections:
                repetitions.append(section)
            else:
                sections[section] = []
        elif line.strip():
            (sections[section] if section else foreign_lines).append(line.rstrip())
    return ParsedCore(sections, tuple(foreign_lines), tuple(repetitions))


def problems(markdown: str, *, before: str = TEMPLATE) -> list[str]:
    """Return why `markdown` must not replace `before`; an empty list if it may."""
    core, former = parse_core(markdown), parse_core(before)
    reasons = shape_problems(markdown)
    reasons += repetitions(core, former)
    # A core that is over the limit already may be changed as long as it does not grow.
    count = len(core.bullets)
    if count > MAX_BULLETS and count > len(former.bullets):
        reasons.append(f"{count} bullets; a core memory keeps about {SOFT_BUDGET}.")
    if len(markdown) > MAX_CHARACTERS:
        reasons.append(f"{len(markdown)} characters; at most {MAX_CHARACTERS}.")
    former_bullets = {bullet for _name, bullet in former.bullets}
    new_bullets = [bullet for _name, bullet in core.bullets if bullet not in former_bullets]
    transient = filter(TRANSIENT.search, new_bullets)
    return [*reasons, *(f"Transient, not lasting: {bullet[:80]}" for bullet in transient)]


def repetitions(core: ParsedCore, former: ParsedCore) -> list[str]:
    """Return what `core` says twice: of a line that `former` has, where it is already."""
    known = sections_of_bullets(former)
    return [
        f"It is in {' and '.join(known[text])} already: {text[:80]}"
        if text in known
        else f"{' and '.join(dict.fromkeys(names))} would say it twice: {text[:80]}"
        for text, names in sections_of_bullets(core).items()
        if len(names) > 1
    ]


def sections_of_bullets(core: ParsedCore) -> dict[str, list[str]]:
    """Return the sections of each bullet, by its text without case, spacing and full stop."""
    sections: dict[str, list[str]] = {}
    for name, bullet in core.bullets:
        sections.setdefault(" ".join(bullet.casefold().split()).rstrip("."), []).append(name)
    return sections


def shape_problems(markdown: str) -> list[str]:
    """Return only what breaks the page: missing, repeated or foreign sections."""
    core = parse_core(markdown)
    missing = [name for name in SECTIONS if name not in core.sections]
    return [
        *(_("The section # %(section)s is missing.") % {"section": name} for name in missing),
        *(
            _("The section # %(section)s appears twice.") % {"section": name}
            for name in core.repeated_sections
        ),
        *(
            _("Outside the four sections: %(line)s") % {"line": line[:80]}
            for line in core.foreign_lines
        ),
    ]
