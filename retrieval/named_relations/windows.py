"""Which parts of a text the model reads."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from retrieval.named_relations.marked_text import MarkedSpan, MarkedText, mark_names
from retrieval.text import split_sentences

MOST_BETWEEN = 1
"""How many ends of sentences may lie between two names."""
MOST_CHARACTERS = 420
APART = re.compile(r"[ \t>]*(?:(?P<item>[-*+•][ \t]|\d{1,3}[.)][ \t])|\||#{1,6}[ \t])")
"""The beginning of a line that is read apart: of a list, of a table, or a heading."""
MARK = re.compile(r"(?m)^[ \t]*(?:#{1,6}|[-*+])[ \t]")
"""What the model does not read of such a line."""


@dataclass(frozen=True)
class PairWindow:
    """What is read for two names. [start, end) are the characters of the text from the sentence of
    one to the sentence of the other."""

    marked: MarkedText
    start: int
    end: int


@dataclass(frozen=True)
class ReadText:
    """A text with its sentences; the end of a line ends one, too."""

    text: str

    @cached_property
    def plain(self) -> str:
        """The text with blanks for the marks of list items and headings."""
        return MARK.sub(lambda mark: " " * len(mark[0]), self.text)

    @cached_property
    def sentences(self) -> dict[int, int]:
        """Where the sentences begin, and the number of the block of each: an item of a list, a row
        of a table and a heading are blocks, and so is the text between two of them. The first
        begins at 0."""
        found: dict[int, int] = {}
        line_start = block = 0
        before: re.Match[str] | None = None
        for line in self.text.split("\n"):
            mark = APART.match(line)
            # A line after an item goes on with it.
            goes_on = before is None or (before["item"] and line.strip())
            if mark or not goes_on:
                block, before = block + 1, mark
            place = line_start
            for part in split_sentences(line):
                place = self.text.index(part, place)
                found.setdefault(place if found else 0, block)
                place += len(part)
            line_start += len(line) + 1
        return found or {0: 0}

    @cached_property
    def starts(self) -> list[int]:
        return list(self.sentences)

    def block_of(self, place: int) -> int:
        return self.sentences[self.starts[self.sentence_of(place)]]

    def sentence_of(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def window(self, spans: Sequence[MarkedSpan]) -> PairWindow | None:
        """Return the sentences from one name to the other where they are nearest, with the sentence
        before for what its pronouns mean; None if no two mentions are near each other in one
        block."""
        in_order = sorted(spans, key=lambda span: span.start)
        # Of the nearest two mentions of different names none stands between them.
        pairs = [
            (
                self.sentence_of(other.start) - self.sentence_of(one.start),
                other.start - one.start,
                (self.sentence_of(one.start), self.sentence_of(other.start)),
            )
            for one, other in pairwise(in_order)
            if one.is_first != other.is_first
            and self.block_of(one.start) == self.block_of(other.start)
        ]
        if not pairs:
            return None
        between, _distance, (first, last) = min(pairs)
        bounds = [*self.starts, len(self.text)]
        start, end = bounds[first], bounds[last + 1]
        if between > MOST_BETWEEN or end - start > MOST_CHARACTERS:
            return None
        begin = bounds[max(0, first - 1)]
        if end - begin > MOST_CHARACTERS or self.block_of(begin) != self.block_of(start):
            begin = start
        inside = [
            replace(each, start=each.start - begin, end=each.end - begin)
            for each in spans
            if begin <= each.start and each.end <= end
        ]
        return PairWindow(mark_names(self.plain[begin:end].rstrip(), inside), start, end)

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield parts of whole sentences, each of at most MOST_CHARACTERS where its sentences
        allow."""
        bounds = [*self.starts, len(self.text)]
        start = 0
        for before, end in zip(bounds[1:], [*bounds[2:], len(self.text)], strict=True):
            if end - start > MOST_CHARACTERS or before == len(self.text):
                yield start, before
                start = before
