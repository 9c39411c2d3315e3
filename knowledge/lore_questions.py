"""What a question about the lore means: the entries that it names, also with a slip in a name.

All names and texts that it is compared with are those that the caller may know: a hidden entry
neither corrects a question nor keeps it from being corrected.
"""

from collections.abc import Sequence
from functools import lru_cache, partial

from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.glossary.ordinary_words import is_ordinary_word
from knowledge.name_matching import (
    LONGEST_QUESTION,
    NamedRow,
    best_of_each,
    match_names,
    name_index,
)
from knowledge.questions.misspellings import Spelling, correct_spelling, names_in_readings
from knowledge.questions.parts import QuestionReading
from knowledge.searched_rows import LoreRows, find_occurring
from retrieval.text import (
    KnownName,
    NameIndex,
    Word,
    WordIndex,
    guess_language,
    name_words,
    query_keys,
    similarity_across_scripts,
)
from worlds.stored_names import names_by_sound, text_outside_names

MENTIONED_LORE = 0.3
"""Score of an entry whose name occurs in a longer question; both legs together give at most 1."""
WHOLE_BY_SOUND = 0.7
"""Score of an entry whose name in another script sounds like the whole question."""
LONGEST_SPAN, MOST_SPANS = 3, 24
"""Words of a name that is compared by its sound, and how many runs of words of a question are."""


def read_lore_question(text: str, rows: LoreRows) -> QuestionReading:
    index, language = name_index(rows.entries, text), guess_language(text)
    spelling = correct_lore_names(text, index, rows, language)
    match = partial(match_names, index, weight=MENTIONED_LORE)
    names = names_in_readings(spelling, match)
    return QuestionReading(
        spelling.text, language, best_of_each((*names, *match_sounds(text, index, rows)))
    )


def match_sounds(text: str, index: NameIndex, rows: LoreRows) -> list[NamedRow]:
    """Return the entries whose names in another script sound like a name in the question that is
    none of those in `index`."""
    rest = text_outside_names(text[:LONGEST_QUESTION], index)
    spans = likely_names(rest)[:MOST_SPANS]
    known = names_by_sound(rows.entries, spans)
    whole = rest.strip(" .?!")
    return best_of_each(
        row
        for span in spans
        for row in rows_by_sound(
            span, known, weight=WHOLE_BY_SOUND if span == whole else MENTIONED_LORE
        )
    )


def rows_by_sound(span: str, known: Sequence[KnownName], *, weight: float) -> list[NamedRow]:
    """Return those of `known` that sound most like `span`; each counts less if there are more."""
    alike = [similarity_across_scripts(span, (each.name, *each.aliases)) for each in known]
    best = max(alike, default=0.0)
    found = [entry for entry, own in zip(known, alike, strict=True) if best and own == best]
    score = weight * best / max(len(found), 1)
    return [
        NamedRow(entry.key, "fuzzy", score, entry.name)  # type: ignore[arg-type]  # ids of rows
        for entry in found
    ]


def likely_names(text: str) -> list[str]:
    """Return the runs of words of `text` that may be names in it, the longest first: words with a
    capital, and those that no language has as ordinary ones."""
    words = name_words(text)
    likely = [is_likely_name(word, words[place + 1 :]) for place, word in enumerate(words)]
    spans = [
        text[words[begin].start : words[end - 1].end]
        for begin in range(len(words))
        for end in range(begin + 1, min(begin + LONGEST_SPAN, len(words)) + 1)
        if all(likely[begin:end])
    ]
    return sorted(dict.fromkeys(spans), key=len, reverse=True)


def is_likely_name(word: Word, after: Sequence[Word]) -> bool:
    """Whether a word of a question may be of a name. The capital of its first word says nothing,
    unless another follows: `Khan Tugarin`."""
    has_capital = word.raw[0].isupper()
    if has_capital and word.begins_sentence:
        has_capital = bool(after) and after[0].raw[0].isupper()
    is_common = word.norm in COMMON_WORDS
    return has_capital or not (is_common or is_ordinary_word(word.norm, guess_language(word.raw)))


def correct_lore_names(text: str, names: NameIndex, rows: LoreRows, language: str) -> Spelling:
    """Return the question with misspelled words of `names` corrected, unless a text has them."""
    known = words_like(text, names)

    def find_spelled(words: list[str]) -> set[str]:
        unlike = {word for word in words if not known.nearest(word, short=True)}
        others = [word for word in words if word not in unlike]
        return unlike | find_occurring(rows.passages, language, others) if others else unlike

    return correct_spelling(text, known, names, find_occurring=find_spelled, names_alone=True)


def words_like(text: str, names: NameIndex) -> WordIndex:
    """Return the words of names that a word of the question may be, as it is or with a slip. All
    words of the names would take longer to index than the search takes."""
    asked = {word.norm for word in name_words(text)} - COMMON_WORDS
    keys = frozenset().union(*map(keys_of_word, asked))
    words = {
        word
        for entry in names.entries
        for name in (entry.name, *entry.aliases)
        for word in words_of_name(name)
    }
    return WordIndex(word for word in words if not keys.isdisjoint(keys_of_word(word)))


@lru_cache(20_000)
def words_of_name(name: str) -> frozenset[str]:
    return frozenset(word.norm for word in name_words(name))


@lru_cache(20_000)
def keys_of_word(word: str) -> frozenset[str]:
    return frozenset(query_keys(word))
