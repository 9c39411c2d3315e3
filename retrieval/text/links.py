"""Links to other entries in Markdown: `[[Name]]`, `[[Name|words shown]]`, `[[Name#heading]]`."""

import re

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")
_TARGET = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:[#|][^\[\]\n]{0,200})?\]\]")


def link_targets(text: str) -> list[str]:
    """Return the names that `text` links to, in order, each once; anchors are left out."""
    return list(dict.fromkeys(name.strip() for name in _TARGET.findall(text)))


def replace_links(text: str) -> str:
    """Return `text` with each link replaced by the words it shows."""
    return _LINK.sub(lambda match: match[2] or match[1], text)
