"""Markdown that readers of rule data write: tables of statistics, named paragraphs, links, and the
line that says where a text comes from."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from retrieval.errors import Invalid

ABILITIES = ("str", "dex", "con", "int", "wis", "cha")
LONGEST_ABBREVIATION = 2
DEEPEST = 60
"""How deep the parts of a text may lie inside each other; real ones reach about a dozen."""
CREATIVE_COMMONS = re.compile(r"creativecommons\.org/licenses/([a-z-]+)/(\d+\.\d+)")
NOT_IN_LINKS = re.compile(r"[\[\]|#\n]+")


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, a list of it alone, or an empty list for nothing."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def join_blocks(blocks: Iterable[str]) -> str:
    """Put paragraphs below each other; empty ones are left out."""
    return "\n\n".join(block for each in blocks if (block := each.strip("\n")).strip())


def cell(text: Any) -> str:
    """The text as a cell of a table: in one line, and without a bar that would end it."""
    return " ".join(str(text).split()).replace("\\|", "|").replace("|", "\\|")


def table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table. Rows that are shorter than the longest are filled up."""
    lines = [[cell(each) for each in row] for row in (header, *rows)]
    width = max(map(len, lines))
    if not width:
        return ""
    filled = [line + [""] * (width - len(line)) for line in lines]
    filled.insert(1, ["---"] * width)
    return "\n".join(f"| {' | '.join(line)} |" for line in filled)


def licence_name(address: str) -> str:
    """Return the short name of the licence at an address, such as `CC BY 4.0`; else nothing."""
    found = CREATIVE_COMMONS.search(address)
    return f"CC {found[1].upper()} {found[2]}" if found else ""


def stat_table(facts: Mapping[str, Any]) -> str:
    """The facts that are there, one a row: name and value."""
    rows = [(f"**{name}**", value) for name, value in facts.items() if cell(value)]
    return table(("", ""), rows) if rows else ""


def ability_table(scores: Mapping[str, Any]) -> str:
    """The six ability scores of the d20 games with their modifiers: `16 (+3)`."""
    if not any(scores.get(name) is not None for name in ABILITIES):
        return ""
    cells = [with_modifier(scores.get(name)) for name in ABILITIES]
    return table([name.upper() for name in ABILITIES], [cells])


def with_modifier(score: Any) -> str:
    if isinstance(score, int) and not isinstance(score, bool):
        return f"{score} ({(score - 10) // 2:+d})"
    return "" if score is None else str(score)


def named_paragraph(name: str, text: str) -> str:
    """`***Name.*** text`, as books of rules set traits and actions."""
    name = " ".join(name.split()).rstrip(".:")
    if not name:
        return text
    # A table or a list begins on a line of its own.
    gap = "\n\n" if text.startswith(("|", "- ", ">", "#", ":::")) else " "
    return f"**{name}.**{gap}{text}" if text else f"**{name}**"


def section(heading: str, text: str, *, level: int = 2) -> str:
    return f"{'#' * min(level, 6)} {' '.join(heading.split())}\n\n{text}" if text.strip() else ""


def quotation(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def secret_block(text: str) -> str:
    """The text as a block for the game master alone."""
    return f":::secret\n{text.strip()}\n:::" if text.strip() else ""


def link_to(name: str, words: str = "") -> str:
    """A link to the entry of this name, which shows the words."""
    name, words = (" ".join(NOT_IN_LINKS.sub(" ", each).split()) for each in (name, words))
    if not name:
        return words
    return f"[[{name}|{words}]]" if words and words != name else f"[[{name}]]"


def source_line(*parts: Any) -> str:
    """The last line of a text: its book, page, authors and licence, as far as they are known."""
    known = [" ".join(str(part).split()) for part in parts if part]
    return "*" + _("Source: %(source)s") % {"source": ", ".join(known)} + "*" if known else ""


def readable(value: Any, *, depth: int = 0) -> str:
    """A value of any shape as words: `walk 30, fly 60`."""
    if depth > DEEPEST:
        raise Invalid(_("The data is nested too deeply."))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        parts = (f"{key} {readable(each, depth=depth + 1)}" for key, each in value.items())
        return ", ".join(part.strip() for part in parts)
    if isinstance(value, list):
        return ", ".join(filter(None, (readable(each, depth=depth + 1) for each in value)))
    return "" if value is None else str(value)


def heading_of(field: str) -> str:
    """The name of a field as a heading: `legendary_actions` is `Legendary actions`, `pd` `PD`."""
    if len(field) <= LONGEST_ABBREVIATION:
        return field.upper()
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field).replace("_", " ").replace("-", " ")
    return " ".join(words.split()).capitalize()
