"""Split a text into pieces at headings and natural blocks.

Sizes are estimated tokens. `:::secret [party:<slug> …]` … `:::` becomes pieces of its
own; when the end of a secret is ambiguous, the longer reading is taken. The pieces of the open text
are those that it would have without its secrets, so that where a passage ends, and what it scores,
says nothing of what is hidden.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from retrieval.text import (
    DEEPEST_SECRET,
    count_tokens,
    cut_out_secrets,
    names_in_both,
    parse_secret,
)

# Tokens. A group that has `SMALLEST` is closed before it exceeds `COMFORTABLE`.
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
    """A part of a text, without fences. `audiences` is None outside secrets; inside, those that the
    block names (empty: the GM alone)."""

    text: str
    headings: tuple[str, ...] = ()
    audiences: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Block:
    raw: str
    path: tuple[Heading, ...]
    tokens: float
    is_heading: bool = False


def split_into_pieces(
    text: str, *, smallest: int = SMALLEST, largest: int = LARGEST
) -> list[Piece]:
    """Split `text` into pieces of `smallest` to `largest` tokens, none of them blank. The pieces of
    a secret follow the open piece in which it stands, and may be smaller."""
    cut = cut_out_secrets(text)
    blocks = list(_blocks(cut.open_text, (), largest))
    starts = list(accumulate((len(block.raw) for block in blocks), initial=0))
    hidden = deque(cut.secrets)
    pieces: list[Piece] = []
    end = 0
    for group in pack_blocks(blocks, smallest, largest):
        pieces.append(_open_piece(group))
        end += sum(len(block.raw) for block in group)
        while hidden and hidden[0][0] <= end:
            place, raw = hidden.popleft()
            above = blocks[max(0, bisect_left(starts, place) - 1)].path
            pieces += _secret_pieces(raw, _titles(above), largest)
    for _place, raw in hidden:  # a text without open words
        pieces += _secret_pieces(raw, (), largest)
    return [piece for piece in pieces if piece.text]


def _open_piece(group: Sequence[Block]) -> Piece:
    # A heading describes what follows; its own path counts only if nothing follows.
    paths = [block.path for block in group if not block.is_heading] or [group[-1].path]
    return Piece("".join(block.raw for block in group).strip(), _common_titles(paths))


def _secret_pieces(
    raw: str,
    headings: tuple[str, ...],
    largest: int,
    outer: tuple[str, ...] | None = None,
    depth: int = 1,
) -> list[Piece]:
    """Split a secret into pieces. A nested secret is visible to those whom both blocks name."""
    _head, audiences, body, _tail = parse_secret(raw)
    if outer is not None:
        audiences = tuple(names_in_both(outer, audiences))
    # Deeper than that, nobody but the game master is told anything: a text of thousands of
    # opening fences would end in a recursion error.
    if depth > DEEPEST_SECRET:
        return [Piece(part.strip(), headings, ()) for part in split_to_fit(body, largest)]
    cut = cut_out_secrets(body)
    parts = split_to_fit(cut.open_text, largest)
    pieces = [Piece(part.strip(), headings, audiences) for part in parts]
    for _place, nested in cut.secrets:
        pieces += _secret_pieces(nested, headings, largest, audiences, depth + 1)
    return pieces


# --- blocks


def _blocks(text: str, path: tuple[Heading, ...], largest: int) -> Iterator[Block]:
    for raw in natural_blocks(text):
        if heading := _HEADING.match(raw.strip("\n")):
            level = len(heading[1])
            path = (*(above for above in path if above[0] < level), (level, heading[2].strip()))
            yield Block(raw, path, count_tokens(raw), is_heading=True)
        else:
            for part in split_to_fit(raw, largest):
                yield Block(part, path, count_tokens(part))


def natural_blocks(text: str) -> Iterator[str]:
    """Yield headings, paragraphs, whole lists and fenced code blocks."""
    block: list[str] = []
    code, after_blank, is_heading, is_list = "", False, False, False
    for line in text.splitlines(keepends=True):
        blank, heading = not line.strip(), not code and bool(_HEADING.match(line.rstrip("\n")))
        goes_on = is_list and (line[0] in " \t" or bool(_LIST_ITEM.match(line)))
        begins_block = heading or is_heading or (after_blank and not goes_on)
        if block and begins_block and not blank and not code:
            yield "".join(block)
            block = []
        # The first line that is not blank decides what the block is.
        if not blank and not any(before.strip() for before in block[:1]):
            is_heading, is_list = heading, bool(_LIST_ITEM.match(line))
        block.append(line)
        after_blank = blank
        # Only a fence of the same character, at least as long, closes the code.
        if fence := _CODE.match(line):
            code = "" if code and fence[1].startswith(code) else code or fence[1]
    if block:
        yield "".join(block)


def split_to_fit(text: str, largest: int, cuts: Sequence[re.Pattern[str]] = _CUTS) -> Iterator[str]:
    """Split `text` at lines, sentences, words, or anywhere, into at most `largest` tokens each."""
    if count_tokens(text) <= largest:
        yield text
    elif not cuts:
        # 0.9 tokens per character is the most that count_tokens gives (Hangul, Han).
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
    """Group neighbours; a group ends at a heading once large enough, and before it is too large."""
    comfortable = max(smallest, COMFORTABLE * largest // LARGEST)
    groups: list[list[Block]] = []
    group: list[Block] = []
    size, before_headings = 0.0, 0  # `group[before_headings:]` are the headings at its end
    for block in blocks:
        full = size + block.tokens > (comfortable if size >= smallest else largest)
        # Headings at the end belong to the next group, unless there is nothing else.
        end = before_headings or (len(group) if full else 0)
        if end and (full or (block.is_heading and size >= smallest)):
            groups.append(group[:end])
            group = group[end:]
            size, before_headings = _size(group), 0
        group.append(block)
        size += block.tokens
        if not block.is_heading:
            before_headings = len(group)
    groups += [group] if group else []
    has_small_tail = len(groups) > 1 and _size(groups[-1]) < smallest
    if has_small_tail and _size(groups[-2]) + _size(groups[-1]) <= largest:
        groups[-2:] = [groups[-2] + groups[-1]]
    return groups


def _size(group: Sequence[Block]) -> float:
    return sum(block.tokens for block in group)


def _common_titles(paths: Sequence[tuple[Heading, ...]]) -> tuple[str, ...]:
    shared: list[Heading] = []
    for headings in zip(*paths, strict=False):
        if len(set(headings)) > 1:
            break
        shared.append(headings[0])
    return _titles(shared)


def _titles(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(title for _level, title in path)
