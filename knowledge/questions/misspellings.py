"""Misspelled words of a question: which known words they may mean.

Of a question about the rules, a word is taken for misspelled if no shared rule, no name of one and
no name of the glossary has it, and if it is no ordinary word of its language; of one about lore, if
no name and no text that the caller may know has it.
What it may mean is looked up in the names first: a name that the corrected word completes is more
likely than a word by itself.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.glossary.expansion import Glossary
from knowledge.models import RulePassage
from knowledge.name_matching import NamedRow, best_of_each
from retrieval.text import (
    NameIndex,
    NameMention,
    WordIndex,
    WordMatch,
    fold_name,
    has_hangul,
    is_cyrillic,
    is_likely_slip,
    name_words,
)

MOST_WORDS = 40
"""A longer text is a paste, not a question."""
LONGEST_WORD = 60
"""Letters; a longer one is several words without spaces, or no word."""
LONGEST_NAME = 7
"""Words up to which a question may be little more than a name, in which an ordinary word may be a
slip (`Fast Hans`)."""
MOST_CORRECTED = 3
MOST_SHORT = 40
MOST_NAMES = 3
OTHER_READING = 0.9
"""What a name counts that a misspelled question means less likely."""
OCCURRENCES = 2
"""From so many on, a word of the rules' texts is taken to be spelled as it should be."""

MatchNames = Callable[[str], list[NamedRow]]


@dataclass(frozen=True)
class Spelling:
    """`text` is the question with its misspelled words corrected; `others` are other guesses of
    it, in which a name was recognized, likeliest first."""

    text: str
    corrections: tuple[tuple[str, str], ...] = ()
    others: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.corrections)


@dataclass(frozen=True)
class SpellingGuess:
    """The text with one word replaced, and the name that it completes there, if any."""

    text: str
    words: tuple[str, str]
    weight: float
    name: str
    name_length: int

    @property
    def rank(self) -> tuple[float, ...]:
        return (self.name_length > 1, self.weight + 0.3 * (self.name_length > 0), self.name_length)


def correct_spelling(
    text: str,
    known: WordIndex,
    names: NameIndex,
    *,
    find_occurring: Callable[[list[str]], set[str]] = lambda _words: set(),
    is_ordinary: Callable[[str], bool] = lambda _word: False,
    names_alone: bool = False,
) -> Spelling:
    """Return `text` with words that `known` does not know replaced by those they may mean.
    `find_occurring` returns those of some words that texts of the world's own hold; it is called
    for unknown words alone. `is_ordinary` tells the words of the language, which are slips
    only if they complete a name of several words. With `names_alone` only words that complete a
    name are replaced, short ones by any slip."""
    text = unicodedata.normalize("NFC", text)
    words = name_words(text)
    spelling = Spelling(text)
    if len(words) > MOST_WORDS:
        return spelling
    unknown = [word for word in words if is_unknown(word.norm, known)]
    if len(words) > LONGEST_NAME:
        unknown = [word for word in unknown if not is_ordinary(word.norm)]
    if not unknown:
        return spelling
    occurring = find_occurring([word.norm for word in unknown])
    unknown = [word for word in unknown if word.norm not in occurring]
    unknown.sort(key=lambda word: (is_ordinary(word.norm), -word.start))
    # From the end, so that the positions of the words before stay.
    for word in sorted(unknown[:MOST_CORRECTED], key=lambda each: -each.start):
        span = (word.start, word.end)
        is_alone = names_alone or not is_ordinary(word.norm)
        likely = partial(is_likely_guess, word.norm, is_alone=is_alone, by_any_slip=names_alone)
        near = known.nearest(word.norm)
        guesses = list(filter(likely, guesses_of(spelling.text, span, near, names)))
        if not any(guess.name for guess in guesses):
            # A very short word is recognized only as part of a longer name.
            short = known.nearest(word.norm, limit=MOST_SHORT, short=True)
            within = guesses_of(spelling.text, span, short, names)
            guesses += [guess for guess in within if guess.name_length > 1]
        if names_alone:
            guesses = [guess for guess in guesses if guess.name]
        guesses.sort(key=lambda guess: guess.rank, reverse=True)
        if guesses:
            best, rest = guesses[0], other_names(guesses)
            spelling = Spelling(
                best.text, (best.words, *spelling.corrections), (*rest, *spelling.others)
            )
    return spelling


def is_unknown(word: str, known: WordIndex) -> bool:
    """Whether `word` may be misspelled: it is neither a number nor a word that everybody knows."""
    if len(word) > LONGEST_WORD or word in COMMON_WORDS or any(map(str.isdigit, word)):
        return False
    return not known.knows(word)


def is_likely_guess(word: str, guess: SpellingGuess, *, is_alone: bool, by_any_slip: bool) -> bool:
    """Whether `word` may be misspelled so: it completes a name of several words, or may be one
    (`is_alone`) that a likely slip has changed."""
    meant = fold_name(guess.words[1])
    return guess.name_length > 1 or (is_alone and (by_any_slip or is_likely_slip(word, meant)))


def guesses_of(
    text: str, span: tuple[int, int], candidates: Iterable[WordMatch], names: NameIndex
) -> Iterator[SpellingGuess]:
    start, end = span
    for candidate in candidates:
        # A name of one word needs its capital, if there are others.
        word = candidate.word.capitalize() if text[start].isupper() else candidate.word
        replaced = f"{text[:start]}{word}{text[end:]}"
        mention = mention_at(replaced, start, names)
        length = len(name_words(mention.text)) if mention else 0
        yield SpellingGuess(
            replaced,
            (text[start:end], word),
            candidate.weight,
            mention.text if mention else "",
            length,
        )


def mention_at(text: str, place: int, names: NameIndex) -> NameMention | None:
    mentions = names.mentions(text, typos=False)
    return next((each for each in mentions if each.start <= place < each.end), None)


def other_names(guesses: list[SpellingGuess]) -> tuple[str, ...]:
    """Return the texts of the guesses after the first in which another name was recognized."""
    first, *rest = guesses
    texts = {guess.name: guess.text for guess in reversed(rest) if guess.name}
    texts.pop(first.name, None)
    return tuple(reversed(texts.values()))[: MOST_NAMES - 1]


def names_in_readings(spelling: Spelling, match: MatchNames) -> list[NamedRow]:
    """Return what the question names, then what its other readings name, as far as it is
    misspelled."""
    names = match(spelling.text)
    if not spelling:
        return names
    others = [row for text in spelling.others for row in match(text)]
    weaker = [replace(row, score=row.score * OTHER_READING) for row in others]
    return best_of_each(replace(row, kind="fuzzy") for row in (*names, *weaker))


# --- the words of a game system


@dataclass(frozen=True)
class SystemWords:
    """The words, and what they were read from: read again when that has changed."""

    names: NameIndex
    glossary: Glossary | None
    index: WordIndex


_words: dict[tuple[UUID, str], SystemWords] = {}


def words_of_system(
    system_id: UUID, language: str, names: NameIndex, glossary: Glossary | None
) -> WordIndex:
    """Return the words of the shared rules of a system, for questions in one language: English
    ones of names and texts, others of names and glossary. Kept until `names` or `glossary` is
    another object."""
    known = _words.get((system_id, language))
    if known is None or known.names is not names or known.glossary is not glossary:
        likely = set(words_of_names(names, language))
        others = set(words_of_rules(system_id)) if language == "en" else set[str]()
        if glossary:
            others |= words_of_glossary(glossary, language)
        known = SystemWords(names, glossary, WordIndex(likely, others - likely))
        _words[system_id, language] = known
    return known.index


def words_of_names(names: NameIndex, language: str) -> Iterator[str]:
    for entry in names.entries:
        for name in (entry.name, *entry.aliases):
            yield from (word.norm for word in name_words(name) if is_of(language, word.norm))


def words_of_glossary(glossary: Glossary, language: str) -> set[str]:
    names = (name for meanings in glossary.names.values() for _term, name in meanings)
    return {word.norm for name in names for word in name_words(name) if is_of(language, word.norm)}


def words_of_rules(system_id: UUID) -> Iterator[str]:
    counts: dict[str, int] = {}
    passages = RulePassage.objects.filter(system=system_id, world=None, visibility="public")
    for text in passages.values_list("text", flat=True).iterator():
        for word in {word.norm for word in name_words(text)}:
            counts[word] = counts.get(word, 0) + 1
    return (word for word, count in counts.items() if count >= OCCURRENCES and word.isalpha())


def is_of(language: str, word: str) -> bool:
    """Whether a word is of the script of `language`."""
    if language == "ko":
        return has_hangul(word)
    return is_cyrillic(word) == (language == "ru") and not has_hangul(word)
