"""HTML of other tools' editors as Markdown: headings, lists, emphasis, quotes, tables; the rest as plain text."""

import re
from html.parser import HTMLParser
from typing import Any

BLOCKS = {"p", "div", "section", "article", "blockquote", "ul", "ol", "table", "tr", "figure"}
MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "s": "~~"}
UNSEEN = {"script", "style", "head", "template"}


def to_markdown(html: str) -> str:
    """Return the text of `html`. `<section class="secret">` that is not revealed becomes a secret block."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = [line.rstrip() for line in "".join(reader.out).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.unseen = 0
        self.secrets: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self.unseen += 1
        elif tag == "section":
            self._open_section(dict(attrs))
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self.out.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self.out.append("\n- ")
        elif tag == "br":
            self.out.append("\n")
        elif tag == "hr":
            self.out.append("\n\n---\n\n")
        elif tag in ("td", "th"):
            self.out.append("| ")
        else:
            self.out.append("\n\n" if tag in BLOCKS else MARKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self.unseen = max(self.unseen - 1, 0)
        elif tag == "section":
            self.out.append("\n\n:::\n\n" if self.secrets and self.secrets.pop() else "\n\n")
        elif tag in BLOCKS or (len(tag) == 2 and tag[0] == "h"):
            self.out.append("\n\n")
        else:
            self.out.append(MARKS.get(tag, " " if tag in ("td", "th") else ""))

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.out.append(re.sub(r"\s+", " ", data))

    def _open_section(self, attributes: dict[str, Any]) -> None:
        classes = str(attributes.get("class") or "").split()
        secret = "secret" in classes and "revealed" not in classes
        self.secrets.append(secret)
        self.out.append("\n\n:::secret\n\n" if secret else "\n\n")
