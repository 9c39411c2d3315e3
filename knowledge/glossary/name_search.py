"""Find the English name of a rule behind a name in another language, however it was translated.

Three kinds of evidence, and the best of them counts. The names that the glossary knows for a rule:
words and their parts that they share with the question. A word list: each word of the question
stands for English words, and these for the titles that hold them. The sound: a transliteration
sounds like the English name. Rare words say more than common ones in all of them.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.glossary.ordinary_words import is_ordinary_word
from knowledge.glossary.sound_search import SoundIndex
from retrieval.text import (
    WORD,
    dictionary_forms,
    fold_name,
    guess_language,
    has_hangul,
    is_cyrillic,
    pronunciations,
    text_forms,
    word_stem,
)

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

LEAST_SCORE = 0.3
LEAST_SOUND = 0.9
"""Likeness from which a word alone sounds like one of a title."""
UNLIKE = 0.7
"""Likeness of sound at which a name is no evidence any more."""
PART_OF_A_TERM = 0.5
"""Share of its score that a rule keeps when the question is the known name of another thing."""
LONGEST_SPAN, MOST_SPANS = 3, 12
"""Words within a longer text that may be a name by their sound, and how many runs are compared."""
SYLLABLE_WEIGHT, TRIGRAM_WEIGHT = 0.4, 0.4
"""Of a single syllable and of three letters, against a pair of syllables and a stem."""
LATIN_WORD = re.compile(r"[a-z]+|\d+")
OF = frozenset({"of", "the", "a", "an", "and", "or", "to", "in", "with", "from", "s", "on", "for"})
ORDINALS = frozenset({"st", "nd", "rd", "th"})
KOREAN_OF = "의"
KOREAN_VERB = re.compile("(?<=[가-힣][가-힣])(?:하|해|할|한|합|했)[가-힣]{0,3}$")
"""What makes a verb of a name: `도지하면`."""


@dataclass(frozen=True)
class KnownRule:
    """A rule's title in English and its names in other languages."""

    title: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundTitle:
    """`number` counts the rules of the index; `score` is 1 for a name that is known as it is."""

    number: int
    title: str
    score: float


class FeatureIndex:
    """Texts by their features, weighed by how rare each is. `owners` are the rules of the texts."""

    def __init__(self, features: Sequence[Mapping[str, float]], owners: Sequence[int]) -> None:
        self.owners: Ids = np.array(owners, dtype=np.int64)
        postings: dict[str, list[int]] = defaultdict(list)
        for number, own in enumerate(features):
            for feature in own:
                postings[feature].append(number)
        self.postings: dict[str, Ids] = {
            feature: np.array(numbers, dtype=np.int64) for feature, numbers in postings.items()
        }
        count = max(len(features), 1)
        self.rarity = {
            feature: math.log(1 + count / len(numbers)) for feature, numbers in postings.items()
        }
        self.unknown = math.log(1 + count)
        norms = [sum(self._weight(name, own[name]) ** 2 for name in own) for own in features]
        self.norms: Floats = np.sqrt(np.array(norms or [1.0]))

    def _weight(self, feature: str, times: float) -> float:
        return self.rarity.get(feature, self.unknown) * times

    def similarity(self, features: Mapping[str, float], rules: int) -> Floats:
        """Return how similar (0–1) each rule is: its best text, and all of them together."""
        weights = {feature: self._weight(feature, times) for feature, times in features.items()}
        total = sum(weight**2 for weight in weights.values())
        by_text, by_rule = np.zeros(len(self.owners)), np.zeros(rules)
        for feature, weight in weights.items():
            if (numbers := self.postings.get(feature)) is not None:
                by_text[numbers] += weight**2
                by_rule[np.unique(self.owners[numbers])] += weight**2
        best = np.zeros(rules)
        np.maximum.at(best, self.owners, by_text / (self.norms * math.sqrt(total or 1)))
        return (0.6 * best + 0.4 * by_rule / (total or 1)) * (best > 0)


class TitleWords:
    """English titles by their words, found through a list of what foreign words stand for."""

    def __init__(self, titles: Sequence[str], words: Mapping[str, Iterable[str]]) -> None:
        self.titles = [frozenset(title_words(title)) for title in titles]
        holders: dict[str, list[int]] = defaultdict(list)
        for number, title in enumerate(self.titles):
            for word in title:
                holders[word].append(number)
        self.holders = {word: np.array(numbers) for word, numbers in holders.items()}
        self.rarity = {
            word: math.log(1 + len(titles) / len(held)) for word, held in holders.items()
        }
        self.totals: Floats = np.array(
            [sum(self.rarity[word] for word in title) or 1.0 for title in self.titles] or [1.0]
        )
        # The foreign words of the list by their keys, with the English words of titles that each
        # stands for; also those that no title needs.
        self.listed: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        for foreign, english in words.items():
            known = frozenset(word_stem(fold_name(word)) for word in english) & holders.keys()
            if key := word_key(foreign):
                same, name = self.listed[key], fold_name(foreign)
                same[name] = same.get(name, frozenset()) | known
        # What a key stands for, whichever of its words is meant.
        self.meanings = {
            key: known
            for key, same in self.listed.items()
            if (known := frozenset[str]().union(*same.values()))
        }
        self.longest = max((len(key) for key in self.meanings if has_hangul(key)), default=0)
        words_of_titles = {
            word for title in titles for word in LATIN_WORD.findall(fold_name(title))
        }
        self.sounds = SoundIndex(sorted(words_of_titles - OF))

    def similarity(self, text: str) -> Floats:
        """Return for each title the geometric mean of two shares: of its words that `text` names,
        and of `text` that its words explain."""
        spans = list(self._spans(text))
        length = sum(span for span, _words in spans) or 1.0
        title_share, text_share = np.zeros(len(self.titles)), np.zeros(len(self.titles))
        for word in set().union(*(words for _span, words in spans)):
            title_share[self.holders[word]] += self.rarity[word]
        for span, words in spans:
            if words:
                held = np.unique(np.concatenate([self.holders[word] for word in words]))
                text_share[held] += span / length
        share: Floats = np.sqrt(
            np.minimum(title_share / self.totals, 1) * np.minimum(text_share, 1)
        )
        return share

    def _spans(self, text: str) -> Iterable[tuple[float, frozenset[str]]]:
        """Yield how many characters of `text` stand for which words of titles."""
        for word in WORD.findall(text):
            if word.isascii():
                english = frozenset({word_stem(fold_name(word))}) & self.holders.keys()
                yield float(len(word)), english
            elif has_hangul(word[:1]):
                yield from self._syllable_spans(word)
            else:
                yield float(len(word)), self._meanings_of(word) or self._by_sound(word)

    def _meanings_of(self, word: str) -> frozenset[str]:
        """Return what a Cyrillic `word` stands for. Of words with one stem (`поле`, `пол`) those
        that it may be a form of go before others."""
        key = word_key(word)
        listed = self.listed.get(key, {})
        forms = dictionary_forms(fold_name(word)) if len(listed) > 1 else frozenset()
        if same := [listed[form] for form in listed.keys() & forms]:
            return frozenset().union(*same)
        return self.meanings.get(key, frozenset())

    def _syllable_spans(self, word: str) -> Iterable[tuple[float, frozenset[str]]]:
        # Compounds are written with and without spaces: at each place the longest known word.
        place, unknown = 0, ""
        spans: list[tuple[float, frozenset[str]]] = []
        while place < len(word):
            for end in range(min(len(word), place + self.longest), place, -1):
                if meanings := self.meanings.get(word[place:end]):
                    spans.append((2.0 * (end - place), meanings))
                    place = end
                    break
            else:
                unknown += word[place]
                place += 1
        if len(unknown) == len(word) or len(unknown) > 2:
            by_sound = self._by_sound(word)
            return (
                [(2.0 * len(word), by_sound)]
                if by_sound or not spans
                else [*spans, (2.0 * len(unknown.rstrip(KOREAN_OF)), frozenset())]
            )
        rest = unknown.replace(KOREAN_OF, "")
        return [*spans, (1.0 * len(rest), frozenset())] if rest else spans

    def knows(self, word: str) -> bool:
        """Whether the list says what a Cyrillic `word` stands for."""
        return word_key(word) in self.listed

    def _by_sound(self, word: str) -> frozenset[str]:
        if self.knows(word):
            return frozenset()
        found = [
            each
            for each in self.sounds.find(word)
            if each.similarity >= LEAST_SOUND and not is_chance(word, self.sounds.names[each.name])
        ]
        best = (word_stem(self.sounds.names[each.name]) for each in found[:1])
        return frozenset(best) & self.holders.keys()


def is_chance(word: str, english: str) -> bool:
    """Whether two words sound alike by chance, as `король` and *color*: both are ordinary words of
    their languages. A transliteration is none in the first, a monster's name none in English."""
    pairs = ((word, guess_language(word)), (english, "en"))
    return all(is_ordinary_word(fold_name(each), language) for each, language in pairs)


class NameSearch:
    """`find("파이어 볼")` returns the rules that this may be a name of. Built once per version of
    the rules; a search takes a few milliseconds."""

    def __init__(
        self,
        rules: Sequence[KnownRule],
        words: Mapping[str, Iterable[str]],
        *,
        terms: Iterable[str] = (),
    ) -> None:
        """`terms` are names of things of any game: of what these rules may lack."""
        self.rules = tuple(rules)
        names = [(number, name) for number, rule in enumerate(rules) for name in rule.names]
        self._known: dict[str, list[int]] = defaultdict(list)
        for number, name in names:
            self._known[compact(name)].append(number)
        several = (compact(term) for term in terms if " " in term)
        self._lacking = frozenset(several) - self._known.keys()
        self._names = FeatureIndex(
            [name_features(name) for _n, name in names], [n for n, _ in names]
        )
        self._words = TitleWords([rule.title for rule in rules], words)
        spoken = [
            (name, number) for number, rule in enumerate(rules) for name in spoken_names(rule.title)
        ]
        self._sounds = SoundIndex(name for name, _number in spoken)
        self._sounding = [number for _name, number in spoken]

    def find(self, text: str, *, limit: int = 10) -> list[FoundTitle]:
        """Return the rules that `text` may name, best first."""
        if not self.rules or not (features := name_features(text)):
            return []
        by_name = self._names.similarity(features, len(self.rules))
        by_words = self._words.similarity(fold_name(text))
        by_sound = self._by_sound(text)
        # What two kinds of evidence agree about is likelier than what one of them finds alone.
        best = np.maximum(np.maximum(by_name, by_words), by_sound)
        scores = 0.7 * best + 0.3 * (by_name + by_words + by_sound) / 3
        scores = np.minimum(scores, 0.99)
        for number in self._known.get(compact(text), ()):
            scores[number] = 1.0
        order = np.argsort(-scores, kind="stable")[:limit]
        # `короткий отдых` is a name, but not of what shares one of its words.
        certainty = PART_OF_A_TERM if compact(text) in self._lacking else 1.0
        return [
            FoundTitle(int(number), self.rules[number].title, certainty * float(scores[number]))
            for number in order
            if scores[number] >= LEAST_SCORE
        ]

    def _by_sound(self, text: str) -> Floats:
        scores = np.zeros(len(self.rules))
        for span, share in self._spans(text):
            # The shorter a name is, the more words sound so by chance.
            length = max(map(len, pronunciations(span)), default=0)
            weight = (0.5 + 0.5 * share) * (1 - 1 / max(length, 1))
            for match in self._sounds.find(span):
                number = self._sounding[match.name]
                certainty = weight * (match.similarity - UNLIKE) / (1 - UNLIKE)
                scores[number] = max(scores[number], certainty)
        return scores

    def _spans(self, text: str) -> list[tuple[str, float]]:
        """Return the runs of words of `text` that may be a name by their sound, and how large a
        share of it each of them is."""
        words = WORD.findall(text)
        spans = {text: 1.0}
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + LONGEST_SPAN, len(words)) + 1):
                *head, last = words[begin:end]
                if end == begin + 1 and self._words.knows(last):
                    continue
                for form in {*text_forms(last), KOREAN_VERB.sub("", last)}:
                    span = " ".join((*head, form))
                    spans.setdefault(span, sum(map(len, words[begin:end])) / len("".join(words)))
        return list(spans.items())[: MOST_SPANS + 1]


def spoken_names(title: str) -> list[str]:
    """Return a title as players say it: also without brackets and the plural."""
    bare = title.split("(")[0].strip()
    names = dict.fromkeys((title, bare, bare.removesuffix("s")))
    return [name for name in names if name]


def compact(name: str) -> str:
    return fold_name(name).replace(" ", "")


def name_features(name: str) -> dict[str, float]:
    """Return the features of a name and their weights: pairs of syllables in Korean, wherever the
    spaces are; stems and their letters in Russian; numbers."""
    features: dict[str, float] = {}
    folded = fold_name(name)
    syllables = "".join(
        word.removesuffix(KOREAN_OF) if len(word) > 2 else word
        for word in folded.split()
        if has_hangul(word)
    )
    for place, syllable in enumerate(syllables):
        features[syllable] = SYLLABLE_WEIGHT
        if place:
            features[syllables[place - 1 : place + 1]] = 1.0
    for word in folded.split():
        if is_cyrillic(word):
            stem = word_stem(word)
            features[f"{stem} "] = 1.0
            padded = f" {stem}"
            for place in range(len(padded) - 2):
                features[padded[place : place + 3]] = TRIGRAM_WEIGHT
        elif word.isascii():
            features[word] = 1.0
    return features


def title_words(title: str) -> list[str]:
    """Return the stems of the words of an English title; `1st` and `+1` count as `1`."""
    words = LATIN_WORD.findall(fold_name(title).replace("'", ""))
    return [word_stem(word) for word in words if word not in OF and word not in ORDINALS]


def word_key(word: str) -> str:
    """Return what a foreign word of the list is looked up by; nothing for several Russian ones."""
    folded = fold_name(word)
    if has_hangul(folded):
        return folded.replace(" ", "")
    return word_stem(folded) if " " not in folded else ""
