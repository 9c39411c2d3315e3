"""The names of what a memory is about, by which a question finds it: those that the caller gave,
its subject, and all words of a memory that is nothing but a name with its aliases, a *label*, such
as `redis_cache Redis in-memory cache`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memories.identity import texts_under
from memories.similarity.question_type import stop_words
from retrieval.text import WORD, name_keys, name_words

MOST_LABEL_WORDS = 40
LONGEST_PHRASE = 3
"""Words of a label that are taken together for a name; the places of its aliases are unknown."""
IDENTIFIER = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
SENTENCE_END = re.compile(r"[.!?…;:](?:\s|$)|[。！？]")
CAMEL_CASE = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")


def is_label(text: str) -> bool:
    """Whether `text` is a name with its aliases: an identifier first, or a first word in small
    letters that returns with capitals, among words that are no sentence."""
    words = text.split()
    if not words or len(words) > MOST_LABEL_WORDS or SENTENCE_END.search(text):
        return False
    if IDENTIFIER.fullmatch(words[0]) or CAMEL_CASE.fullmatch(words[0]):
        return True
    lower = [word.casefold().strip(",") for word in words]
    returns = words[0].islower() and any(
        other == words[0] != word for word, other in zip(words[1:], lower[1:], strict=True)
    )
    return returns and stop_words().isdisjoint(lower)


def words_of_identifiers(text: str) -> str:
    """Return `text` with the words of `snake_case` and `camelCase` apart; `TypeScript` is one."""
    apart = CAMEL_CASE.sub(lambda match: re.sub(r"(?=[A-Z])", " ", match.group()), text)
    return apart.replace("_", " ")


def label_words(text: str) -> list[str]:
    """Return the words of a label that may name it, in their order."""
    return [
        word
        for word in WORD.findall(words_of_identifiers(text))
        if len(word) > 1 and not word.isdigit() and word.casefold() not in stop_words()
    ]


def label_names(text: str) -> list[str]:
    """Return the words of a label, and those that follow one another together."""
    words = label_words(text)
    return list(
        dict.fromkeys(
            " ".join(words[start : start + count])
            for count in range(1, LONGEST_PHRASE + 1)
            for start in range(len(words) - count + 1)
        )
    )


def proper_words(text: str) -> set[str]:
    """Return the words of a label, folded, that are proper names: with a capital or a digit."""
    words = name_words(words_of_identifiers(text))
    return {word.norm for word in words if not (word.raw.isalpha() and word.raw.islower())}


def given_names(subject: str, metadata: Mapping[str, Any]) -> list[str]:
    """Return the names that a caller gave: the subject, and `names` of the metadata."""
    names = [name for name in [subject, *texts_under(metadata, "names")] if name.strip()]
    return list(dict.fromkeys(names))


def own_name_keys(text: str, subject: str, metadata: Mapping[str, Any]) -> list[str]:
    """Return the keys by which the database finds a memory by its names; none if it has none."""
    names: Iterable[str] = given_names(subject, metadata)
    if is_label(text):
        names = [*names, *label_names(text)]
    return name_keys(*names)
