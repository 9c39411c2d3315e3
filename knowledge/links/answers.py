"""Links in answers to programs of players: what a link means is told only to whom may know it."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from knowledge.links.shown import link_resolver
from retrieval.text import TextLink, find_links, rewrite_links
from worlds.callers import Caller

CUT_LINK = re.compile(r"\[\[[^\[\]\n]*…\Z")
"""A link in which a budget of characters has cut the text."""
Place = tuple[Any, Any]
"""An object and the name of its field, or a list or mapping and the index or key."""


def unlink_unknown(answer: Any, caller: Caller) -> Any:
    """Replace, in all texts of `answer`, the links to what the audience of the caller may not know
    by the words that they show, as pages do: `[[The Ninth Oarsman|a stranger]]` would tell who the
    stranger is. Return the answer. Three queries, and none for game masters or without links."""
    if caller.audience.is_gm:
        return answer
    if isinstance(answer, str):
        return plain_texts([answer], caller)[0]
    found = [(place, text) for place, text in _texts(answer) if "[[" in text]
    plain = plain_texts([text for _place, text in found], caller) if found else []
    for ((holder, key), text), new in zip(found, plain, strict=True):
        if new != text:
            _set_text(holder, key, new)
    return answer


def plain_texts(texts: Sequence[str], caller: Caller) -> list[str]:
    """Return the texts without the links to what the audience may not know."""
    resolve = link_resolver(caller.world, caller.audience, campaign=caller.campaign)
    links = [find_links(text) for text in texts]
    shown = iter(resolve([link for found in links for link in found]))
    return [
        _rewrite_unknown(text, {link.start for link in found if next(shown)})
        for text, found in zip(texts, links, strict=True)
    ]


def _rewrite_unknown(text: str, known: Container[int]) -> str:
    """`known`: where the links begin that stay."""

    def write(link: TextLink) -> str:
        return link.raw if link.start in known else link.shown_words

    return CUT_LINK.sub("…", rewrite_links(text, write))


def _texts(node: Any) -> Iterator[tuple[Place, str]]:
    for key, value in _items(node):
        if isinstance(value, str):
            yield (node, key), value
        else:
            yield from _texts(value)


def _items(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, dict):
        return [*node.items()]
    if isinstance(node, list):
        return [*enumerate(node)]
    if isinstance(node, BaseModel):
        return [*vars(node).items()]
    if is_dataclass(node):
        return [(field.name, getattr(node, field.name)) for field in fields(node)]
    return []


def _set_text(holder: Any, key: Any, text: str) -> None:
    if isinstance(holder, dict | list):
        holder[key] = text
    else:
        setattr(holder, key, text)
