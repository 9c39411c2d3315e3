"""Texts in prompts: escaped, so that no text can close its block, and cut into windows that fit."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from django.conf import settings

from retrieval.text import count_tokens, split_sentences

Item = TypeVar("Item")


def in_tags(tag: str, text: str) -> str:
    """Return `text` between `<tag>` and `</tag>`. The same tag inside of the text is written
    `‹tag›`: a text cannot end its block and go on as an instruction."""
    escaped = re.sub(rf"<(\s*/?\s*{re.escape(tag)}\b[^<>]*)>", r"‹\1›", text, flags=re.IGNORECASE)
    return f"<{tag}>\n{escaped}\n</{tag}>"


def windows_of_items(
    items: Iterable[Item], text_of: Callable[[Item], str], *, tokens: int | None = None
) -> list[list[Item]]:
    """Cut `items` into runs whose texts have at most `tokens` (estimated; `LLM_PROMPT_TOKENS`); a
    longer item is a window of its own."""
    limit = tokens or settings.LLM_PROMPT_TOKENS
    windows: list[list[Item]] = []
    size = 0.0
    for item in items:
        # One more for the line break.
        item_size = count_tokens(text_of(item)) + 1
        if windows and size + item_size <= limit:
            windows[-1].append(item)
            size += item_size
        else:
            windows.append([item])
            size = item_size
    return windows


def split_long_text(text: str, *, tokens: int | None = None) -> Iterator[str]:
    """Cut a text that has more than `tokens` between sentences, and a longer sentence anywhere."""
    limit = tokens or settings.LLM_PROMPT_TOKENS
    if count_tokens(text) <= limit:
        yield text
        return
    # No letter is estimated at more than a token: so many characters are never too long.
    pieces = (
        sentence[start : start + limit]
        for sentence in split_sentences(text)
        for start in range(0, len(sentence), limit)
    )
    for window in windows_of_items(pieces, str, tokens=limit):
        yield " ".join(window)
