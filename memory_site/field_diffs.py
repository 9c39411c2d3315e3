"""Differences of the fields of two rows, as pages show them (templates/parts/field_diffs.html)."""

from dataclasses import dataclass

from django.utils.text import capfirst

from worlds.text_diff import DiffPiece, word_diff

CONTEXT = 300
"""Characters of unchanged text that are shown on each side of a difference."""


@dataclass(frozen=True)
class FieldDiff:
    label: str
    pieces: list[DiffPiece]


def field_diff(label: object, old: str, new: str) -> FieldDiff:
    return FieldDiff(capfirst(str(label)), shorten(word_diff(old, new)))


def shorten(pieces: list[DiffPiece]) -> list[DiffPiece]:
    """Leave out the middle of long unchanged pieces, as pieces of the kind `gap`."""
    short = []
    for piece in pieces:
        if piece.kind == "same" and len(piece.text) > 3 * CONTEXT:
            short += [
                DiffPiece("same", piece.text[:CONTEXT]),
                DiffPiece("gap", ""),
                DiffPiece("same", piece.text[-CONTEXT:]),
            ]
        else:
            short.append(piece)
    return short
