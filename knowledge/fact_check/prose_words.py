"""What a sentence says in words that can be compared: stems, numbers with what they count, names,
negations. A clause is what stands between two commas."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from knowledge.fact_check.lexicon import load_yaml
from knowledge.questions.numbers import MULTIPLES, value_of
from retrieval.text import NameMention, fold_name, has_hangul, text_forms, word_stem

TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*|[,;:()—–]")
YEAR = "#year"
KOREAN_NUMBERS = {
    **dict(zip("일이삼사오육칠팔구", range(1, 10), strict=True)),
    "한": 1,
    "하나": 1,
    "두": 2,
    "둘": 2,
    "세": 3,
    "셋": 3,
    "네": 4,
    "넷": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
    "스물": 20,
    "스무": 20,
    "서른": 30,
    "마흔": 40,
    "쉰": 50,
    "예순": 60,
    "일흔": 70,
    "여든": 80,
    "아흔": 90,
}
KOREAN_TENS = {"십": 10, "백": 100, "천": 1000}
KOREAN_NUMBER = re.compile("|".join(sorted([*KOREAN_NUMBERS, *KOREAN_TENS], key=len, reverse=True)))
KOREAN_COUNTERS = (
    "명 마리 단 개 년 살 달 척 권 잔 곡 시간 가지 사람 번 채 층 그루 닢 걸음 집 배 세 일 월 칸 방"
)
COUNTERS = frozenset(KOREAN_COUNTERS.split())


@dataclass(frozen=True)
class Number:
    value: int
    unit: str
    """The stem of what is counted; `YEAR` for a year."""


@dataclass(frozen=True)
class Clause:
    words: frozenset[str]
    is_negative: bool
    is_limited: bool


@dataclass(frozen=True)
class SentenceWords:
    """`names` in the order of the sentence."""

    clauses: tuple[Clause, ...]
    numbers: tuple[Number, ...]
    names: tuple[UUID, ...]
    is_supposing: bool
    begins_with_person: bool

    @property
    def words(self) -> frozenset[str]:
        return frozenset().union(*(clause.words for clause in self.clauses))


@dataclass(frozen=True)
class WordLists:
    light: frozenset[str]
    negations: tuple[str, ...]
    supposing: tuple[str, ...]
    limiting: tuple[str, ...]
    persons: frozenset[str]
    years: frozenset[str]


@cache
def word_lists(language: str) -> WordLists:
    rows = load_yaml("prose")[language]
    return WordLists(
        light=frozenset(map(fold_name, rows["light"])),
        negations=tuple(rows["negations"]),
        supposing=tuple(rows["supposing"]),
        limiting=tuple(rows["limiting"]),
        persons=frozenset(rows["persons"]),
        years=frozenset(rows["years"]),
    )


def words_of(
    sentence: str, mentions: Sequence[NameMention], ids: Sequence[UUID], language: str
) -> SentenceWords:
    """Return the words of a sentence in which `mentions` name the entities `ids`."""
    lists = word_lists(language)
    tokens = [token for token, _at in _tokens_outside(sentence, mentions)]
    words = [fold_name(token) if token[0].isalnum() else token for token in tokens]
    numbers, rest = _take_numbers(words, lists)
    return SentenceWords(
        clauses=tuple(_clauses(rest, lists, is_korean=language == "ko")),
        numbers=tuple(numbers),
        names=tuple(dict.fromkeys(ids)),
        is_supposing=any(_is_one_of(word, lists.supposing, language) for word in rest),
        begins_with_person=bool(rest) and rest[0] in lists.persons,
    )


def _tokens_outside(sentence: str, mentions: Sequence[NameMention]) -> Iterator[tuple[str, int]]:
    for match in TOKEN.finditer(unicodedata.normalize("NFC", sentence)):
        if not any(m.start <= match.start() < m.end for m in mentions):
            yield match.group(), match.start()


def _take_numbers(words: list[str], lists: WordLists) -> tuple[list[Number], list[str]]:
    """Return the numbers, and the words that are none."""
    numbers: list[Number] = []
    rest: list[str] = []
    at = 0
    while at < len(words):
        value, length = _number_at(words, at)
        if value is None:
            rest.append(words[at])
            at += 1
            continue
        before = words[at - 1] if at else ""
        at += length
        after = next(
            (w for w in words[at : at + 2] if w not in lists.light or w in lists.years), ""
        )
        numbers.append(Number(value, _unit(before, after, lists)))
    return numbers, rest


def _unit(before: str, after: str, lists: WordLists) -> str:
    is_year = before in lists.years or after in lists.years or after.startswith("년")
    if is_year or (before in ("in", "since", "by") and not after):
        return YEAR
    return stem_of(after) if after and after[0].isalnum() else ""


def _number_at(words: list[str], at: int) -> tuple[int | None, int]:
    """Return the number that begins at word `at` and how many words it has."""
    if words[at].isdigit():
        return int(words[at]), 1
    if has_hangul(words[at]):
        return _korean_number(words[at], words[at + 1] if at + 1 < len(words) else "")
    total = part = 0
    length = 0
    for word in words[at:]:
        value, multiple = value_of(word), MULTIPLES.get(word)
        if multiple:
            part = (part or 1) * multiple
            if multiple >= 1000:
                total, part = total + part, 0
        elif value is not None and not (length and part % 10 and value >= 1 and value < 100):
            part += value
        elif not (word == "and" and length and words[at + length - 1] in MULTIPLES):
            break
        length += 1
    return (total + part, length) if length else (None, 0)


def _korean_number(word: str, after: str) -> tuple[int | None, int]:
    """Read a whole word of number syllables; one alone is a number before a counter only."""
    parts = KOREAN_NUMBER.findall(word)
    if "".join(parts) != word:
        return None, 0
    if len(word) < 3 and not any(after.startswith(counter) for counter in COUNTERS):
        return None, 0
    total = part = 0
    for name in parts:
        if name in KOREAN_TENS:
            total, part = total + (part or 1) * KOREAN_TENS[name], 0
        else:
            part += KOREAN_NUMBERS[name]
    return total + part, 1


def _clauses(words: list[str], lists: WordLists, *, is_korean: bool) -> Iterator[Clause]:
    language = "ko" if is_korean else "other"
    clause: list[str] = []
    for word in (*words, ","):
        if word[0].isalnum():
            clause.append(word)
        elif clause:
            negative = sum(_is_one_of(each, lists.negations, language) for each in clause) % 2 == 1
            content = (
                each
                for each in clause
                if each not in lists.light and not _is_one_of(each, lists.negations, language)
            )
            limited = any(_is_one_of(each, lists.limiting, language) for each in clause)
            yield Clause(frozenset(map(stem_of, content)), negative, limited)
            clause = []


def _is_one_of(word: str, words: Sequence[str], language: str) -> bool:
    # Korean joins its endings to the word.
    return word.startswith(tuple(words)) if language == "ko" else word in words


@cache
def stem_of(word: str) -> str:
    """Return the stem by which two forms of a word are one; of Korean words, of nouns only."""
    if has_hangul(word):
        return min(text_forms(word), key=len)
    return word_stem(word)


def has_word(stem: str, words: frozenset[str]) -> bool:
    """Whether one of `words` is the word `stem`, for Korean verbs in any ending."""
    if stem in words:
        return True
    return has_hangul(stem) and any(_is_same_verb(stem, word) for word in words if has_hangul(word))


def _is_same_verb(one: str, other: str) -> bool:
    """Whether two Korean words begin with the same letters as far as a verb's stem goes."""
    first, second = (unicodedata.normalize("NFD", word) for word in (one, other))
    shortest = min(len(first), len(second))
    letters = enumerate(zip(first, second, strict=False))
    shared = next((n for n, (a, b) in letters if a != b), shortest)
    if shared >= 4 and shared >= shortest - 3:
        return True
    return shared == 3 and one[0] == other[0] and max(len(one), len(other)) <= 3
