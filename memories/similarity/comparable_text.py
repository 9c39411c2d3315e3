"""The parts of a text that decide its meaning, by the words of `lexicon.yaml`: English, Russian,
Korean."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rapidfuzz import fuzz

from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, is_cyrillic, light_stem

LEXICON: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "lexicon.yaml").read_text(encoding="utf-8")
)
"""Words that decide whether two sentences say the same, in English, Russian and Korean."""
NUMBER_WORDS = {
    word: number for number, words in LEXICON["numbers"].items() for word in words.split()
}
NEGATIONS, TIME_WORDS, FUNCTION_WORDS, PASSIVE, INTENTIONS, COMPARISONS, CONNECTIVES = (
    frozenset(LEXICON[name].split())
    for name in (
        *("negations", "times", "function_words", "passive"),
        *("intentions", "comparisons", "connectives"),
    )
)
SYNONYM_KEY = {word: min(group.split()) for group in LEXICON["synonyms"] for word in group.split()}
OPPOSITE_OF: dict[str, set[str]] = {}
for _one, _other in (pair.split("/") for pair in LEXICON["opposites"].split()):
    OPPOSITE_OF.setdefault(_one, set()).add(_other)
    OPPOSITE_OF.setdefault(_other, set()).add(_one)

# Cached here and not in `retrieval`: what holds pieces of memories is emptied by an erasure.
stem = text_cache(maxsize=50_000)(light_stem)
SHORT_NAMES = {
    stem(word): min(group.split()) for group in LEXICON["short_names"] for word in group.split()
}
"""The first of the forms of a name, by the stem of each: *bill* is *bill*, so is *william*."""
RELATION_OF = {
    word: min(group.split())
    for group in [*LEXICON["places"], *LEXICON["relations"]]
    for word in group.split()
}
"""The first of the words for the same relation, such as *in* and *inside*."""
PARTICLES = {each: role for role, group in LEXICON["particles"].items() for each in group.split()}
KOREAN_NOUN = re.compile(
    rf"^([가-힣]{{2,}}?)({'|'.join(sorted(PARTICLES, key=len, reverse=True))})$"
)
KOREAN_OWNER = re.compile(r"^([가-힣]{2,}?)(?:에게는|한테는|께는|에겐|한텐)$")
"""A noun of which something is said to be there: it has it (지우에게는 차가 있다)."""
# Before 있다 and 없다: what goes on, what somebody can do, has ever done. Nothing is owned there.
KOREAN_AUXILIARY = re.compile(r"^(?:수|수가|적|적이|줄)$|[고아어여해워와져]$")
CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
)
CLEFT = re.compile(r"\b(?:is|are|was) the ones? (?:who|that|which)\b", re.IGNORECASE)
USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
KOREAN_BOUND = re.compile(r"(?<=.)(?:부터|까지)$")
KOREAN_NEGATION = re.compile(r"^못|않|없|아니")
FIRST_WORDS = re.compile(r"(?:^|[.!?]\s+)[\"'“(]*([^\W\d_]+)")
NO_NAMES = FUNCTION_WORDS | TIME_WORDS | NUMBER_WORDS.keys()
SPELLING_WEIGHT = 0.8
"""Weight of a word that the other text has in a similar spelling."""


@dataclass(frozen=True)
class ComparableText:
    """The parts of a text that decide its meaning."""

    numbers: frozenset[str]
    names: tuple[str, ...]
    is_negated: bool
    times: frozenset[str]
    words: frozenset[str]
    raw: frozenset[str]
    stems: frozenset[str]
    sequence: tuple[tuple[str, str], ...]
    """Each word in order: its stem, and as it is written."""
    roles: frozenset[tuple[str, str]]
    """Korean nouns with what their particle makes of them: subject, object, recipient."""
    possessors: frozenset[str]
    """Stems of what has an 's."""
    is_passive: bool
    has_negation: bool
    """Whether it has any, also two that cancel out."""


@text_cache(maxsize=16_384)
def parse_text(text: str) -> ComparableText:
    tokens = WORD_OR_NUMBER.findall(normalize_spelling(text))
    lower = [token.casefold() for token in tokens]
    numbers = [word for word in lower if word[0].isdigit() or word in NUMBER_WORDS]
    negations = [
        word
        for word in lower
        if word in NEGATIONS or word.endswith("n't") or KOREAN_NEGATION.search(word)
    ]
    content = [word for word in lower if word not in FUNCTION_WORDS and word not in NEGATIONS]
    bounds = [bound[0] for word in lower if (bound := KOREAN_BOUND.search(word))]
    return ComparableText(
        numbers=frozenset(
            NUMBER_WORDS.get(word) or word.replace(",", "").rstrip(".:/") for word in numbers
        ),
        names=_names_in(text, tokens),
        # Two negations cancel out, but not in Russian: "никто не видел".
        is_negated=bool(negations) if is_cyrillic(text.lower()) else len(negations) % 2 == 1,
        times=frozenset(word for word in lower if word in TIME_WORDS),
        words=frozenset(stem(SYNONYM_KEY.get(word, word)) for word in content),
        raw=frozenset([*lower, *bounds]),
        stems=frozenset(stem(word.removesuffix("'s")) for word in lower),
        sequence=tuple((stem(word.removesuffix("'s")), word) for word in lower),
        roles=frozenset(
            (noun[1], PARTICLES[noun[2]]) for word in lower if (noun := KOREAN_NOUN.match(word))
        ),
        possessors=frozenset(
            stem(word.removesuffix("'s")) for word in lower if word.endswith("'s")
        ),
        is_passive=bool(PASSIVE & set(lower)),
        has_negation=bool(negations),
    )


def normalize_spelling(text: str) -> str:
    """Replace variants: curly apostrophes, ё, "used to", "X is the one who"."""
    text = text.replace("’", "'").replace("ё", "е").replace("Ё", "Е")
    return USED_TO.sub("formerly", CLEFT.sub("", text))


def _names_in(text: str, tokens: list[str]) -> tuple[str, ...]:
    """Stems of capitalized words in order; the first word of a sentence counts only if it occurs
    again."""
    upper = [
        token
        for token in tokens
        # Neither I'm nor There's is a name.
        if token[0].isupper() and token.casefold().partition("'")[0] not in NO_NAMES
    ]
    if not upper:
        return ()
    starts = set(FIRST_WORDS.findall(text))
    names = [token for token in upper if token not in starts or tokens.count(token) > 1]
    return tuple(dict.fromkeys(stem(token.casefold().removesuffix("'s")) for token in names))


@text_cache(maxsize=16_384)
def fingerprint(text: str) -> str:
    """The text without case, punctuation, spacing and English contractions: equal for exact
    duplicates."""
    text = normalize_spelling(text).casefold()
    if "'" in text or "cannot" in text:
        for contraction, words in CONTRACTIONS:
            text = contraction.sub(words, text)
    return " ".join(WORD_OR_NUMBER.findall(text))


def subject_noun(word: str, text: ComparableText) -> str:
    """Return the Korean noun of `word` if its particle makes it the subject or topic of `text`, or
    the one who has what is there; else an empty string."""
    owner = KOREAN_OWNER.match(word)
    if owner:
        return owner[1] if _says_what_is_there(text) else ""
    noun = KOREAN_NOUN.match(word)
    return noun[1] if noun and PARTICLES[noun[2]] == "subject" else ""


def _says_what_is_there(text: ComparableText) -> bool:
    *_, before, last = ["", "", *(word for _, word in text.sequence)]
    return last.startswith(("있", "없")) and not KOREAN_AUXILIARY.search(before)


def is_inflection(name: str, word: str) -> bool:
    """Whether two words are one name with different case endings or particles."""
    # English names have none.
    if name.isascii():
        return False
    shorter, longer = sorted((name, word), key=len)
    return (
        len(shorter) >= 2
        and len(longer) - len(shorter) <= 3
        and longer[: len(shorter) - 1] == shorter[:-1]
    )


def spelling_match(word: str, words: frozenset[str]) -> float:
    if word in words:
        return 1.0
    if len(word) < 4:
        return 0.0
    near = (other for other in words if abs(len(other) - len(word)) <= 3)
    is_similar = any(fuzz.ratio(word, other, score_cutoff=80) for other in near)
    return SPELLING_WEIGHT if is_similar else 0.0
