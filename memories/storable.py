"""Text a database can hold: no NUL, no lone surrogate."""

from typing import Any

from pydantic import ValidationInfo, field_validator

from worlds.base_schemas import RequestModel


class Storable(RequestModel):
    """A model whose texts a database can hold; others are invalid input."""

    @field_validator("*", mode="after")
    @classmethod
    def _can_be_stored(cls, value: Any, info: ValidationInfo) -> Any:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                require_storable_text(text, info.field_name or "text")
        return value


def flaw(text: str) -> str:
    """Say what makes `text` impossible to store, or nothing."""
    if "\x00" in text:
        return "holds a NUL character"
    if not _encodes(text):
        return "holds a lone surrogate, which is not Unicode text"
    return ""


def require_storable_text(text: str, where: str) -> str:
    """Return `text`, or raise ValueError naming the place and the flaw."""
    if wrong := flaw(text):
        raise ValueError(f"{where} {wrong}: remove it and send the text again")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
