"""Questions with two parts: things that are compared, and two questions in one sentence."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.name_matching import NamedRow, best_of_each
from retrieval.text import guess_language, name_words, visible_text

Item = TypeVar("Item")

LONGEST = 400
"""Characters; a longer text is a paste, not a question."""

CLEAR = 0.45
"""Score from which on a name that is spelled or translated in another way is the one meant."""
THING = r"[^,:;?!.()«»\"]{2,50}?"
END = r"\s*[?!.]*$"
WITH = r"(?:이랑|랑|하고|와|과)"
COMPARISONS = {
    # Nothing but a comparison: the answer is what each of the two is.
    "en": (
        rf"differences? between (?P<x>{THING}),? and (?P<y>{THING}){END}",
        rf"how (?:is|are|does|do) (?P<x>{THING}) (?:differ|different) (?:from|to|than) "
        rf"(?P<y>{THING}){END}",
        rf"what (?:sets|makes) (?P<x>{THING}) (?:apart|different) from (?P<y>{THING}){END}",
        rf"^compare (?P<x>{THING}) (?:and|with|to) (?P<y>{THING}){END}",
        rf"^(?P<x>{THING}) (?:vs\.?|versus) (?P<y>{THING}){END}",
    ),
    "ru": (
        rf"(?:разниц|различ|отлич)\w+ (?:между|у) (?P<x>{THING}) и (?:у )?(?P<y>{THING}){END}",
        rf"чем (?P<x>{THING}) отлича\w+ от (?P<y>{THING}){END}",
        rf"чем отлича\w+ (?P<x>{THING}) (?:от|и) (?P<y>{THING}){END}",
        rf"^сравни\w* (?P<x>{THING}) (?:и|с) (?P<y>{THING}){END}",
        rf"^(?P<x>{THING}) (?:vs\.?|против) (?P<y>{THING}){END}",
    ),
    "ko": (
        rf"^(?P<x>{THING}){WITH} (?P<y>{THING})(?:의|은|는|이|가)? (?:차이|차이점|다른 점|비교)\S*"
        rf"(?: \S+){{0,2}}{END}",
        rf"^(?P<x>{THING}){WITH} (?P<y>{THING})(?:의|은|는|이|가)? "
        rf"(?:뭐가|무엇이|어떻게|어디가) (?:달라|다른|다르|틀려)\S*{END}",
        rf"^(?P<x>{THING})(?:은|는|이|가) (?P<y>{THING}){WITH} "
        rf"(?:뭐가|무엇이|어떻게|어디가) (?:달라|다른|다르|틀려)\S*{END}",
    ),
}
CHOICES = {
    # Two things, of which something more is asked.
    "en": (
        rf"^(?:which is \w+,? )?(?P<x>{THING}) or (?P<y>{THING})\s?[,:;—-]",
        rf"^(?:which|who|what) (?:one )?(?:is|has|does|deals|gives) [\w ]{{2,40}}[,:] "
        rf"(?P<x>{THING}) or (?P<y>{THING}){END}",
        rf"differences? between (?P<x>{THING}) and (?P<y>{THING}),",
        rf"what (?:sets|makes) (?P<x>{THING}) (?:apart|different) from (?P<y>{THING}),",
    ),
    "ru": (
        rf"(?:^|[—-] ?)(?:у )?(?P<x>{THING}) или (?:у )?(?P<y>{THING})\s?[,:;—-]",
        rf"^(?:что|кто|как\w+) [\w ]{{2,40}}[,:—-] ?(?P<x>{THING}) или (?P<y>{THING}){END}",
        rf"чем (?P<x>{THING}) отлича\w+ от (?P<y>{THING}),",
        rf"(?:разниц|отлич)\w+ между (?P<x>{THING}) и (?P<y>{THING}),",
    ),
    "ko": (
        rf"^(?P<x>{THING}){WITH} (?P<y>{THING}) (?:중|둘)(?:에서|에|엔)? ",
        rf"^(?P<x>{THING}){WITH} (?P<y>{THING})(?:의|은|는|이|가)? (?:차이|다른 점)\S*,? ",
    ),
}
ASKING = {
    "en": r"(?:what|who|whom|whose|where|when|why|how|which|can|could|do|does|did|is|are|will|would"
    r"|should|may|must)\b",
    "ru": r"(?:как\w*|что|чем|чего|чему|кто|кого|кому|кем|где|куда|откуда|когда|почему|зачем"
    r"|сколько|чей|чья|можно ли|могу ли|можем ли|нужно ли|есть ли)\b",
    "ko": r"(?:뭐|무엇|무슨|어떻게|어떤|어디|언제|누가|누구|얼마|왜|몇)",
}
"""What a question of its own begins with; in Korean, what it holds."""
JOINTS = {
    "en": rf"(?:[?!.]\s+(?:and\s+)?|[,;]?\s+and\s+(?:also\s+|then\s+)?|[,;]\s+)(?={ASKING['en']})",
    "ru": rf"(?:[?!.]\s+(?:[аи]\s+)?|[,;]?\s+[иа]\s+(?:ещ[её]\s+|также\s+)?)(?={ASKING['ru']})",
    "ko": r"(?<=[가-힣])고,?\s+(?:또\s+|그리고\s+)?|[?!.]\s+(?:그리고\s+)?",
}
PRONOUNS = """
it its this that they them their he him his she her there
он она оно они его ее их ему ей им него нее них нему ней ним нем это этого этом там туда оттуда
그것 그거 그건 그게 그것은 그걸 거기 거기서 거긴 그 그는 그녀
"""
PRONOUN_WORDS = frozenset(PRONOUNS.split())
ADJECTIVE = re.compile(r"\w+(?:ый|ий|ой|ая|яя|ое|ее|ым|им|ей|ого|его|ую|юю)")
KOREAN_NOUNS = re.compile(r"(?<=\s)(?:거|것|건)$|^(?:그럼|그러면)\s")


@dataclass(frozen=True)
class QuestionReading:
    """What a question, or a part of one, means: `names` are the rows that it names."""

    text: str
    language: str
    names: Sequence[NamedRow]

    @property
    def best_names(self) -> list[NamedRow]:
        """Those of the highest score, without what only resembles the question."""
        names = [row for row in self.names if row.kind != "fuzzy" or row.score >= CLEAR]
        best = max((row.score for row in names), default=0.0)
        return [row for row in names if row.score == best]

    def with_names(self, names: Iterable[NamedRow]) -> Self:
        return replace(self, names=best_of_each((*self.names, *names)))


Reading = TypeVar("Reading", bound=QuestionReading)


@dataclass(frozen=True)
class Comparison:
    """Two things that a question compares; `is_all` if it asks nothing else about them."""

    things: tuple[str, str]
    is_all: bool


def find_comparison(text: str) -> Comparison | None:
    """Return what `text` compares, if it is a question that names two things."""
    if len(text) > LONGEST:
        return None
    plain, language = text.strip(), guess_language(text)
    for patterns, is_all in ((COMPARISONS, True), (CHOICES, False)):
        for pattern in patterns[language]:
            match = re.search(pattern, plain, re.IGNORECASE)
            if match and all(map(has_content, things := things_in(match))):
                return Comparison(things, is_all)
    return None


def things_in(match: re.Match[str]) -> tuple[str, str]:
    first, second = (KOREAN_NOUNS.sub("", match[name].strip()).strip() for name in "xy")
    # "между коротким и продолжительным отдыхом": the noun stands once.
    if ADJECTIVE.fullmatch(first) and len(words := second.split()) == 2:
        first = f"{first} {words[1]}"
    return first, second


def split_clauses(text: str) -> tuple[str, str] | None:
    """Return the two questions that `text` joins, if each of them can be asked alone."""
    language = guess_language(text)
    if len(text) > LONGEST:
        return None
    joints = re.finditer(JOINTS[language], text, re.IGNORECASE)
    pairs = [(text[: each.start()].strip(), text[each.end() :].strip()) for each in joints]
    pairs = [pair for pair in pairs if all(asks(clause, language) for clause in pair)]
    if len(pairs) != 1 or is_dependent(pairs[0][1]):
        return None
    return pairs[0]


def asks(clause: str, language: str) -> bool:
    place = re.search if language == "ko" else re.match
    return place(ASKING[language], clause, re.IGNORECASE) is not None


def is_dependent(clause: str) -> bool:
    """Whether a clause speaks of what the one before it names."""
    return not PRONOUN_WORDS.isdisjoint(word.norm for word in name_words(clause))


def has_content(text: str) -> bool:
    """Whether `text` has a word that is not of every question."""
    return any(word.norm not in COMMON_WORDS for word in name_words(text))


def parts_of(text: str, read: Callable[[str], Reading]) -> list[Reading]:
    """Return what the parts of a question mean by `read`. A comparison of two names has these as
    parts, or names both if it asks more of them; two questions that name different things are
    parts; all else is one."""
    text = visible_text(text)
    if comparison := find_comparison(text):
        things = [read(thing) for thing in comparison.things]
        if all(thing.best_names for thing in things):
            names = [row for thing in things for row in thing.best_names]
            return things if comparison.is_all else [read(text).with_names(names)]
    if clauses := split_clauses(text):
        first, second = (read(clause) for clause in clauses)
        ids = [{row.id for row in clause.best_names} for clause in (first, second)]
        if all(ids) and ids[0].isdisjoint(ids[1]):
            return [first, second]
    return [read(text)]


def interleave(lists: Iterable[Iterable[Item]], *, key: Callable[[Item], object]) -> list[Item]:
    """Return the items of the lists by turns, each key once: the first of each, the second of
    each …"""
    rows: dict[object, Item] = {}
    columns = [list(each) for each in lists]
    for place in range(max(map(len, columns), default=0)):
        for column in columns:
            if place < len(column):
                rows.setdefault(key(column[place]), column[place])
    return list(rows.values())
