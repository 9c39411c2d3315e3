"""The dictionary form of a name that stands in a text: whole words without their title, without the
particle of a Korean sentence, in the nominative of a Russian one."""

import re

from knowledge.extraction.new_names import name_lexicon
from knowledge.extraction.russian_names import nominative_words
from retrieval.text import fold_name, has_hangul

ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
PARTICLES = re.compile(
    r"(?:(?<=[가-힣]{2})|(?<= [가-힣]))"
    r"(?:에서는|에게서|이라고도|라고도|이라고|라고|이라는|라는|에서|에게|으로|까지|부터|이고|이며|이다"
    r"|인데|처럼|보다|의|은|는|이|가|을|를|와|과|로|에|도)$"
)
COPULA = re.compile(r"(?<=[가-힣]{2})(?:이다|다|이라|입니다)$")
ENDS = frozenset((".", "!", "?", ",", ""))
ROLE_ENDINGS = {"ko": re.compile(r"^[가-힣]+(?:인|이던|였던)$")}
"""A first word that goes with the name but is none: `제자인 토비`."""
QUOTES = " \"'“”„«»‘’‹›「」『』"
LETTER = re.compile(r"\w", re.UNICODE)


def word_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the characters of the whole words that [start, end) touches."""
    while start > 0 and LETTER.match(text[start - 1]) and LETTER.match(text[start]):
        start -= 1
    while end < len(text) and LETTER.match(text[end]) and LETTER.match(text[end - 1]):
        end += 1
    return start, end


def dictionary_form(name: str, language: str, *, after: str = "") -> str:
    """Return the form in which a dictionary has a name that stands before the character `after`."""
    name = re.sub(r"[’']s?$", "", ARTICLE.sub("", name.strip(QUOTES))).strip(QUOTES)
    words = without_title(name.split(), language)
    if language == "ru":
        return " ".join(nominative_words(words))
    joined = " ".join(words)
    if not has_hangul(joined):
        return joined
    # `…는 블랑슈다.` is `…는 블랑슈이다.`
    return COPULA.sub("", joined) if after in ENDS else PARTICLES.sub("", joined)


def without_title(words: list[str], language: str) -> list[str]:
    """Return the words of a name without those before it that say what it is: `the miller Anna` is
    Anna. In Russian and English a name has a capital, if any of its words has."""
    lexicon = name_lexicon(language)
    has_capital = any(word[:1].isupper() for word in words)
    while len(words) > 1 and (
        lexicon.kinds.get(fold_name(words[0]), ("",))[0] == "Character"
        or (language != "ko" and has_capital and words[0].islower())
        or (language in ROLE_ENDINGS and ROLE_ENDINGS[language].match(words[0]))
    ):
        words = words[1:]
    return words
