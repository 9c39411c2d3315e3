"""How the words of a question fit the memories found: which of them stand there, and how rare they
are among all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from memories.buckets.asking_words import words_asked_about
from memories.similarity.question_type import content_words, is_same_word, stem

# Added to a memory's cosine, times the share of the question's words in it, to find the best one.
COVERAGE_WEIGHT = 0.3
# About the rarity of one word that no candidate holds, among hundreds: scales the sum of those.
VERY_RARE = 6.0
# Without a bound, the words of a long question would add up to more than all other signs.
MOST_MISSING = 2.0


@dataclass(frozen=True)
class Candidate:
    """The text of a found memory, and its cosine to the question (None without vectors)."""

    text: str
    cosine: float | None


@dataclass(frozen=True)
class QuestionWord:
    """A word of the question, its rarity among the candidates, and its forms among their stems."""

    text: str
    rarity: float
    forms: frozenset[str]

    def is_in(self, stems: frozenset[str]) -> bool:
        return not self.forms.isdisjoint(stems)


def rank_candidates(question: str, candidates: Sequence[Candidate]) -> list[int]:
    """Return positions, the best candidate first: the one whose signs are read."""
    stems = [stems_of(candidate.text) for candidate in candidates]
    return rank_by_fit(question_words(question, candidates, stems), candidates, stems)


def rank_by_fit(
    words: Sequence[QuestionWord], candidates: Sequence[Candidate], stems: Sequence[frozenset[str]]
) -> list[int]:
    rarities = [word.rarity for word in words]
    fit = [
        (candidate.cosine or 0.0)
        + COVERAGE_WEIGHT * weighted_mean([float(word.is_in(own)) for word in words], rarities)
        for candidate, own in zip(candidates, stems, strict=True)
    ]
    return sorted(range(len(candidates)), key=fit.__getitem__, reverse=True)


def question_words(
    question: str, candidates: Sequence[Candidate], stems: Sequence[frozenset[str]]
) -> list[QuestionWord]:
    """Return the content words of the question, without those that only ask, with their smoothed
    idf among the candidates' `stems`: log(1 + (n + 1) / (1 + df))."""
    frequency = Counter(one for own in stems for one in own)
    words = []
    for word in words_asked_about(question, [candidate.text for candidate in candidates]):
        root = stem(word)
        forms = frozenset(one for one in frequency if is_same_word(root, one))
        times = max((frequency[one] for one in forms), default=0)
        words.append(QuestionWord(word, log(1 + (len(stems) + 1) / (1 + times)), forms))
    return words


def stems_of(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = sum(weights)
    return sum(v * w for v, w in zip(values, weights, strict=True)) / total if total else 0.0
