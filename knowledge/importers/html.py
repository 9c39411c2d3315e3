"""Convert HTML to Markdown: headings, lists, emphasis, tables, links, pictures; the rest as plain
text."""

import re
from html.parser import HTMLParser

HIDDEN_FROM_PLAYERS = ("gm", "owner")
EMPTY_ELEMENTS = ("br", "hr", "img", "input", "col", "wbr")
BLOCKS = {"p", "div", "section", "article", "blockquote", "ul", "ol", "table", "tr", "figure"}
MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "s": "~~"}
INVISIBLE = {"script", "style", "head", "template"}
HEADINGS = {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
OPENING = (
    {"li": "\n- ", "br": "\n", "hr": "\n\n---\n\n", "td": "| ", "th": "| "}
    | dict.fromkeys(BLOCKS, "\n\n")
    | HEADINGS
    | MARKS
)
CLOSING = dict.fromkeys([*BLOCKS, *HEADINGS], "\n\n") | {"td": " ", "th": " "} | MARKS
"""What the start and the end of an element become; other elements leave only their text."""


def html_to_markdown(html: str) -> str:
    """Return Markdown. An unrevealed `<section class="secret">` becomes a secret block, and so does
    an element with `data-visibility="gm"` or `"owner"`."""
    writer = MarkdownWriter()
    # After the last `>` no tag ends. The parser would look for the end of each one that begins
    # there anew, in quadratic time.
    tags, end, rest = html.rpartition(">")
    writer.feed(tags + end + rest.replace("<", "&lt;"))
    writer.close()
    lines = [line.rstrip() for line in "".join(writer.out).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class MarkdownWriter(HTMLParser):
    """Appends Markdown to `out`. `secrets` holds, for each open section, whether it is secret;
    `hidden` the tag of each open hidden element, and how many elements of it are open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.invisible_depth = 0
        self.secrets: list[bool] = []
        self.hidden: list[tuple[str, int]] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if dict(attrs).get("data-visibility") in HIDDEN_FROM_PLAYERS and tag not in EMPTY_ELEMENTS:
            self.hidden.append((tag, 1))
            self.out.append("\n\n:::secret\n\n")
        elif self.hidden and self.hidden[-1][0] == tag:
            self.hidden[-1] = (tag, self.hidden[-1][1] + 1)
        if tag in INVISIBLE:
            self.invisible_depth += 1
        elif tag == "section":
            classes = str(dict(attrs).get("class") or "").split()
            self.secrets.append("secret" in classes and "revealed" not in classes)
            self.out.append("\n\n:::secret\n\n" if self.secrets[-1] else "\n\n")
        elif tag == "img":
            picture = dict(attrs)
            self.out.append(f"![{picture.get('alt') or ''}](<{picture.get('src') or ''}>)")
        elif tag == "a":
            self.addresses.append(str(dict(attrs).get("href") or ""))
            self.out.append("[" if self.addresses[-1] else "")
        else:
            self.out.append(OPENING.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in INVISIBLE:
            self.invisible_depth = max(self.invisible_depth - 1, 0)
        elif tag == "section":
            self.out.append("\n\n:::\n\n" if self.secrets and self.secrets.pop() else "\n\n")
        elif tag == "a":
            address = self.addresses.pop() if self.addresses else ""
            self.out.append(f"](<{address}>)" if address else "")
        else:
            self.out.append(CLOSING.get(tag, ""))
        if self.hidden and self.hidden[-1][0] == tag:
            name, count = self.hidden.pop()
            if count > 1:
                self.hidden.append((name, count - 1))
            else:
                self.out.append("\n\n:::\n\n")

    def handle_data(self, data: str) -> None:
        if not self.invisible_depth:
            self.out.append(re.sub(r"\s+", " ", data))
