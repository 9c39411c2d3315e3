"""What a question about the lore means: the entries that it names, also with a slip in a name.

All names and texts that it is compared with are those that the caller may know: a hidden entry
neither corrects a question nor keeps it from being corrected.
"""

from functools import lru_cache, partial

from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.name_matching import match_names, name_index
from knowledge.questions.misspellings import Spelling, correct_spelling, names_in_readings
from knowledge.questions.parts import QuestionReading
from knowledge.searched_rows import LoreRows, find_occurring
from retrieval.text import NameIndex, WordIndex, guess_language, name_words, query_keys

MENTIONED_LORE = 0.3
"""Score of an entry whose name occurs in a longer question; both legs together give at most 1."""


def read_lore_question(text: str, rows: LoreRows) -> QuestionReading:
    index, language = name_index(rows.entries, text), guess_language(text)
    spelling = correct_lore_names(text, index, rows, language)
    match = partial(match_names, index, weight=MENTIONED_LORE)
    return QuestionReading(spelling.text, language, names_in_readings(spelling, match))


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
