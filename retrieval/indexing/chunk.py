"""Cut a text into pieces to be found by: at headings and natural blocks, whole, in order, nothing
lost or doubled.

Sizes are in tokens by a cheap estimate. `:::secret [party:<slug> npc:<slug> …]` … `:::` becomes
pieces of its own; where it is ambiguous how far a secret reaches, it reaches further.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from retrieval.text import count_tokens, parse_secret, split_secrets

SMALLEST, COMFORTABLE, LARGEST = 500, 900, 1500

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_CODE = re.compile(r" {0,3}(```+|~~~+)")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_CUTS = (
    re.compile(r"(?<=\n)"),  # lines: list items, table rows, verses
    re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])"),
    re.compile(r"(?<=\s)(?=\S)"),  # words
)


Heading = tuple[int, str]


@dataclass(frozen=True)
class Piece:
    """A slice of the source. `raw` slices joined give the source; `text` is what may be shown.

    `audiences` is None outside secrets; inside, whom the block names (empty: the GM alone)."""

    raw: str
    headings: tuple[str, ...] = ()
    audiences: tuple[str, ...] | None = None
    text: str = ""


@dataclass(frozen=True)
class Block:
    raw: str
    path: tuple[Heading, ...]
    tokens: float
    is_heading: bool = False


def cut(text: str, *, smallest: int = SMALLEST, largest: int = LARGEST) -> list[Piece]:
    """Cut `text` into pieces of `smallest` to `largest` tokens, as far as there is that much text
    between secrets."""
    pieces: list[Piece] = []
    path: tuple[Heading, ...] = ()
    for raw, is_secret in split_secrets(text):
        if is_secret:
            pieces += _secret_pieces(raw, _titles(path), largest)
            continue
        blocks = list(_blocks(raw, path, largest))
        path = blocks[-1].path
        pieces += [_open_piece(group) for group in pack_blocks(blocks, smallest, largest)]
    return merge_blank_pieces(pieces)


def _secret_pieces(
    raw: str, headings: tuple[str, ...], largest: int, outer: tuple[str, ...] | None = None
) -> list[Piece]:
    """Cut a secret. One that stands inside another is for those whom both name."""
    head, audiences, body, tail = parse_secret(raw)
    if outer is not None:
        audiences = tuple(name for name in audiences if name in outer)
    pieces: list[Piece] = []
    for part, is_secret in split_secrets(body):
        if is_secret:
            pieces += _secret_pieces(part, headings, largest, audiences)
        else:
            pieces += [
                Piece(fit, headings, audiences, fit.strip()) for fit in split_to_fit(part, largest)
            ]
    if not pieces:
        return [Piece(raw, headings, audiences)]
    pieces[0] = replace(pieces[0], raw=head + pieces[0].raw)
    pieces[-1] = replace(pieces[-1], raw=pieces[-1].raw + tail)
    return pieces


# --- blocks


def _blocks(text: str, path: tuple[Heading, ...], largest: int) -> Iterator[Block]:
    for raw in natural_blocks(text):
        if heading := _HEADING.match(raw.strip("\n")):
            level = len(heading[1])
            path = (*(above for above in path if above[0] < level), (level, heading[2].strip()))
            yield Block(raw, path, count_tokens(raw), is_heading=True)
        else:
            yield from (
                Block(part, path, count_tokens(part)) for part in split_to_fit(raw, largest)
            )


def natural_blocks(text: str) -> Iterator[str]:
    """Headings, and what blank lines separate; a list stays together, and so does fenced code."""
    block: list[str] = []
    code, after_blank, is_heading, is_list = "", False, False, False
    for line in text.splitlines(keepends=True):
        blank, heading = not line.strip(), not code and bool(_HEADING.match(line.rstrip("\n")))
        goes_on = is_list and (line[0] in " \t" or bool(_LIST_ITEM.match(line)))
        if (
            block
            and not blank
            and not code
            and (heading or is_heading or (after_blank and not goes_on))
        ):
            yield "".join(block)
            block = []
        if not blank and not any(before.strip() for before in block[:1]):
            is_heading, is_list = heading, bool(_LIST_ITEM.match(line))
        block.append(line)
        after_blank = blank
        if fence := _CODE.match(line):
            code = "" if code and fence[1].startswith(code) else code or fence[1]
    if block:
        yield "".join(block)


def split_to_fit(text: str, largest: int, cuts: Sequence[re.Pattern[str]] = _CUTS) -> Iterator[str]:
    """Split `text` by lines, else sentences, else words, else anywhere, into parts of at most
    `largest` tokens."""
    if count_tokens(text) <= largest:
        yield text
    elif not cuts:
        width = max(int(largest / 0.9), 1)
        yield from (text[at : at + width] for at in range(0, len(text), width))
    else:
        for part in join_parts(cuts[0].split(text), largest):
            yield from split_to_fit(part, largest, cuts[1:])


def join_parts(parts: Sequence[str], largest: int) -> Iterator[str]:
    """Join neighbours as long as they stay within `largest` tokens together."""
    group: list[str] = []
    size = 0.0
    for part in parts:
        tokens = count_tokens(part)
        if group and size + tokens > largest:
            yield "".join(group)
            group, size = [], 0.0
        group.append(part)
        size += tokens
    yield "".join(group)


# --- packing


def pack_blocks(blocks: Sequence[Block], smallest: int, largest: int) -> list[list[Block]]:
    """Group neighbours: close a group at a heading once it is large enough, and before it grows too
    large."""
    comfortable = max(smallest, COMFORTABLE * largest // LARGEST)
    groups: list[list[Block]] = []
    group: list[Block] = []
    for block in blocks:
        size = _size(group)
        full = size + block.tokens > (comfortable if size >= smallest else largest)
        if group and (full or (block.is_heading and size >= smallest)):
            finished_group, next_group = split_trailing_headings(group)
            groups += [finished_group] if finished_group else []
            group = next_group
        group.append(block)
    return _join_small_tail([*groups, group] if group else groups, smallest, largest)


def split_trailing_headings(group: list[Block]) -> tuple[list[Block], list[Block]]:
    """Headings at the end belong to what follows."""
    end = len(group)
    while end and group[end - 1].is_heading:
        end -= 1
    return group[:end], group[end:]


def _join_small_tail(groups: list[list[Block]], smallest: int, largest: int) -> list[list[Block]]:
    if (
        len(groups) > 1
        and _size(groups[-1]) < smallest
        and _size(groups[-2]) + _size(groups[-1]) <= largest
    ):
        return [*groups[:-2], groups[-2] + groups[-1]]
    return groups


def _size(group: Sequence[Block]) -> float:
    return sum(block.tokens for block in group)


def _open_piece(group: Sequence[Block]) -> Piece:
    raw = "".join(block.raw for block in group)
    return Piece(
        raw,
        _common_titles([block.path for block in group if not block.is_heading] or [group[-1].path]),
        None,
        raw.strip(),
    )


def _common_titles(paths: Sequence[tuple[Heading, ...]]) -> tuple[str, ...]:
    shared: list[Heading] = []
    for headings in zip(*paths, strict=False):
        if len(set(headings)) > 1:
            break
        shared.append(headings[0])
    return _titles(shared)


def _titles(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(title for _level, title in path)


def merge_blank_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """Give white space between pieces (and empty secrets) to a neighbour, so that each piece says
    something."""
    result: list[Piece] = []
    before = ""
    for piece in pieces:
        if piece.text:
            result.append(replace(piece, raw=before + piece.raw))
            before = ""
        elif result:
            result[-1] = replace(result[-1], raw=result[-1].raw + piece.raw)
        else:
            before += piece.raw
    if before:
        return [Piece(before)]
    return result
