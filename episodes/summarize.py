"""Extractive summaries: cut texts into sentences and select the most informative. Pure, without a
language model.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.text import name_words, split_sentences

SHORTEST_WORD = 3
LONGEST_SENTENCE = 600
MOST_KEPT, LONGEST_KEPT = 1_000, 20_000
"""Texts that are kept with their sentences, and the characters of the longest: 20 MB at most."""
MOST_QUOTED = 5
"""Sentences of a quotation that are kept together; in a longer one each stands alone."""
QUOTES = {"“": "”", "«": "»", "„": "“", "「": "」", "『": "』", "(": ")"}


@dataclass(frozen=True)
class SourcedSentence:
    """A sentence and the keys of the episodes that support it."""

    text: str
    rests_on: tuple[Hashable, ...] = ()


def source_sentences(text: str, *rests_on: Hashable) -> list[SourcedSentence]:
    """Cut `text` into sentences without Markdown marks and line breaks; longer ones than 600
    characters are cut off."""
    cut = _plain_sentences if len(text) <= LONGEST_KEPT else _plain_sentences.__wrapped__
    return [SourcedSentence(part, rests_on) for part in cut(text)]


@lru_cache(MOST_KEPT)
def _plain_sentences(text: str) -> tuple[str, ...]:
    parts = (
        re.sub(r"\s+", " ", re.sub(r"^[#>*\-\s]+", "", part)).strip()
        for part in join_quotations(split_sentences(text))
    )
    return tuple(part[:LONGEST_SENTENCE] for part in parts if part)


def join_quotations(parts: Sequence[str]) -> list[str]:
    """Return sentences of which none ends within a quotation or a bracket that ends a few sentences
    later in its paragraph: half of a quotation alone says something else."""
    joined: list[str] = []
    place = 0
    while place < len(parts):
        end = place + 1
        for stop in range(end, min(place + MOST_QUOTED, len(parts)) + 1):
            paragraph = "".join(parts[place:stop])
            if "\n\n" in paragraph.rstrip():
                break
            if not is_open(paragraph):
                end = stop
                break
        joined.append("".join(parts[place:end]))
        place = end
    return joined


def is_open(text: str) -> bool:
    """Whether a quotation or a bracket begins in `text` and does not end there."""
    closing: list[str] = []
    for letter in text:
        if closing and letter == closing[-1]:
            closing.pop()
        elif letter == '"' or letter in QUOTES:
            closing.append(QUOTES.get(letter, letter))
    return bool(closing)


def select_sentences(candidates: Sequence[SourcedSentence], most: int) -> list[SourcedSentence]:
    """Return the `most` highest-scoring sentences in their original order, of each episode one at
    least, if there are not more episodes. Kept for the latest texts: a page that shows the recaps
    of many sessions is read again and again."""
    texts = tuple(each.text for each in candidates)
    sources = tuple(each.rests_on for each in candidates)
    is_kept = sum(map(len, texts)) <= LONGEST_KEPT
    select = _selection if is_kept else _selection.__wrapped__
    return [candidates[number] for number in select(texts, sources, most)]


@lru_cache(MOST_KEPT)
def _selection(
    texts: tuple[str, ...], sources: tuple[tuple[Hashable, ...], ...], most: int
) -> tuple[int, ...]:
    """Return the places of the sentences in `texts`, in order; `sources` are what each rests on.

    SumBasic (Nenkova and Vanderwende 2005): take the sentence with the highest mean word weight,
    halve the weights of its words, repeat. A factor logarithmic in the length keeps the shortest
    sentences from always winning.
    """
    bags = [
        frozenset(w.norm for w in name_words(text) if len(w.norm) >= SHORTEST_WORD)
        for text in texts
    ]
    weight = {word: float(count) for word, count in Counter(w for bag in bags for w in bag).items()}

    # Dividing by one more than the number of words keeps a single frequent word from winning. The
    # second element prefers the earlier of two equal sentences.
    def score(number: int) -> tuple[float, int]:
        bag = bags[number]
        mean = sum(weight[word] for word in bag) / (1 + len(bag))
        return mean * math.log2(2 + min(len(bag), 20)), -number

    selection: set[int] = set()
    missing = {key for keys in sources for key in keys}
    while len(selection) < min(most, len(texts)):
        rest = [number for number in range(len(texts)) if number not in selection]
        # The last places are for what nothing was taken from: else it would not be told of at all.
        if most - len(selection) <= len(missing):
            rest = [number for number in rest if not missing.isdisjoint(sources[number])] or rest
        best = max(rest, key=score)
        selection.add(best)
        missing -= set(sources[best])
        # What was said counts less from now on, so that the next sentence says something else.
        weight.update({word: weight[word] / 2 for word in bags[best]})
    return tuple(sorted(selection))
