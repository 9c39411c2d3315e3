"""Links to other things in Markdown: `[[Name]]`, `[[Name|words shown]]`, `[[Name#Heading]]`,
`[[folder/Name]]`. This is their one parser: showing, storing and rewriting links all use it."""

import re
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

_LINK = re.compile(
    # A table needs its bars escaped, so `\|` separates as well.
    r"\[\[(?P<target>[^\[\]|#\n\\]{0,200})(?P<heading>#[^\[\]|\n]{0,200})?"
    r"(?P<bar>\\?\|(?P<words>[^\[\]]{1,300}))?\]\]"
)
_CODE = re.compile(
    r"^ {0,3}(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^ {0,3}(?P=fence)[^\n]*$|\Z)"
    r"|(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
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
    """Return where `text` is code: there a link is shown as it is written."""
    return [match.span() for match in _CODE.finditer(text)] if "`" in text or "~~~" in text else []


def _all_links(text: str) -> list[TextLink]:
    if "[[" not in text:
        return []
    code = code_spans(text)
    links = []
    for match in _LINK.finditer(text):
        if any(start <= match.start() < end for start, end in code):
            continue
        folder, _slash, name = match["target"].strip().rpartition("/")
        name = name.strip().removesuffix(".md").strip()
        heading = (match["heading"] or "").lstrip("#^").strip()
        words = (match["words"] or "").strip()
        if name or heading or words:
            span = (match.start(), match.end(), match.group())
            links.append(TextLink(*span, folder.strip(), name, heading, words))
    return links
