"""Secret blocks in Markdown: `:::secret [party:<slug> npc:<slug> …]` up to the `:::` that closes
it.

Where it is ambiguous how far a secret reaches, it reaches further: showing too little is the
smaller fault.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPENING = re.compile(r":::+[ \t]*secret\b", re.IGNORECASE)
_FENCE = re.compile(
    r"(?P<opens>^[> \t]*:::+[ \t]*\w|:::+[ \t]*secret\b)|(?P<closes>:::+)",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[> \t]*:::.*$", re.MULTILINE)
_CLOSING = re.compile(r":::+\s*\Z")
_AUDIENCE = re.compile(r"[ \t]*((?:party|npc):[^\s:]+)", re.IGNORECASE)


class SecretBlock(NamedTuple):
    """A secret block taken apart; `head + body + tail` is its source. No audience: the GM alone."""

    head: str
    audiences: tuple[str, ...]
    body: str
    tail: str


def split_secrets(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (part, is_secret) in order, none of them empty. Joined, the parts give `text`."""
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        if start > at:
            yield text[at:start], False
        at = _end_of_secret(text, opening.end())
        yield text[start:at], True
    if text[at:]:
        yield text[at:], False


def without_secrets(text: str) -> str:
    """Return `text` without its secret blocks: what everyone may read who may read it at all."""
    return "".join(part for part, is_secret in split_secrets(text) if not is_secret).strip()


def without_fences(text: str) -> str:
    """Return `text` with secrets in the open: only the lines of the fences are left out."""
    return _FENCE_LINE.sub("", text)


def parse_secret(raw: str) -> SecretBlock:
    """Take apart a part that `split_secrets` calls secret. Audiences are in lower case."""
    audiences: list[str] = []
    start = opening.end() if (opening := _OPENING.match(raw)) else 0
    while audience := _AUDIENCE.match(raw, start):
        audiences.append(audience[1].lower())
        start = audience.end()
    closing = _CLOSING.search(raw, start)
    end = closing.start() if closing else len(raw)
    return SecretBlock(raw[:start], tuple(audiences), raw[start:end], raw[end:])


def _end_of_secret(text: str, at: int) -> int:
    """Return where the block opened before `at` ends, counting blocks inside it; without a closing
    fence, the end."""
    depth = 1
    for fence in _FENCE.finditer(text, at):
        depth += 1 if fence["opens"] else -1
        if depth == 0:
            return fence.end()
    return len(text)
