"""Words that are known, and those of them that a misspelled word may mean."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from retrieval.text.names.inflections import PARTICLES, name_forms, text_forms
from retrieval.text.names.normalize import jamo
from retrieval.text.words import has_hangul, word_stem

SHORTEST, SHORTEST_KOREAN = 3, 2
"""Letters or syllables of a word below which one slip leaves almost nothing to recognize."""
LONG = 9
"""Letters from which on two slips are tolerated."""
STEM_ONLY = 0.95
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
BESIDE = frozenset(
    pair
    for upper, lower in zip(KEYBOARD, KEYBOARD[1:] + KEYBOARD[-1:], strict=True)
    for number, letter in enumerate(upper)
    for other in upper[number + 1 : number + 2] + lower[max(0, number - 1) : number + 2]
    for pair in ((letter, other), (other, letter))
)
"""Letters that lie beside, above or below each other."""

SHORT = 4
"""Letters up to which most words are one letter from another one."""
VOWELS = frozenset("aeiouyаеиоуыэюя")


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A known word, and how likely it was meant (0–1)."""

    word: str
    weight: float


@dataclass
class WordIndex:
    """Known words, folded (`fold_word`). A word is found after one slip in it or in its stem;
    `likely` words are preferred when several are equally near."""

    likely: Iterable[str]
    others: Iterable[str] = ()
    _known: set[str] = field(default_factory=set, init=False)
    _stems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list), init=False)
    _rank: dict[str, float] = field(default_factory=dict, init=False)
    _by_part: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set), init=False)
    _spellings: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set), init=False)

    def __post_init__(self) -> None:
        for words, rank in ((self.others, 0.8), (self.likely, 1.0)):
            for word in words:
                self._rank[word] = rank
        self.likely = self.others = ()
        for word in self._rank:
            self._known.add(word)
            self._stems[word_stem(word)].append(word)
            for letters in {jamo(word), jamo(word_stem(word))}:
                self._spellings[letters].add(word)
        for letters in self._spellings:
            for part in halves(letters):
                self._by_part[part].add(letters)

    def knows(self, word: str) -> bool:
        """Whether the folded `word` is known as it is written, in Korean also with a particle."""
        if has_hangul(word):
            return not self._known.isdisjoint(text_forms(word))
        return word in self._known

    def nearest(self, word: str, *, limit: int = 5, short: bool = False) -> list[WordMatch]:
        """Return the known words that differ from the folded `word` by a slip, likeliest first.
        With `short` also for words in which a slip leaves almost nothing to recognize."""
        best: dict[str, float] = {}
        shortest = 1 if short else SHORTEST_KOREAN if has_hangul(word) else SHORTEST
        if has_hangul(word):
            # The ending of a verb is no slip: only a longer word than its known beginning is.
            shortest = max(shortest, self._known_beginning(word) + 1)
        for form in spellings_of(word):
            letters = jamo(form)
            if len(form) < shortest:
                continue
            most = 2 if len(letters) >= LONG else 1
            # One slip leaves the first or the second half of a word as it is.
            near = {
                each for part in halves(letters, slips=True) for each in self._by_part.get(part, ())
            }
            for other in near:
                distance = OSA.distance(letters, other, score_cutoff=most)
                if distance > most or abs(len(letters) - len(other)) > most:
                    continue
                weight = likelihood(letters, other, distance)
                for known in self._spellings[other]:
                    # A slip in the word itself is likelier than one in its stem alone.
                    same_form = 1.0 if other == jamo(known) else STEM_ONLY
                    score = weight * same_form * self._rank[known]
                    best[known] = max(best.get(known, 0.0), score)
        best.pop(word, None)
        if relatives := self._stems.get(word_stem(word)):
            # A known word in another form: misspelled only if no form of it is written so.
            is_form = any(word in name_forms(known) for known in relatives)
            best = {} if is_form else {each: best[each] for each in relatives if each in best}
        ordered = sorted(best.items(), key=lambda each: (-each[1], each[0]))
        return [WordMatch(*each) for each in ordered[:limit]]

    def _known_beginning(self, word: str) -> int:
        lengths = range(len(word), 1, -1)
        return next((length for length in lengths if word[:length] in self._known), 0)


def spellings_of(word: str) -> set[str]:
    """Return the ways in which `word` is compared: whole, its stem, without a particle."""
    if not has_hangul(word):
        return {word, word_stem(word)}
    # Any particle: a slip may have changed the consonant that chooses between two forms of it.
    cut = (word[:-n] for n in range(1, 4) if len(word) > n and word[-n:] in PARTICLES)
    return {word, *cut}


def halves(letters: str, *, slips: bool = False) -> set[str]:
    """Return keys of the two halves of a word; with `slips` also those that a word which differs by
    one inserted, dropped or changed letter has for its unchanged half."""
    keys = set()
    lengths = range(len(letters) - 1, len(letters) + 2) if slips else (len(letters),)
    for length in lengths:
        middle = length // 2
        keys.add(f"{letters[:middle]}>{length}")
        keys.add(f"{length}<{letters[len(letters) - (length - middle) :]}")
    # Two letters that changed places across the middle leave neither half as it was.
    if slips and len(letters) > 1:
        middle = len(letters) // 2
        swapped = (
            letters[: middle - 1] + letters[middle] + letters[middle - 1] + letters[middle + 1 :]
        )
        keys |= halves(swapped)
    return keys


def likelihood(letters: str, other: str, distance: int) -> float:
    """Return how likely `letters` is a slip for `other`, from its first difference."""
    if distance == 0:
        return 1.0
    if distance == 1:
        pairs = zip(letters, other, strict=False)
        if len(letters) == len(other):
            changed = [pair for pair in pairs if pair[0] != pair[1]]
            return 0.9 if len(changed) == 2 or changed[0] in BESIDE else 0.75
        return 0.85 if letters[:1] == other[:1] else 0.75
    return 0.5


def is_likely_slip(word: str, other: str) -> bool:
    """Whether `word` is likely to be a slip for `other`. A short word has the consonants of the
    other one in their order, unless letters changed places, one at an end is missing, or a wrong
    one lies beside the right one: an abbreviation (`dmg`) is no slip for a word (`dog`)."""
    if len(word) > SHORT or has_hangul(word) or sorted(word) == sorted(other):
        return True
    pairs = zip(word + " ", other + " ", strict=False)
    place = next((n for n, pair in enumerate(pairs) if pair[0] != pair[1]), 0)
    if len(word) == len(other):
        letters = (word[place], other[place])
        same_rest = word[place + 1 :] == other[place + 1 :]
        return same_rest and (letters in BESIDE or (place > 0 and VOWELS.issuperset(letters)))
    longer, shorter = sorted((word, other), key=len, reverse=True)
    if longer[:place] + longer[place + 1 :] != shorter:
        return False
    letter, around = longer[place], longer[max(0, place - 1) : place] + longer[place + 1 :][:1]
    if longer == other:
        is_at_end = place == len(word) or (place == 0 and len(word) == SHORT)
        return is_at_end or letter in VOWELS or letter in around
    is_beside = any((letter, each) in BESIDE for each in around)
    return place > 0 and (letter in VOWELS or letter in around or is_beside)
