"""The telling sentences of texts, without a language model. Pure."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from retrieval.text import name_words

_SENTENCE = re.compile(
    r".+?(?:[.!?…。！？]+[\"'”’»)\]]*(?=\s+(?![—–]|[a-zа-яё])|\s*$)|\n{2,}|$)", re.DOTALL
)
SHORTEST_WORD = 3
LONGEST_SENTENCE = 600


@dataclass(frozen=True)
class SourcedSentence:
    """A sentence and what it rests on."""

    text: str
    rests_on: tuple[Hashable, ...] = ()
    """Keys of episodes."""


def split_sentences(text: str, *rests_on: Hashable) -> list[SourcedSentence]:
    """Cut `text` into sentences, Markdown signs and line breaks smoothed away."""
    smooth = (
        re.sub(r"\s+", " ", re.sub(r"^[#>*\-\s]+", "", part)).strip()
        for part in _SENTENCE.findall(text)
    )
    return [SourcedSentence(part[:LONGEST_SENTENCE], rests_on) for part in smooth if part]


def select_sentences(candidates: Sequence[SourcedSentence], most: int) -> list[SourcedSentence]:
    """Return the `most` sentences that say most of what is talked about, in their order, none of them twice.

    Taken one by one: the one whose words are spoken of most; then its words count half (SumBasic, Nenkova and
    Vanderwende 2005, with a log for length so that neither the shortest nor the longest always win).
    """
    bags = [
        frozenset(w.folded for w in name_words(each.text) if len(w.folded) >= SHORTEST_WORD)
        for each in candidates
    ]
    counts = Counter(word for bag in bags for word in bag)
    weight = {word: float(count) for word, count in counts.items()}
    chosen: set[int] = set()
    while len(chosen) < min(most, len(candidates)):
        rest = [number for number in range(len(candidates)) if number not in chosen]
        best = max(rest, key=lambda number: (_worth(bags[number], weight), -number))
        chosen.add(best)
        weight.update({word: weight[word] / 2 for word in bags[best]})
    return [candidates[number] for number in sorted(chosen)]


def _worth(bag: frozenset[str], weight: dict[str, float]) -> float:
    return sum(weight[word] for word in bag) / (1 + len(bag)) * math.log2(2 + min(len(bag), 20))
