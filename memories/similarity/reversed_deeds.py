"""Whether a memory tells a deed the other way round than a question asks for it: *Lena lent Jonas
money* does not tell who lent Lena money. For the plainest sentences: one verb of `deeds.yaml`, with
the name that the question gives beside it, or with its particle."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from memories.similarity.comparable_text import normalize_spelling
from memories.similarity.question_type import is_same_word, stem
from memories.similarity.word_roles import KOREAN_NOUN, KOREAN_ROLES, roled_text
from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, has_hangul, is_cyrillic

FILE = Path(__file__).parent / "deeds.yaml"
ASKS_DOER = re.compile(r"(?:who|кто|누가)\Z")
ASKS_OTHERS = re.compile(r"(?:what|whom?|how|что|кому|кого|сколько|누구\w*|무엇\w*|뭘|얼마\w*)\Z")
PASSED_OVER = frozenset(
    [
        *("has", "have", "had", "did", "does", "do", "also", "already", "once", "never"),
        *("уже", "ещё", "еще", "ли"),
    ]
)
TOWARD = frozenset(["to"])
DOER, RECIPIENT = "doer", "recipient"
MOST_WORDS = 20
"""A longer text may tell more than this deed."""
KOREAN_DOER = frozenset(["subject"])
KOREAN_RECIPIENT = frozenset(["object", "recipient"])


@dataclass(frozen=True)
class DeedPart:
    """A name, as written, and its part in a deed."""

    name: str
    part: str


def tells_the_reverse(question: str, text: str) -> bool:
    """Whether `text` gives the one whom the question names the other part in the same deed."""
    return tells_deed(question, text) is False


def tells_deed(question: str, text: str) -> bool | None:
    """Return whether `text` gives the one whom the question names the same part in the same deed;
    None if it is unclear or there is no such deed."""
    asked_parts = parts_asked(question)
    words = words_of(text) if asked_parts else []
    if len(words) > MOST_WORDS:
        return None
    for deed, asked in asked_parts:
        found = part_in_text(words, asked.name, deed)
        if found is not None:
            # A Russian name in the same case has the same part, wherever it stands.
            is_same_case = is_cyrillic(text.casefold()) and found.name == asked.name
            return found.part == asked.part or is_same_case
    return None


@text_cache(maxsize=1_024)
def parts_asked(question: str) -> tuple[tuple[re.Pattern[str], DeedPart], ...]:
    """Return the deeds that the question asks for, each with the part of whom it names. Every
    memory found is compared with them."""
    words = words_of(question)
    asked = [(deed, part_asked(words, deed)) for deed in deeds() if any(map(deed.match, words))]
    return tuple((deed, part) for deed, part in asked if part)


@cache
def deeds() -> tuple[re.Pattern[str], ...]:
    patterns = yaml.safe_load(FILE.read_text(encoding="utf-8")).values()
    return tuple(
        re.compile(rf"(?:{'|'.join(line.split(' / '))})\Z", re.IGNORECASE) for line in patterns
    )


def words_of(text: str) -> list[str]:
    words = WORD_OR_NUMBER.findall(normalize_spelling(text))
    return [word for word in words if word.casefold() not in PASSED_OVER]


def part_asked(words: list[str], deed: re.Pattern[str]) -> DeedPart | None:
    """Return the one named in the question: not the one asked for."""
    if has_hangul("".join(words)):
        return next((part for word in words if (part := korean_part(word))), None)
    at = next(place for place, word in enumerate(words) if deed.match(word))
    if at == 1 and ASKS_DOER.match(words[0].casefold()):
        after = [place for place in range(2, len(words)) if is_name(words[place])]
        beside = [place for place in after if place == 2 or words[place - 1] in TOWARD]
        return DeedPart(words[beside[0]], RECIPIENT) if len(after) == 1 and beside else None
    others = [word for word in (*words[1:at], *words[at + 1 :]) if is_name(word)]
    if ASKS_OTHERS.match(words[0].casefold()) and len(others) == 1 and others[0] in words[at - 1 :]:
        return DeedPart(others[0], DOER)
    return None


def part_in_text(words: list[str], name: str, deed: re.Pattern[str]) -> DeedPart | None:
    """Return the part that the text gives to `name`, None if it has no such deed or is unclear."""
    verbs = [place for place, word in enumerate(words) if deed.match(word)]
    named = [place for place, word in enumerate(words) if is_same_name(word, name)]
    if len(verbs) != 1 or len(named) != 1 or roled_text(" ".join(words)).is_passive:
        return None
    (verb,), (place,) = verbs, named
    if has_hangul(name):
        return korean_part(words[place])
    if place == verb - 1:
        return DeedPart(words[place], DOER)
    if place == verb + 1 or (place > verb and words[place - 1] in TOWARD):
        return DeedPart(words[place], RECIPIENT)
    return None


def korean_part(word: str) -> DeedPart | None:
    """Return the part of a noun by its particle, None of a question word."""
    noun = KOREAN_NOUN.match(word)
    if not noun or ASKS_DOER.match(word) or ASKS_OTHERS.match(word) or len(noun[1]) < 2:
        return None
    role = KOREAN_ROLES[noun[2]]
    part = DOER if role in KOREAN_DOER else RECIPIENT if role in KOREAN_RECIPIENT else ""
    return DeedPart(noun[1], part) if part else None


def is_name(word: str) -> bool:
    return word[:1].isupper() and not word.endswith("'s")


def is_same_name(word: str, name: str) -> bool:
    if has_hangul(name):
        noun = KOREAN_NOUN.match(word)
        return bool(noun) and noun[1] == name  # type: ignore[index]
    if is_cyrillic(name.casefold()):
        return is_name(word) and is_same_word(stem(word), stem(name))
    return word == name
