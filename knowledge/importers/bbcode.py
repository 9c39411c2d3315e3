"""Convert BBCode, as World Anvil writes it, to Markdown."""

import re
from collections.abc import Callable, Mapping

from knowledge.importers.entry_text import link_to
from knowledge.importers.markup import PictureCollector

MENTION = r"@\[(?P<words>[^\[\]\n]{1,300})\]\([\w-]{1,40}:(?P<id>[\w-]{1,60})\)"
TAG = r"\[(?P<close>/)?(?P<name>[a-zA-Z][a-zA-Z0-9]{0,30}|\*)(?P<value>[:=|][^\[\]\n]{0,500})?\]"
TOKEN = re.compile(f"{MENTION}|{TAG}")
MARKS = {"b": "**", "i": "*", "s": "~~", "strike": "~~", "code": "`", "em": "*", "strong": "**"}
BLOCKS = ("p", "center", "left", "right", "justify", "ul", "ol", "list", "quote", "aloud")
SECRETS = ("spoiler", "secret", "gm")
KEY_VALUE = re.compile(r"--(?P<key>[^\n:\[\]]{1,80})::(?P<value>[^\n]{0,500}?)--")
"""`--Inhabitants::24000--`: a line of the panel beside an article."""
LINE_BREAKS = {"br": "\n", "hr": "\n\n---\n\n", "*": "\n- ", "li": "\n- "}
CELLS = ("td", "th")
HEADING = re.compile(r"h[1-6]")
Titles = Mapping[str, str]


def bbcode_to_markdown(text: str, *, titles: Titles, pictures: PictureCollector) -> str:
    """Return Markdown. Spoilers become secret blocks. `titles` are those of articles by their id;
    `pictures` finds images by the number that the text names them by."""
    writer = BBCodeWriter(titles, pictures)
    text = KEY_VALUE.sub(r"[br][b]\g<key>:[/b] \g<value>[br]", text)
    at = 0
    for token in TOKEN.finditer(text):
        writer.add(text[at : token.start()])
        writer.add_token(token)
        at = token.end()
    writer.add(text[at:])
    return writer.finish()


class BBCodeWriter:
    """Appends Markdown to `out`; `open_secrets` are blocks that are not closed yet."""

    def __init__(self, titles: Titles, pictures: PictureCollector) -> None:
        self.titles, self.pictures = titles, pictures
        self.out: list[str] = []
        self.open_secrets = 0
        self.addresses: list[tuple[int, str]] = []
        self.image_at: int | None = None
        self.cell_at: int | None = None
        self.cells = self.rows = 0
        self.handlers: dict[str, Callable[[bool, str], None]] = {
            "url": self._url,
            "img": self._image,
            "table": self._table,
            "tr": self._row,
            **dict.fromkeys(CELLS, self._cell),
            **dict.fromkeys(SECRETS, self._secret),
        }

    def add(self, text: str) -> None:
        self.out.append(text.replace("\r\n", "\n").replace("\r", "\n"))

    def add_token(self, token: re.Match[str]) -> None:
        if token["id"]:
            title = self.titles.get(token["id"], "")
            self.out.append(link_to(title or token["words"], token["words"]))
        else:
            self._add_tag(token)

    def _add_tag(self, tag: re.Match[str]) -> None:
        name, is_end = tag["name"].lower(), bool(tag["close"])
        if handler := self.handlers.get(name):
            handler(is_end, (tag["value"] or "")[1:].strip())
        elif name in MARKS:
            self.out.append(MARKS[name])
        elif HEADING.fullmatch(name):
            self.out.append("\n\n" if is_end else f"\n\n{'#' * int(name[1])} ")
        elif name in LINE_BREAKS:
            self.out.append("" if is_end else LINE_BREAKS[name])
        elif name in BLOCKS:
            self.out.append("\n\n")
        elif name not in LAYOUT:
            # What merely looks like a tag, such as "[sic]", is text.
            self.out.append(tag[0])

    def finish(self) -> str:
        self.out += ["\n\n:::\n\n"] * self.open_secrets
        lines = [line.strip(" \t") for line in "".join(self.out).split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def _secret(self, is_end: bool, _value: str) -> None:
        if not is_end:
            self.open_secrets += 1
            self.out.append("\n\n:::secret\n\n")
        elif self.open_secrets:
            self.open_secrets -= 1
            self.out.append("\n\n:::\n\n")

    def _url(self, is_end: bool, value: str) -> None:
        if not is_end:
            self.addresses.append((len(self.out), value))
            return
        if not self.addresses:
            return
        at, address = self.addresses.pop()
        words = "".join(self.out[at:])
        if ":::" in words:
            return  # a secret inside a link is no link
        del self.out[at:]
        address = address or words
        is_safe = address.startswith(("http://", "https://")) and not set("<> \n") & set(address)
        self.out.append(f"[{words}](<{address}>)" if is_safe and words else words)

    def _image(self, is_end: bool, value: str) -> None:
        """`[img:123|left]` or `[img]123[/img]`."""
        if value:
            self.out.append(self._picture(value.split("|")[0]))
        elif not is_end:
            self.image_at = len(self.out)
        elif self.image_at is not None:
            reference = "".join(self.out[self.image_at :]).strip()
            if ":::" not in reference:
                del self.out[self.image_at :]
                self.out.append(self._picture(reference))
            self.image_at = None

    def _table(self, _is_end: bool, _value: str) -> None:
        self.rows = 0
        self.out.append("\n\n")

    def _row(self, is_end: bool, _value: str) -> None:
        if not is_end:
            self.cells = 0
            return
        self.rows += 1
        # Markdown's tables need a header: the first row is one.
        rule = f"\n{'| --- ' * self.cells}|" if self.rows == 1 else ""
        self.out.append(f"|{rule}\n")

    def _cell(self, is_end: bool, _value: str) -> None:
        if not is_end:
            self.cells += 1
            self.cell_at = len(self.out)
            self.out.append("| ")
        elif self.cell_at is not None:
            text = "".join(self.out[self.cell_at + 1 :])
            if ":::" not in text:
                del self.out[self.cell_at + 1 :]
                self.out.append(f"{' '.join(text.split())} ")
            self.cell_at = None

    def _picture(self, reference: str) -> str:
        name = self.pictures.add(self.titles.get(f"image:{reference}", reference))
        return f"![]({name})" if name else ""


LAYOUT = (
    "articletoc",
    "section",
    *(
        # A drop cap: the first letter of a text, or a few of them.
        "dc",
        "u",
        "sup",
        "sub",
        "small",
        "size",
        "color",
        "font",
        "container",
        "row",
        "col",
        "col2",
        "col3",
    ),
    *("noparse", "ordered", "tooltip", "statblock", "block", "map", "youtube", "spotify", "anchor"),
    *("timeline", "roll", "var", "variable", "css", "div", "tbody", "thead", "embed", "sorttable"),
)
"""Tags that only lay out, or that show what an export does not hold."""
