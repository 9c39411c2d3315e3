"""The part of a text that a result of a search shows."""

from collections import Counter

from retrieval.text import WORD, has_hangul, text_forms, word_stem

WORDS_SHOWN, WORDS_BEFORE = 40, 8
SHORTEST_WORD = 3


def excerpt_around(text: str, question: str) -> str:
    """Return the text from shortly before the place that holds most of the question's words; the
    whole text if its beginning holds as many. The rarer a word is in the text, the more it
    counts."""
    parts = text.split()
    asked = frozenset().union(*map(_stems, question.split()))
    places = [(at, found) for at, part in enumerate(parts) if (found := _stems(part) & asked)]
    counts = Counter(stem for _at, found in places for stem in found)

    def weight(start: int) -> float:
        end = start + WORDS_SHOWN
        shown = frozenset().union(*(found for at, found in places if start <= at < end))
        return sum(1 / counts[stem] for stem in shown)

    starts = [0, *(at - WORDS_BEFORE for at, _found in places if at > WORDS_BEFORE)]
    best = max(starts, key=weight)
    return f"… {' '.join(parts[best:])}" if best else text


def _stems(part: str) -> frozenset[str]:
    """The stems of its words; a Korean word with and without its particle."""
    words = [word.lower() for word in WORD.findall(part)]
    forms = (form for word in words for form in (text_forms(word) if has_hangul(word) else [word]))
    return frozenset(
        word_stem(form) for form in forms if len(form) >= SHORTEST_WORD or has_hangul(form)
    )
