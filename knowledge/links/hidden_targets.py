"""Hits of a search by words that a reader does not see: those of a link to something hidden."""

from collections.abc import Sequence

from knowledge.links.shown import link_resolver
from retrieval.search import Hit
from retrieval.text import WORD_OR_NUMBER, find_links, has_hangul, replace_links, word_stem
from worlds.callers import Caller

LEAST_LETTERS = 4
"""Shorter words of an alphabet, such as articles and prepositions, stand in any text."""


def without_hidden_matches(query: str, hits: Sequence[Hit], caller: Caller) -> list[Hit]:
    """Leave out the hits that hold words of `query` nowhere but in the targets of links to what the
    audience may not know: of `[[The Ninth Oarsman|a stranger]]`, who guesses the name would learn
    that it is the stranger's. Three queries, and none for game masters or without such hits."""
    if caller.audience.is_gm:
        return list(hits)
    words = words_of(query)
    suspects = [hit for hit in hits if "[[" in hit.text and not holds_any(words, shown_words(hit))]
    links = [(hit, link) for hit in suspects for link in find_links(hit.text)]
    if not links:
        return list(hits)
    resolve = link_resolver(caller.world, caller.audience, campaign=caller.campaign)
    shown = resolve([link for _hit, link in links])
    hidden = {
        hit.id
        for (hit, link), target in zip(links, shown, strict=True)
        if target is None and holds_any(words, words_of(f"{link.folder} {link.name}"))
    }
    return [hit for hit in hits if hit.id not in hidden]


def shown_words(hit: Hit) -> frozenset[str]:
    return words_of(f"{hit.context} {replace_links(hit.text)}")


def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words of `text` that say something."""
    words = (word.replace("ё", "е") for word in WORD_OR_NUMBER.findall(text.casefold()))
    return frozenset(
        word_stem(word) for word in words if has_hangul(word) or len(word) >= LEAST_LETTERS
    )


def holds_any(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether the two have a word in common. Of Korean words, which carry particles, one may begin
    with the other."""
    if words & others:
        return True
    mine, yours = ([word for word in each if has_hangul(word)] for each in (words, others))
    return any(one.startswith(two) or two.startswith(one) for one in mine for two in yours)
