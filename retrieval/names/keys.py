"""Short keys by which a database finds the few names that a text may mean, before an index looks closer."""

from collections.abc import Iterable

from retrieval.names.folding import Word, has_hangul, jamo, words

PREFIX = 4


def name_keys(*names: str) -> list[str]:
    """Return the keys to store with a thing of these names."""
    return sorted({key for name in names for word in words(name) for key in _with_one_slip(_letters(word))})


def query_keys(text: str) -> list[str]:
    """Return the keys to look for: a name in `text`, even with one slip in its first letters, shares one."""
    return sorted({key for word in words(text) for key in _query(word)})


def _query(word: Word) -> Iterable[str]:
    yield from _with_one_slip(_letters(word))
    if has_hangul(word.folded):  # the particle may begin within the prefix of a short name
        yield from (_letters(word)[:2], _letters(word)[:3])


def _letters(word: Word) -> str:
    return jamo(word.folded)


def _with_one_slip(letters: str) -> set[str]:
    head = letters[:PREFIX]
    if len(head) < PREFIX:
        return {head}
    return {head, *(head[:n] + head[n + 1 :] for n in range(PREFIX))}
