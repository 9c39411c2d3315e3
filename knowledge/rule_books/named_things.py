"""Things with a name inside a section of a book: rows of a long table, such as its spells, and
statistics below a bold name, such as its creatures. The same for every game."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import median

from retrieval.text import fold_name

LEAST_ROWS = 10
"""A shorter table is read as a whole, and its rows seldom have names that people ask for."""
LEAST_BLOCKS = 2
"""One block alone is what its section is about."""
LEAST_WORDS = 3
"""Words in most cells of a column that says what each thing is or does."""
LONGEST_NAME = 60
LEAST_STATISTICS = 3

_RULER_CELL = re.compile(r":?-+:?")
_CELL_END = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"[*_`]+")
_BOLD_NAME = re.compile(r"\*\*([^*\n]{1,60}?)[.:]?\*\*[.:]?[ \t\\]*")
_STATISTIC = re.compile(r"\d+[ \t]+[^\W\d]{2,}|[^\W\d]{2,}[ \t:*]+[+-]?\d+")
_BETWEEN_STATISTICS = re.compile(r"[,;|]")


@dataclass(frozen=True)
class SectionThing:
    """A thing, and its text without the name."""

    name: str
    text: str
    is_block: bool = False
    """Statistics below a name: a creature, whatever the section is called."""


def named_things(body: str) -> list[SectionThing]:
    """Return the things of a section in their order; of two with one name the first."""
    lines = body.split("\n")
    things = [*_things_in_tables(lines), *_things_in_blocks(lines)]
    first: dict[str, SectionThing] = {}
    for thing in things:
        first.setdefault(fold_name(thing.name), thing)
    return list(first.values())


# --- tables


def _things_in_tables(lines: Sequence[str]) -> Iterator[SectionThing]:
    for at, line in enumerate(lines):
        if at and _is_row(lines[at - 1]) and _is_ruler(line):
            labels = _cells(lines[at - 1])
            rows = [_cells(row) for row in takewhile(_is_row, lines[at + 1 :])]
            yield from _things_in_table(labels, rows)


def _things_in_table(labels: Sequence[str], rows: Sequence[list[str]]) -> Iterator[SectionThing]:
    width = len(labels)
    rows = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    columns = list(zip(*rows, strict=True))
    named = next((at for at, column in enumerate(columns) if _has_names(column)), None)
    if len(rows) < LEAST_ROWS or named is None or not any(map(_has_texts, columns[named + 1 :])):
        return
    for row in rows:
        yield SectionThing(_plain(row[named]), _text_of_row(labels, row, named))


def _has_names(column: Sequence[str]) -> bool:
    """Whether each row has a short name of its own there: no dice, and no words with numbers, as
    levels have them."""
    names = [_plain(cell) for cell in column]
    is_name = all(name[:1].isalpha() and len(name) <= LONGEST_NAME for name in names)
    numbered = sum(any(map(str.isdigit, name)) for name in names)
    is_unique = len({fold_name(name) for name in names}) == len(names)
    return is_name and is_unique and numbered <= len(names) / 2


def _has_texts(column: Sequence[str]) -> bool:
    return bool(column) and median(len(cell.split()) for cell in column) >= LEAST_WORDS


def _text_of_row(labels: Sequence[str], row: Sequence[str], named: int) -> str:
    """The other cells behind the labels of their columns. A number before the name that has no
    label is that of the row."""
    values = []
    for at, (label, cell) in enumerate(zip(labels, row, strict=True)):
        if at != named and cell and (label or at > named):
            values.append(f"**{_plain(label)}** {cell}" if label else cell)
    return "\n\n".join(values)


def _is_row(line: str) -> bool:
    return "|" in line


def _is_ruler(line: str) -> bool:
    """Whether a line is the one between the labels of a table and its rows."""
    return "-" in line and all(map(_RULER_CELL.fullmatch, _cells(line)))


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|").removesuffix("|")
    return [html.unescape(cell.replace("\\|", "|")).strip() for cell in _CELL_END.split(inside)]


# --- blocks


def _things_in_blocks(lines: Sequence[str]) -> Iterator[SectionThing]:
    starts = [at for at, (name, below) in enumerate(pairwise(lines)) if _is_block(name, below)]
    if len(starts) < LEAST_BLOCKS:
        return
    for at in starts:
        name = _BOLD_NAME.fullmatch(lines[at])
        text = "\n".join(_lines_of_block(lines, at + 1)).strip()
        if name and text:
            yield SectionThing(_plain(name[1]), text, is_block=True)


def _is_block(name: str, below: str) -> bool:
    return bool(_BOLD_NAME.fullmatch(name)) and _is_line_of_statistics(below)


def _is_line_of_statistics(line: str) -> bool:
    """Whether most of the first parts of a line are a number with its label: `4 HP, 8 STR`."""
    parts = _BETWEEN_STATISTICS.split(line)[:LEAST_STATISTICS]
    return sum(bool(_STATISTIC.match(part.strip(" *_"))) for part in parts) >= LEAST_STATISTICS


def _lines_of_block(lines: Sequence[str], at: int) -> Iterator[str]:
    """The lines up to the next bold name or heading, whatever stands below it."""
    for line in lines[at:]:
        if line.startswith("#") or _BOLD_NAME.fullmatch(line):
            return
        yield line


def _plain(cell: str) -> str:
    return _MARKS.sub("", cell).strip()
