"""The sentences of a report, each with its place, and windows of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrieval.text import split_sentences

LONGEST_REPORT = 200_000
LONGEST_QUOTE, LONGEST_SENTENCE = 300, 2_000
WINDOW = 6_000
"""Characters of a window: a name index, or a language model, reads one at a time."""
# A line that was wrapped goes on with a small letter.
WRAPPED = re.compile(r"(?<=[^\s.!?…:;。])[ \t]*\n[ \t]*(?=[a-zа-яё])")
LONG_PIECE = re.compile(rf".{{1,{LONGEST_SENTENCE}}}(?!\S)|\S{{1,{LONGEST_SENTENCE}}}", re.DOTALL)
BLANKS = re.compile(r"[ \t\u00a0\u3000]+")
MARKS = re.compile(r"^[#>*\-•–—\s]+|[*_`]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters [start, end) of the cleaned report. `is_hidden`: for game masters alone."""

    text: str
    start: int
    end: int
    is_hidden: bool = False

    @property
    def plain(self) -> str:
        """Without Markdown marks."""
        return MARKS.sub("", self.text).strip()

    @property
    def quote(self) -> str:
        """At most `LONGEST_QUOTE` characters, word for word from the report."""
        text = self.plain
        return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"


def clean_report(text: str) -> str:
    """Return the text with single blanks, wrapped lines joined and no empty lines in a row."""
    text = (
        unicodedata.normalize("NFC", text)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\x00", "")
    )
    text = WRAPPED.sub(" ", BLANKS.sub(" ", text))
    return re.sub(r"\n\s*\n\s*", "\n\n", text).strip()


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a cleaned report; every line ends one."""
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[Sentence]:
    line_start = 0
    for line in text.split("\n"):
        place = line_start
        for part in split_sentences(line):
            start = text.index(part, place)
            place = start + len(part)
            yield from _pieces(part, start)
        line_start += len(line) + 1


def _pieces(part: str, start: int) -> Iterator[Sentence]:
    """Yield a sentence without the blanks around it; one without an end is cut between words."""
    for piece in LONG_PIECE.finditer(part):
        if stripped := piece.group().strip():
            begin = start + piece.start() + len(piece.group()) - len(piece.group().lstrip())
            yield Sentence(stripped, begin, begin + len(stripped))


def windows_of(sentences: Sequence[Sentence], size: int = WINDOW) -> list[list[Sentence]]:
    """Cut the report into runs of sentences of at most `size` characters; a longer sentence is a
    window of its own."""
    windows: list[list[Sentence]] = []
    for sentence in sentences:
        if windows and sentence.end - windows[-1][0].start <= size:
            windows[-1].append(sentence)
        else:
            windows.append([sentence])
    return windows
