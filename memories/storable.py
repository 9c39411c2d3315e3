"""Text a database can hold: no NUL, no lone surrogate."""

from typing import Any

from pydantic import ValidationInfo, field_validator

from retrieval.text import storage_flaw
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


def require_storable_text(text: str, where: str) -> str:
    """Return `text`, or raise ValueError naming the place and the flaw."""
    if wrong := storage_flaw(text):
        raise ValueError(f"{where} {wrong}: remove it and send the text again")
    return text
