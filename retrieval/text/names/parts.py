"""The parts of a name that may stand for it: `Mira` and `Voss` for Mira Voss."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from retrieval.text.names.normalize import Word, fold_name, name_words
from retrieval.text.words import has_hangul

MAX_PART_WORDS = 6
PATRONYMIC_ENDINGS = ("ович", "евич", "ич", "овна", "евна", "ична", "инична")


QUOTED = re.compile(
    r"""(?= «([^«»]+)» | “([^“”]+)” | „([^„“”]+)[“”] | ‹([^‹›]+)› | 「([^「」]+)」 | 『([^『』]+)』
    | 《([^《》]+)》 | 〈([^〈〉]+)〉 | ‘([^‘’]+)’(?!\w) | (?<!\w)"([^"\s][^"]*)"(?!\w)
    | (?<!\w)'([^'\s][^']*)'(?!\w) )""",
    re.VERBOSE,
)
"""A quotation, also inside of another. A single quotation mark is an apostrophe, too."""


@lru_cache(20_000)
def quoted_names(name: str) -> tuple[str, ...]:
    """Return the parts of a name in quotation marks, which are names of their own: *Три карася* in
    *Трактир «Три карася»*. A single small word in quotation marks is none."""
    parts = (next(filter(None, match.groups())) for match in QUOTED.finditer(name))
    return tuple(part for part in parts if _is_name(part) and fold_name(part) != fold_name(name))


def _is_name(quoted: str) -> bool:
    words = name_words(quoted)
    return len(words) > 1 or any(map(is_distinctive, words))


KOREAN_DETERMINERS = frozenset(
    ["이", "그", "저", "내", "제", "새", "옛", "온", "전", "현", "안", "못", "더", "다", "또", "왜"]
)
"""Words before a noun, and adverbs, that are surnames or titles as well."""


def name_parts(name: tuple[Word, ...]) -> Iterator[tuple[int, int]]:
    """Yield the span of the whole name, then of the parts that may replace it (`Mira`, `Voss`)."""
    if name:
        yield 0, len(name)
    # The parts of a name grow with the square of its words, and nobody abbreviates a sentence.
    if len(name) <= MAX_PART_WORDS:
        for begin, end in product(range(len(name)), range(1, len(name) + 1)):
            is_part = 0 < end - begin < len(name)
            if is_part and is_distinctive(name[begin]) and is_distinctive(name[end - 1]):
                yield begin, end


def has_patronymic(name: tuple[Word, ...]) -> bool:
    """Whether the second of three words is one: without it, `Иван Кузнецов` is the same name."""
    return len(name) == 3 and name[1].norm.endswith(PATRONYMIC_ENDINGS)


def is_distinctive(word: Word) -> bool:
    """Whether a part of a name may begin or end with `word` (not with `of`, `de` or a number, nor
    with `이` of 이 행수, which is `this`, too)."""
    if has_hangul(word.norm):
        return word.norm not in KOREAN_DETERMINERS
    return word.capital and not word.raw.isdigit() and len(word.norm) > 2
