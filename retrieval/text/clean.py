"""Text as it is stored: clean characters, readable ids, lists of names."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_NO_WORD = re.compile(r"[^\w]+")


def clean_text(text: str) -> str:
    """Return `text` in NFC with plain line ends, and without what PostgreSQL or a reader would
    choke on."""
    return unicodedata.normalize(
        "NFC", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    )


def storage_flaw(text: str) -> str:
    """Say what makes `text` impossible to store in PostgreSQL, or return an empty string."""
    if "\x00" in text:
        return "holds a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds a lone surrogate, which is not Unicode text"
    return ""


def require_storable_text(text: str, where: str) -> str:
    """Return `text`; raise ValueError naming `where` if PostgreSQL cannot store it."""
    if flaw := storage_flaw(text):
        raise ValueError(f"{where} {flaw}: remove it and send the text again")
    return text


def encodable(text: str) -> str:
    """Return `text` without what a tokenizer or an HTTP body cannot carry: NUL and lone
    surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def slugify(text: str, *, longest: int = 120) -> str:
    """Return a readable id in lower case, letters of every script kept: `Зал вёсел` gives
    `зал-вёсел`."""
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
