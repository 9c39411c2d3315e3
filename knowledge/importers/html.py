"""HTML of other tools' editors as Markdown: headings, lists, emphasis, tables; the rest as plain
text.
"""

import re
from html.parser import HTMLParser

BLOCKS = {"p", "div", "section", "article", "blockquote", "ul", "ol", "table", "tr", "figure"}
MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "s": "~~"}
INVISIBLE = {"script", "style", "head", "template"}


def html_to_markdown(html: str) -> str:
    """Return the text of `html`. `<section class="secret">` that is not revealed becomes a secret
    block.
    """
    writer = MarkdownWriter()
    writer.feed(html)
    writer.close()
    lines = [line.rstrip() for line in "".join(writer.out).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class MarkdownWriter(HTMLParser):
    """Appends Markdown to `out`. `secrets` holds, for each open section, whether it is secret."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.invisible_depth = 0
        self.secrets: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in INVISIBLE:
            self.invisible_depth += 1
        elif tag == "section":
            classes = str(dict(attrs).get("class") or "").split()
            self.secrets.append("secret" in classes and "revealed" not in classes)
            self.out.append("\n\n:::secret\n\n" if self.secrets[-1] else "\n\n")
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
        if tag in INVISIBLE:
            self.invisible_depth = max(self.invisible_depth - 1, 0)
        elif tag == "section":
            self.out.append("\n\n:::\n\n" if self.secrets and self.secrets.pop() else "\n\n")
        elif tag in BLOCKS or (len(tag) == 2 and tag[0] == "h"):
            self.out.append("\n\n")
        else:
            self.out.append(MARKS.get(tag, " " if tag in ("td", "th") else ""))

    def handle_data(self, data: str) -> None:
        if not self.invisible_depth:
            self.out.append(re.sub(r"\s+", " ", data))
