"""Short keys by which a database finds the few names that a text may mean, before an index looks
closer."""

from functools import lru_cache

from retrieval.text.names.normalize import jamo, name_words
from retrieval.text.scripts import has_hangul

PREFIX = 4


def name_keys(*names: str) -> list[str]:
    """Return the keys to store with a thing of these names."""
    return sorted(
        {
            key
            for name in names
            for word in name_words(name)
            for key in keys_with_typo(jamo(word.norm))
        }
    )


def query_keys(text: str) -> list[str]:
    """Return the keys to look for: a name in `text`, even with one slip in its first letters,
    shares one."""
    return sorted(frozenset().union(*(word_keys(word.norm) for word in name_words(text))))


@lru_cache(10_000)
def word_keys(folded: str) -> frozenset[str]:
    letters = jamo(folded)
    keys = keys_with_typo(letters)
    if has_hangul(folded):  # the particle may begin within the prefix of a short name
        keys |= {letters[:2], letters[:3]}
    return frozenset(keys)


def keys_with_typo(letters: str) -> set[str]:
    head = letters[:PREFIX]
    if len(head) < PREFIX:
        return {head}
    return {head, *(head[:n] + head[n + 1 :] for n in range(PREFIX))}
