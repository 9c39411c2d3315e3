"""Text as it is stored: clean characters, readable ids, lists of names."""

import hashlib
import re
import unicodedata
from collections.abc import Container
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_NO_WORD = re.compile(r"[^\w]+")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters without width, which would cut words in two, and marks of direction."""


def clean_text(text: str) -> str:
    """Return `text` in NFC with plain line ends, without control characters and surrogates."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _CONTROL.sub("", lines))


def visible_text(text: str) -> str:
    """Return `text` without characters that have no width, such as marks of direction."""
    return _INVISIBLE.sub("", text)


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
    """Return `text` for a tokenizer or an HTTP body: without NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def slugify(text: str, *, longest: int = 120) -> str:
    """Return a readable id in lower case, in any script: `Зал вёсел` gives `зал-вёсел`."""
    plain = unicodedata.normalize("NFC", text).lower().replace("'", "")
    return _NO_WORD.sub("-", plain).strip("-_")[:longest].strip("-")


def slug_of_title(title: str, *, otherwise: str, longest: int = 120) -> str:
    """Return the slug of a title. Of one without letters it is `otherwise` with a number made from
    the title: `…` and `?` are two things, and each is found again by its own title."""
    if slug := slugify(title, longest=longest):
        return slug
    return f"{otherwise}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"


def numbered_slug(base: str, taken: Container[str]) -> str:
    """Return `base`, or if it is taken `base-2`, `base-3` …: the first that is not."""
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug


def string_list(value: Any) -> list[str]:
    """Read a list of names from a list, or from text with commas."""
    if value is None:
        return []
    parts = value.split(",") if isinstance(value, str) else value
    parts = parts if isinstance(parts, list) else [parts]
    return list(dict.fromkeys(clean_text(str(part)).strip() for part in parts if str(part).strip()))
