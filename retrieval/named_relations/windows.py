"""Which parts of a text the model reads."""

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
    def starts(self) -> list[int]:
        """Where the sentences begin. The first is 0."""
        starts, line_start = [], 0
        for line in self.text.split("\n"):
            place = line_start
            for part in split_sentences(line):
                place = self.text.index(part, place)
                starts.append(place)
                place += len(part)
            line_start += len(line) + 1
        return [0, *(start for start in starts if start > 0)]

    def sentence_of(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def window(self, spans: Sequence[MarkedSpan]) -> PairWindow | None:
        """Return the sentences from one name to the other where they are nearest, with the sentence
        before for what its pronouns mean; None if no two mentions are near each other."""
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
        ]
        if not pairs:
            return None
        between, _distance, (first, last) = min(pairs)
        bounds = [*self.starts, len(self.text)]
        start, end = bounds[first], bounds[last + 1]
        if between > MOST_BETWEEN or end - start > MOST_CHARACTERS:
            return None
        begin = bounds[max(0, first - 1)]
        if end - begin > MOST_CHARACTERS:
            begin = start
        inside = [
            replace(each, start=each.start - begin, end=each.end - begin)
            for each in spans
            if begin <= each.start and each.end <= end
        ]
        return PairWindow(mark_names(self.text[begin:end].rstrip(), inside), start, end)

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield parts of whole sentences, each of at most MOST_CHARACTERS where its sentences
        allow."""
        bounds = [*self.starts, len(self.text)]
        start = 0
        for before, end in zip(bounds[1:], [*bounds[2:], len(self.text)], strict=True):
            if end - start > MOST_CHARACTERS or before == len(self.text):
                yield start, before
                start = before
