"""Convert documents of ProseMirror, as editors of the Atlassian kind store them, to Markdown."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.entry_text import (
    DEEPEST,
    as_dict,
    as_list,
    join_blocks,
    link_to,
    quotation,
    secret_block,
    table,
)
from knowledge.importers.markup import PictureCollector
from retrieval.errors import Invalid

Node = dict[str, Any]

MARKS = {"strong": "**", "bold": "**", "em": "*", "italic": "*", "strike": "~~", "code": "`"}
SECRET = "secret"


def plain_text(node: Any, *, depth: int = 0) -> str:
    """The words of a document, without marks. What lies deeper than 60 levels is left out."""
    if isinstance(node, list):
        return "".join(plain_text(each, depth=depth + 1) for each in node)
    about = as_dict(node)
    text = str(about.get("text") or "")
    return (
        text
        if depth > DEEPEST
        else text + plain_text(as_list(about.get("content")), depth=depth + 1)
    )


class ProseMirrorWriter:
    """Writes Markdown. `names` by id are those that mentions lead to."""

    def __init__(self, names: Mapping[str, str], pictures: PictureCollector) -> None:
        self.names, self.pictures = names, pictures
        self.blocks: dict[str, Callable[[Node, int], str]] = {
            "heading": self._heading,
            "paragraph": lambda node, depth: self.inline(node.get("content"), depth),
            "bulletList": lambda node, depth: self._list(node, depth, mark="-"),
            "orderedList": lambda node, depth: self._list(node, depth, mark="1."),
            "taskList": lambda node, depth: self._list(node, depth, mark="-"),
            "blockquote": lambda node, depth: quotation(self._inside(node, depth)),
            "panel": lambda node, depth: quotation(self._inside(node, depth)),
            "codeBlock": self._code,
            "rule": lambda _node, _depth: "---",
            "expand": self._expand,
            "nestedExpand": self._expand,
            "table": self._table,
            "media": self._picture,
            "image": self._picture,
            "bodiedExtension": self._extension,
        }

    def write(self, node: Any, depth: int = 0) -> str:
        """The Markdown of a document, of a node in it, or of a list of nodes."""
        if depth > DEEPEST:
            raise Invalid(_("The data is nested too deeply."))
        if isinstance(node, list):
            return join_blocks(self.write(each, depth + 1) for each in node)
        if isinstance(node, str):
            return node
        about = as_dict(node)
        if is_secret(about):
            return secret_block(self._inside(about, depth))
        writer = self.blocks.get(str(about.get("type")))
        if writer:
            return writer(about, depth)
        children = as_list(about.get("content"))
        is_inline = any(as_dict(each).get("type") in ("text", "mention") for each in children)
        if is_inline or about.get("type") in ("text", "mention"):
            return self.inline(children or [about], depth)
        return self._inside(about, depth)

    def inline(self, nodes: Any, depth: int = 0) -> str:
        if depth > DEEPEST:
            raise Invalid(_("The data is nested too deeply."))
        return "".join(self._inline_node(as_dict(each), depth) for each in as_list(nodes))

    def _inside(self, node: Node, depth: int) -> str:
        return self.write(as_list(node.get("content")), depth + 1)

    def _inline_node(self, node: Node, depth: int) -> str:
        attributes = as_dict(node.get("attrs"))
        kind = node.get("type")
        if kind == "text":
            return _with_marks(str(node.get("text") or ""), as_list(node.get("marks")))
        if kind == "hardBreak":
            return "\n"
        if kind == "mention":
            words = str(attributes.get("text") or "").removeprefix("@")
            name = self.names.get(str(attributes.get("id")), "")
            return link_to(name, words) if name else words
        if kind == "inlineCard":
            return str(attributes.get("url") or "")
        if kind in ("media", "image"):
            return self._picture(node, depth)
        if is_secret(node):
            return f"\n\n{secret_block(self.inline(node.get('content'), depth + 1))}\n\n"
        return self.inline(node.get("content"), depth + 1)

    def _heading(self, node: Node, depth: int) -> str:
        level = as_dict(node.get("attrs")).get("level")
        number = level if isinstance(level, int) and 1 <= level <= 6 else 2
        text = " ".join(self.inline(node.get("content"), depth).split())
        return f"{'#' * number} {text}" if text else ""

    def _list(self, node: Node, depth: int, *, mark: str) -> str:
        lines = []
        for item in as_list(node.get("content")):
            text = self.write(as_list(as_dict(item).get("content")) or item, depth + 1)
            first, *rest = text.replace("\n\n", "\n").split("\n")
            lines += [f"{mark} {first}", *(f"{' ' * (len(mark) + 1)}{line}" for line in rest)]
        return "\n".join(lines)

    def _code(self, node: Node, _depth: int) -> str:
        text = plain_text(node)
        # A fence is longer than any run of backticks in the code.
        fence = "```"
        while fence in text:
            fence += "`"
        return f"{fence}\n{text}\n{fence}"

    def _expand(self, node: Node, depth: int) -> str:
        title = " ".join(str(as_dict(node.get("attrs")).get("title") or "").split())
        return join_blocks([f"**{title}**" if title else "", self._inside(node, depth)])

    def _table(self, node: Node, depth: int) -> str:
        rows = [
            [self.write(as_list(as_dict(each).get("content")), depth + 2) for each in cells]
            for row in as_list(node.get("content"))
            if (cells := as_list(as_dict(row).get("content")))
        ]
        if any(":::" in text for row in rows for text in row):
            # A secret is a block of lines: in a table it could not be one.
            return join_blocks(text for row in rows for text in row)
        return table(rows[0], rows[1:]) if rows else ""

    def _picture(self, node: Node, _depth: int) -> str:
        attributes = as_dict(node.get("attrs"))
        address = str(attributes.get("url") or attributes.get("src") or "")
        words = " ".join(str(attributes.get("alt") or "").split()).replace("]", ")")
        file = address.partition("?")[0].rpartition("/")[2]
        name = self.pictures.add(file, words) if file else None
        if name:
            return f"![{words}]({name})"
        is_safe = address.startswith("https://") and not set("<> \n") & set(address)
        return f"![{words}](<{address}>)" if is_safe else ""

    def _extension(self, node: Node, depth: int) -> str:
        return self._inside(node, depth)


def is_secret(node: Node) -> bool:
    """Whether a node is a block that only game masters see: `block-secret` and its like."""
    attributes = as_dict(node.get("attrs"))
    keys = (node.get("type"), attributes.get("extensionKey"), attributes.get("panelType"))
    return any(SECRET in str(key).lower() for key in keys) or attributes.get("isHidden") is True


def _with_marks(text: str, marks: list[Any]) -> str:
    core = text.strip()
    if not core:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    for each in marks:
        mark = as_dict(each)
        kind = str(mark.get("type"))
        if kind in MARKS:
            core = f"{MARKS[kind]}{core}{MARKS[kind]}"
        elif kind == "link":
            address = str(as_dict(mark.get("attrs")).get("href") or "")
            is_safe = address.startswith(("http://", "https://")) and not set("<> \n") & set(
                address
            )
            core = f"[{core}](<{address}>)" if is_safe else core
    return f"{before}{core}{after}"
