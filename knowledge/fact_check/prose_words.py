"""What a sentence says in words that can be compared: stems, numbers with what they count, names,
negations. A clause is what stands between two commas."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile
from uuid import UUID

from knowledge.fact_check.concepts import concepts_of, exclusive_groups
from knowledge.fact_check.lexicon import load_yaml
from knowledge.questions.numbers import MULTIPLES, value_of
from retrieval.text import NameMention, fold_name, has_hangul, text_forms, word_stem

JOINING = frozenset(["and", "but", "и", "а", "но"])
KOREAN_JOINING = ("고", "며", "지만")
KOREAN_LINKS = (
    "고",
    "며",
    "지만",
    "면서",
    "면서도",
    "는데",
    "아서",
    "어서",
    "여서",
    "워서",
    "해서",
    "해",
)
AUXILIARIES = ("있", "싶", "않", "못", "본", "보", "없", "놓", "둔", "두")
TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*|[,;:()—–]")
YEAR, AGE = "#year", "#age"
ONCE_AT_ALL = (["번도"], ["명도"], ["개도"], ["마리도"])
"""`Not once`, `not one`: no number is said."""
YEARS_OLD = re.compile(r"(?:years? old|years? of age|year olds?|winters? old|лет|года?)(?= |$)")
AGE_WORDS = frozenset(load_yaml("prose")["age"]["words"])
"""Words that say nothing beside somebody's age."""
IS_AGED = frozenset(load_yaml("prose")["age"]["before"])
PREPOSITIONS = frozenset(load_yaml("prose")["prepositions"])
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
NATIVE_NUMBER_NAMES = "둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 스물 서른 마흔 쉰 예순 일흔 여든 아흔"
NATIVE_NUMBERS = frozenset(NATIVE_NUMBER_NAMES.split())
KOREAN_COPULA = re.compile(r"(?:이다|이고|이며|이지만|인데|이었다|이라|입니다|이나)$")
KOREAN_TENS = {"십": 10, "백": 100, "천": 1000}
KOREAN_NUMBER = re.compile("|".join(sorted([*KOREAN_NUMBERS, *KOREAN_TENS], key=len, reverse=True)))
KOREAN_COUNTERS = (
    "명 마리 단 개 년 살 달 척 권 잔 곡 시간 가지 사람 번 채 층 그루 닢 걸음 집 배 세 일 월 칸 방"
)
COUNTERS = frozenset(KOREAN_COUNTERS.split())
COUNTERS_BY_LENGTH = sorted(COUNTERS, key=len, reverse=True)
VAGUE_COUNTERS = frozenset(["개", "명", "마리", "가지"])
COUNTER_ENDINGS = frozenset(
    ["", *"의이가은는을를과와도씩다", "이다", "이며", "이고", "으로", "이었다", "입니다", "뿐이다"]
)


@dataclass(frozen=True)
class Number:
    value: int
    units: frozenset[str]
    """The stems of what is counted, with a word before it (`wooden steps`); `YEAR` for a year."""

    def counts_same(self, other: "Number") -> bool:
        return any(has_concept(unit, other.units) for unit in self.units)


@dataclass(frozen=True)
class Clause:
    words: frozenset[str]
    is_negative: bool
    limits: frozenset[str]


@dataclass(frozen=True)
class SentenceWords:
    """`names` in the order of the sentence; `parts`: the words of each clause and of what `and`
    joins in it; `first`: the first word that says something."""

    clauses: tuple[Clause, ...]
    numbers: tuple[Number, ...]
    names: tuple[UUID, ...]
    parts: tuple[frozenset[str], ...]
    first: str
    is_supposing: bool
    begins_with_person: bool
    denies_having: bool
    begins_with_pronoun: bool = False

    @property
    def words(self) -> frozenset[str]:
        return frozenset().union(*(clause.words for clause in self.clauses))


@dataclass(frozen=True)
class WordLists:
    light: frozenset[str]
    negations: tuple[str, ...]
    agreeing: frozenset[str]
    """Negations that stand beside another one and deny nothing more."""
    supposing: tuple[str, ...]
    limiting: tuple[str, ...]
    persons: frozenset[str]
    pronouns: frozenset[str]
    absence: tuple[str, ...]
    years: frozenset[str]
    empty: frozenset[str]
    """Words that say nothing beside two names: *man*, *who*, *once*."""


@cache
def word_lists(language: str) -> WordLists:
    rows = load_yaml("prose")[language]
    return WordLists(
        light=frozenset(map(fold_name, rows["light"])),
        negations=tuple(rows["negations"]),
        agreeing=frozenset(rows["agreeing"]),
        supposing=tuple(rows["supposing"]),
        limiting=tuple(rows["limiting"]),
        persons=frozenset(rows["persons"]),
        pronouns=frozenset(rows["pronouns"]),
        absence=tuple(rows["absence"]),
        years=frozenset(rows["years"]),
        empty=frozenset(map(fold_name, rows["empty"])),
    )


def words_of(
    sentence: str, mentions: Sequence[NameMention], ids: Sequence[UUID], language: str
) -> SentenceWords:
    """Return the words of a sentence in which `mentions` name the entities `ids`."""
    lists = word_lists(language)
    tokens = list(_tokens_outside(sentence, mentions))
    words = [fold_name(token) if token[0].isalnum() else token for token in tokens]
    numbers, rest = _take_numbers(words, lists)
    return SentenceWords(
        clauses=tuple(_clauses(rest, lists, is_korean=language == "ko")),
        numbers=tuple(numbers),
        names=tuple(dict.fromkeys(ids)),
        parts=tuple(_parts(rest, lists, language)),
        first=next(iter(_content(filter(str.isalnum, rest), lists, language)), ""),
        is_supposing=any(is_one_of(word, lists.supposing, language) for word in rest),
        begins_with_person=bool(rest) and rest[0] in lists.persons,
        begins_with_pronoun=bool(tokens) and fold_name(tokens[0]) in lists.pronouns,
        denies_having=any(is_one_of(word, lists.absence, language) for word in rest),
    )


def _tokens_outside(sentence: str, mentions: Sequence[NameMention]) -> Iterator[str]:
    for match in TOKEN.finditer(unicodedata.normalize("NFC", sentence)):
        if not any(m.start <= match.start() < m.end for m in mentions):
            yield match.group()


def _take_numbers(words: list[str], lists: WordLists) -> tuple[list[Number], list[str]]:
    """Return the numbers, and the words that are none."""
    numbers: list[Number] = []
    rest: list[str] = []
    at = 0
    while at < len(words):
        value, length = number_at(words, at)
        if value == 1 and (words[at - 1 : at] == ["ни"] or words[at + 1 : at + 2] in ONCE_AT_ALL):
            at += 1 + (words[at] == "한")
            continue
        if value is None:
            rest.append(words[at])
            at += 1
            continue
        before = words[at - 1] if at else ""
        noun = next((w for w in reversed(words[:at]) if w not in lists.light), "")
        at += length
        units = _units(before, noun, words[at : at + 4], lists)
        numbers.append(Number(value, units))
        if AGE in units:
            at += len((YEARS_OLD.match(" ".join(words[at:])) or [""])[0].split())
        if at < len(words) and counter_of(words[at]):
            at += 1
    if any(AGE in number.units for number in numbers):
        rest = [word for word in rest if word not in AGE_WORDS]
    return numbers, rest


def _units(before: str, noun: str, following: list[str], lists: WordLists) -> frozenset[str]:
    clause = list(takewhile(lambda word: word[0].isalnum(), following))
    after = [w for w in clause if w not in lists.light or w in lists.years]
    first = after[0] if after else ""
    if _is_age(before, noun, following):
        return frozenset([AGE])
    is_year = before in lists.years or first in lists.years or first.startswith("년")
    is_last = not after or following[0] in PREPOSITIONS
    if is_year or (before in ("in", "since", "by") and is_last):
        return frozenset([YEAR])
    if counter := counter_of(first):
        # What is counted stands before the number and its counter, or after them: `이백 개의 계단`.
        named = after[1:2] if first == f"{counter}의" else [noun] if has_hangul(noun) else []
        is_said = not named or counter not in VAGUE_COUNTERS
        return frozenset([*map(stem_of, named), *([counter] if is_said else [])])
    if noun and (not following or following[0] in PREPOSITIONS or not following[0][0].isalnum()):
        # `Strikes thirteen at midnight` counts by the word before it.
        return frozenset(map(stem_of, (noun, *after[:2])))
    return frozenset(map(stem_of, after[:2]))


def _is_age(before: str, noun: str, following: list[str]) -> bool:
    """Whether a number between these words is somebody's age."""
    first = following[0] if following else ""
    if has_hangul(first) or has_hangul(noun):
        return noun.startswith("나이") or counter_of(first) in ("살", "세")
    said = YEARS_OLD.match(" ".join(following))
    is_alone = not first or not first[0].isalnum() or first in {*JOINING, "now", "today", "already"}
    if said and "old" not in said[0] and "age" not in said[0]:
        rest = following[len(said[0].split()) :]
        is_last = not rest or not rest[0][0].isalnum() or rest[0] in JOINING
        return before in IS_AGED or (not before and is_last)
    return bool(said) or (before in IS_AGED and is_alone)


def counter_of(word: str) -> str:
    """Return the Korean counter that a word is, with a particle or copula; "" if it is none."""
    fitting = (each for each in COUNTERS_BY_LENGTH if word.startswith(each))
    counter = next(fitting, "")
    return counter if counter and word[len(counter) :] in COUNTER_ENDINGS else ""


def number_at(words: list[str], at: int) -> tuple[int | None, int]:
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
    stem = KOREAN_COPULA.sub("", word)
    if stem != word and stem in NATIVE_NUMBERS:
        return KOREAN_NUMBERS[stem], 1
    word = stem if len(stem) > 1 and stem != word else word
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


def _parts(words: list[str], lists: WordLists, language: str) -> Iterator[frozenset[str]]:
    part: list[str] = []
    for word in (*words, ","):
        if word[0].isalnum() and word not in JOINING:
            part.append(word)
        if not word[0].isalnum() or word in JOINING or word.endswith(KOREAN_JOINING):
            if content := _content(part, lists, language):
                yield frozenset(content)
            part = []


def _content(words: Iterable[str], lists: WordLists, language: str) -> list[str]:
    return [
        stem_of(word)
        for word in words
        if word not in lists.light and not is_one_of(word, lists.negations, language)
    ]


def _clauses(words: list[str], lists: WordLists, *, is_korean: bool) -> Iterator[Clause]:
    language = "ko" if is_korean else "other"
    clause: list[str] = []
    for word, after in pairwise((*words, ",", ",")):
        is_end = not word[0].isalnum()
        if not is_end:
            clause.append(word)
            # A Korean negation is of the last verb alone: `바다를 무서워해 배에는 오르지 않는다`.
            is_end = is_korean and word.endswith(KOREAN_LINKS) and not after.startswith(AUXILIARIES)
        if is_end and clause:
            negative = _is_negative(clause, lists, language)
            content = _content(clause, lists, language)
            limits = (each for each in clause if is_one_of(each, lists.limiting, language))
            yield Clause(frozenset(content), negative, frozenset(limits))
            clause = []


def _is_negative(clause: Sequence[str], lists: WordLists, language: str) -> bool:
    """Whether a clause denies. `Нет ни одного` denies once."""
    denying = [word for word in clause if is_one_of(word, lists.negations, language)]
    plain = [word for word in denying if word not in lists.agreeing]
    return len(plain or denying[:1]) % 2 == 1


def is_one_of(word: str, words: Sequence[str], language: str) -> bool:
    """Whether a word is one of `words`, or in Korean begins with one."""
    # Korean joins its endings to the word.
    return word.startswith(tuple(words)) if language == "ko" else word in words


@cache
def stem_of(word: str) -> str:
    """Return the stem by which two forms of a word are one; of Korean words, of nouns only."""
    if has_hangul(word):
        return min(text_forms(word), key=len)
    return word_stem(word)


def has_concept(stem: str, words: Iterable[str]) -> bool:
    """Whether one of `words` is the word `stem` or says the same."""
    words = frozenset(words)
    if has_word(stem, words):
        return True
    concepts = concepts_of(stem)
    return bool(concepts) and any(not concepts.isdisjoint(concepts_of(word)) for word in words)


def excludes(stem: str, words: Iterable[str]) -> bool:
    """Whether `words` have another word of an exclusive group of `stem`, and one only."""
    groups = exclusive_groups(stem)
    rivals = [word for word in words if not groups.isdisjoint(exclusive_groups(word))]
    shared = frozenset.intersection(*map(concepts_of, rivals)) if rivals else frozenset()
    return bool(shared) and concepts_of(stem).isdisjoint(shared)


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
