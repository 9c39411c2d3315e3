"""Text as it is stored: clean characters, readable ids, lists of names."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_NO_WORD = re.compile(r"[^\w]+")


def clean_text(text: str) -> str:
    """Return `text` in NFC with plain line ends, and without what PostgreSQL or a reader would choke on."""
    return unicodedata.normalize(
        "NFC", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    )


def slugify(text: str, *, longest: int = 120) -> str:
    """Return a readable id in lower case, letters of every script kept: `Зал вёсел` gives `зал-вёсел`."""
    return (
        _NO_WORD.sub("-", unicodedata.normalize("NFC", text).lower().replace("'", ""))
        .strip("-_")[:longest]
        .strip("-")
    )


def string_list(value: Any) -> list[str]:
    """Read a list of names from a list, or from text with commas."""
    if value is None:
        return []
    parts: Sequence[Any] = (
        value.split(",")
        if isinstance(value, str)
        else value
        if isinstance(value, list)
        else [value]
    )
    return list(dict.fromkeys(clean_text(str(part)).strip() for part in parts if str(part).strip()))
