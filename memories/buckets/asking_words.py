"""Words of a question that only ask, so that no memory has to have them: *happened*, and *called*
where a memory tells the name beside what is named: *Lena's brother Jonas*, *여동생 수진은*."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from memories.similarity.comparable_text import normalize_spelling
from memories.similarity.question_type import content_words, is_same_word, stem, word_lists
from retrieval.text import WORD_OR_NUMBER, has_hangul

KOREAN_NOUN = re.compile(r"[가-힣]{2,}(?:은|는|이|가|께서|의|을|를|와|과|도|에게)\Z")


def words_asked_about(question: str, texts: Iterable[str]) -> list[str]:
    """Return the content words of `question` without those that only ask, given the `texts` found
    for it."""
    words = [word for word in content_words(question) if word.casefold() not in words_for("event")]
    others = [word for word in words if word.casefold() not in words_for("name")]
    if others and len(others) < len(words) and any(tells_name(text, others) for text in texts):
        return others
    return words


@cache
def words_for(kind: str) -> frozenset[str]:
    return frozenset(word_lists()[f"asks_{kind}"].split())


def tells_name(text: str, words: Sequence[str]) -> bool:
    """Whether `text` has all of `words`, one of them with a name right after it."""
    tokens = WORD_OR_NUMBER.findall(normalize_spelling(text))
    roots = [stem(word) for word in words]
    is_known = [any(is_same_word(root, stem(token)) for root in roots) for token in tokens]
    has_all = all(any(is_same_word(root, stem(token)) for token in tokens) for root in roots)
    return has_all and any(
        known and not is_next_known and is_name_after(token, following, words)
        for (token, following), (known, is_next_known) in zip(
            pairwise(tokens), pairwise(is_known), strict=True
        )
    )


def is_name_after(token: str, following: str, words: Sequence[str]) -> bool:
    """By its capital; in Korean by its particle, after a noun that has none."""
    if has_hangul(following):
        return bool(KOREAN_NOUN.match(following)) and (token in words or stem(token) == token)
    return following[:1].isupper()
