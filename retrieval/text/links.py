"""Links to other things in Markdown: `[[Name]]`, `[[Name|words shown]]`, `[[Name#Heading]]`,
`[[folder/Name]]`. This is their one parser: showing, storing and rewriting links all use it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple
from uuid import UUID

_LINK = re.compile(
    # A table needs its bars escaped, so `\|` separates as well.
    r"\[\[(?P<target>[^\[\]|#\n\\]{0,200})(?P<heading>#[^\[\]|\n]{0,200})?"
    r"(?P<bar>\\?\|(?P<words>[^\[\]]{1,300}))?\]\]"
)
_FENCE = re.compile(r" {0,3}(?P<fence>```+|~~~+)")
_TICKS = re.compile(r"`+")
_PICTURE = re.compile(r"\.(png|jpe?g|gif|webp|svg|avif|bmp|pdf|mp[34]|webm|ogg)$", re.IGNORECASE)
_UPLOADED = re.compile(
    r"\]\(\s*<?picture:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE
)


def picture_targets(text: str) -> list[UUID]:
    """Return the ids of the uploaded pictures that `text` shows (`![words](picture:<id>)`), in
    order, each once."""
    return list(dict.fromkeys(UUID(name) for name in _UPLOADED.findall(text)))


class TextLink(NamedTuple):
    """A link at [start, end) of a text. `name` has no folder and no `.md`; `shown` are the words
    to show."""

    start: int
    end: int
    raw: str
    folder: str
    name: str
    heading: str
    words: str

    @property
    def shown_words(self) -> str:
        return self.words or " › ".join(filter(None, [self.name, self.heading]))


def find_links(text: str) -> list[TextLink]:
    """Return the links of `text` in order. Code and embedded pictures hold none; a link without a
    name (`[[#Heading]]`) leads to its own text and is left out, too."""
    return [link for link in _all_links(text) if link.name and not _PICTURE.search(link.name)]


def link_targets(text: str) -> list[str]:
    """Return the names that `text` links to, each once, with their folders but without anchors."""
    links = find_links(text)
    return list(dict.fromkeys("/".join(filter(None, [x.folder, x.name])) for x in links))


def replace_links(text: str, replacement: Callable[[TextLink], str] | None = None) -> str:
    """Return `text` with each link replaced by the words it shows, or by what `replacement`
    returns for it."""
    parts, at = [], 0
    for link in _all_links(text):
        parts += [text[at : link.start], replacement(link) if replacement else link.shown_words]
        at = link.end
    return "".join([*parts, text[at:]])


def rewrite_links(text: str, rewrite: Callable[[TextLink], str]) -> str:
    """Return `text` with each link that `find_links` finds replaced by what `rewrite` returns."""
    parts, at = [], 0
    for link in find_links(text):
        parts += [text[at : link.start], rewrite(link)]
        at = link.end
    return "".join([*parts, text[at:]])


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return where `text` is code, in order: there a link is shown as it is written. Takes linear
    time for any text."""
    if "`" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int]] = []
    fence, start, at = "", 0, 0
    for line in text.split("\n"):
        end = at + len(line)
        opening = _FENCE.match(line)
        if fence:
            if opening and opening["fence"].startswith(fence):
                spans.append((start, end))
                fence = ""
        elif opening and end < len(text):  # without a line below it, it opens nothing
            fence, start = opening["fence"], at
        else:
            spans += [(at + first, at + last) for first, last in _inline_code(line)]
        at = end + 1
    return [*spans, (start, len(text))] if fence else spans


def _inline_code(line: str) -> Iterator[tuple[int, int]]:
    """Yield where `line` has code: from a run of ticks to the next one of the same length."""
    runs = [match.span() for match in _TICKS.finditer(line)]
    later: dict[int, int] = {}  # the number of the first later run by its length
    closing: list[int | None] = [None] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number][1] - runs[number][0]
        closing[number], later[length] = later.get(length), number
    number = 0
    while number < len(runs):
        start = runs[number][0]
        if (end := closing[number]) is not None:
            yield start, runs[end][1]
            number = end
        number += 1


def _all_links(text: str) -> list[TextLink]:
    if "[[" not in text:
        return []
    code = code_spans(text)
    starts = [start for start, _end in code]
    links = []
    for match in _LINK.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        if before >= 0 and match.start() < code[before][1]:
            continue
        folder, _slash, name = match["target"].strip().rpartition("/")
        name = name.strip().removesuffix(".md").strip()
        heading = (match["heading"] or "").lstrip("#^").strip()
        words = (match["words"] or "").strip()
        if name or heading or words:
            span = (match.start(), match.end(), match.group())
            links.append(TextLink(*span, folder.strip(), name, heading, words))
    return links
