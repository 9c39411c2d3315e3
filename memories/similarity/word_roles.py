"""Who did what to whom, as far as word order, prepositions, endings and particles tell, without a
parser: the words that two statements share, with the part that each plays in both."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from memories.similarity.comparable_text import FUNCTION_WORDS, LEXICON, normalize_spelling
from memories.similarity.question_type import is_same_word, stem
from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, has_hangul, is_cyrillic

ENGLISH_PREPOSITIONS, RUSSIAN_PREPOSITIONS = (
    frozenset(LEXICON["prepositions"][language].split()) for language in ("en", "ru")
)
KOREAN_ROLES = {
    particle: role for role, group in LEXICON["roles"].items() for particle in group.split()
}
KOREAN_NOUN = re.compile(rf"^([가-힣]+?)({'|'.join(sorted(KOREAN_ROLES, key=len, reverse=True))})$")
BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "got", "gets", "get"])
PARTICIPLE = re.compile(r"\w+(?:ed|en|wn|lt|nt|ught|ost|old|eft|ung|ade|ept|eld|ead|ot|et|ut)\Z")
BETWEEN = frozenset(
    ["not", "also", "then", "always", "never", "once", "now", "already", "all", "recently"]
)
RUSSIAN_PASSIVE = re.compile(
    r"\b\w{3,}(?:ен|ена|ено|ены|ан|ана|ано|аны|ят|ята|ято|яты)\b"
    r"|\b\w+(?:ются|ется|ался|алась|ались)\b"
)
KOREAN_PASSIVE = re.compile(r"에 의해|되었|됐다|된다|되어|당했|당한|[가-힣]*(?:혔다|렸다|겼다)$")
SMALL_WORDS = frozenset(LEXICON["small_words"].split())
"""Function words that change what a statement with the same other words says."""
CONVERSES = [
    (re.compile(f"(?:{one})\\Z"), re.compile(f"(?:{other})\\Z"))
    for one, other in (pair.split(" / ") for pair in LEXICON["converses"])
]
"""Words for the same deed seen from its two sides."""


@dataclass(frozen=True)
class RoleWord:
    stem: str
    role: str
    form: str


@dataclass(frozen=True)
class RoledText:
    words: tuple[RoleWord, ...]
    forms: tuple[str, ...]
    is_passive: bool

    @cached_property
    def converse_sides(self) -> tuple[tuple[bool, bool], ...]:
        """For each pair of `CONVERSES`, whether the text has a word of either side."""
        return tuple(
            (any(map(one.match, self.forms)), any(map(other.match, self.forms)))
            for one, other in CONVERSES
        )

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.forms)


@text_cache(maxsize=16_384)
def roled_text(text: str) -> RoledText:
    forms = tuple(word.casefold() for word in WORD_OR_NUMBER.findall(normalize_spelling(text)))
    lower = " ".join(forms)
    if has_hangul(lower):
        return RoledText(_korean_roles(forms), forms, bool(KOREAN_PASSIVE.search(lower)))
    if is_cyrillic(lower):
        roles = _roles_by_prepositions(forms, RUSSIAN_PREPOSITIONS)
        return RoledText(roles, forms, bool(RUSSIAN_PASSIVE.search(lower)))
    is_passive = _is_english_passive(forms)
    return RoledText(_english_roles(forms, is_passive), forms, is_passive)


def _korean_roles(forms: tuple[str, ...]) -> tuple[RoleWord, ...]:
    """A word without a particle plays the part of the noun after it: *the northern wall*."""
    words: list[RoleWord] = []
    role = ""
    for form in reversed(forms):
        if noun := KOREAN_NOUN.match(form):
            role = KOREAN_ROLES[noun[2]]
        words.append(RoleWord(noun[1] if noun else stem(form), role, form))
    return tuple(reversed(words))


def _roles_by_prepositions(
    forms: tuple[str, ...], prepositions: frozenset[str]
) -> tuple[RoleWord, ...]:
    words, governing = [], ""
    for form in forms:
        if form in prepositions:
            governing = form
        elif form not in FUNCTION_WORDS:
            words.append(RoleWord(stem(form), governing, form))
            governing = ""
    return tuple(words)


def _english_roles(forms: tuple[str, ...], is_passive: bool) -> tuple[RoleWord, ...]:
    """The first word without a preposition is the subject, or in the passive the object."""
    words = _roles_by_prepositions(forms, ENGLISH_PREPOSITIONS)
    first, later = ("object" if is_passive else "subject"), "object"
    result, is_first = [], True
    for word in words:
        role = word.role
        if word.form.endswith("'s"):
            role = "possessor"
        elif role == "by" and is_passive:
            role = "subject"
        elif not role:
            role, is_first = (first if is_first else later), False
        result.append(RoleWord(word.stem, role, word.form))
    return tuple(result)


def _is_english_passive(forms: tuple[str, ...]) -> bool:
    for at, form in enumerate(forms):
        following = [word for word in forms[at + 1 : at + 4] if word not in BETWEEN]
        if form in BE and following and PARTICIPLE.match(following[0]):
            return True
    return False


def signs_of_roles(one: str, other: str) -> list[float]:
    """Return how far the shared words stand in the same order and play the same parts."""
    mine, yours = roled_text(one), roled_text(other)
    places = _shared_places(mine, yours)
    shared = [(mine.words[at], yours.words[place]) for at, place in places]
    by_role = [(left.role, right.role) for left, right in shared]
    changed = [pair for pair in by_role if pair[0] != pair[1]]
    endings = [
        left for left, right in shared if left.form != right.form and left.role == right.role
    ]
    is_swapped = any(first == (second[1], second[0]) for first, second in combinations(changed, 2))
    is_converse = _has_converse(mine, yours)
    inversions = sum(first[1] > second[1] for first, second in combinations(places, 2))
    neighbours = (_count_parted(places), _count_parted(sorted((place, at) for at, place in places)))
    small, others = (SMALL_WORDS & set(text.forms) for text in (mine, yours))
    left = (len(mine.words) - len(shared), len(yours.words) - len(shared))
    return [
        len(shared),
        len(changed),
        len(endings),
        is_swapped,
        is_converse,
        is_swapped != is_converse,
        mine.is_passive != yours.is_passive,
        is_swapped and not is_converse and mine.is_passive == yours.is_passive,
        inversions,
        inversions / max(len(shared) * (len(shared) - 1) / 2, 1),
        min(left),
        max(left),
        min(len(small - others), len(others - small)),
        max(len(small - others), len(others - small)),
        mine.counts == yours.counts,
        _is_rotation(mine, yours),
        min(neighbours),
        max(neighbours),
        sum(neighbours) / max(2 * len(places) - 2, 1),
    ]


def _shared_places(mine: RoledText, yours: RoledText) -> list[tuple[int, int]]:
    """Return the places of each word of `mine` that `yours` has, each of them once."""
    places: dict[int, int] = {}
    for at, word in enumerate(mine.words):
        for place, other in enumerate(yours.words):
            if place not in places and is_same_word(word.stem, other.stem):
                places[place] = at
                break
    return sorted((at, place) for place, at in places.items())


def _count_parted(places: list[tuple[int, int]]) -> int:
    """Return how many shared words that stand side by side in one text are apart in the other: the
    two cats and one dog, one cat and two dogs."""
    return sum(
        later[0] - at == 1 and abs(later[1] - place) > 1 for (at, place), later in pairwise(places)
    )


def _is_rotation(mine: RoledText, yours: RoledText) -> bool:
    """Whether one begins with what the other ends with: "At dusk the bell rings"."""
    own, other = ([word.stem for word in text.words] for text in (mine, yours))
    return len(own) == len(other) and any(own[at:] + own[:at] == other for at in range(len(own)))


def _has_converse(mine: RoledText, yours: RoledText) -> bool:
    return any(
        sum(own) == sum(other) == 1 and own != other
        for own, other in zip(mine.converse_sides, yours.converse_sides, strict=True)
    )
