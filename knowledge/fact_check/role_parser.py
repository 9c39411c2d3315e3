"""Read a sentence by its words, when no pattern matches it as a whole.

It claims a relation if it has a word of that relation and nothing else but names and words that say
nothing. Only for relations whose direction the kinds of the two names decide (a person leads a
guild, never the other way round), and for mutual ones: the order of the words does not matter then.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, cast

from knowledge.fact_check.lexicon import any_of, claim_kinds, load_yaml
from knowledge.graph.models import GraphNode, NodeKind

Aspect = Literal["states", "begins", "ends"]
PERSON, PLACE = NodeKind.CHARACTER.value, NodeKind.LOCATION.value
THING, GROUP, EVENT = NodeKind.ITEM.value, NodeKind.FACTION.value, NodeKind.EVENT.value
PARTIES = (PERSON, GROUP)
ENDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "leads": ((PERSON,), (GROUP, PLACE)),
    "member": ((PERSON,), (GROUP,)),
    "located": ((PERSON, THING, GROUP, EVENT), (PLACE,)),
    "owns": (PARTIES, (THING, PLACE)),
    "holds": (PARTIES, (THING, PLACE)),
    "founded": ((PERSON,), (GROUP, PLACE)),
    "made": ((PERSON,), (THING,)),
    "wrote": ((PERSON,), (THING,)),
    "guards": (PARTIES, (THING, PLACE)),
    "involves": ((EVENT,), PARTIES),
    "allied": (PARTIES, PARTIES),
    "enemy": (PARTIES, PARTIES),
    "knows": (PARTIES, PARTIES),
}
"""The kinds of the two ends of each claim that is read this way."""
MUTUAL = frozenset(("allied", "enemy", "knows"))
SLOT = re.compile(r"(?<!\S)M\d\S*")


@dataclass(frozen=True)
class RoleWords:
    claim: str
    states: re.Pattern[str]
    begins: re.Pattern[str] | None
    ends: re.Pattern[str] | None


@dataclass(frozen=True)
class RoleReading:
    """The claim is of nodes `a` and `b`; `aspect`: of its beginning or its end."""

    claim: str
    a: int
    b: int
    aspect: Aspect
    says_more: bool = False


def read_roles(text: str, nodes: Sequence[GraphNode], language: str) -> RoleReading | None:
    """Read a sentence with slots, without its date and negation; None if more than one relation,
    or none, explains all of its words."""
    slots = [int(slot[1]) for slot in SLOT.findall(text)]
    if len(slots) != 2 or slots[0] == slots[1]:
        return None
    words = SLOT.sub(" ", text)
    rows = load_yaml("roles")[language]
    others = [rows["intending"], rows.get("other_verbs", "")]
    if any(other and re.search(other, words) for other in others):
        return None
    readings: list[RoleReading] = []
    for role in _roles(language):
        for a, b in _directions(role.claim, slots, nodes):
            if aspect := _aspect(words, role, language):
                readings.append(RoleReading(role.claim, a, b, aspect))
    if readings:
        return readings[0] if len(readings) == 1 else _one_of(readings)
    return _without_details(text, nodes, language)


def _without_details(text: str, nodes: Sequence[GraphNode], language: str) -> RoleReading | None:
    """Read `lives in a hut in the middle of M1` as `lives in M1`."""
    details = load_yaml("roles")[language].get("details")
    shorter, count = re.subn(details, "", text) if details else (text, 0)
    reading = read_roles(shorter, nodes, language) if count else None
    is_place = reading is not None and reading.claim == "located"
    return replace(reading, says_more=True) if reading and is_place else None


def aspect_of(text: str, claim: str, language: str) -> Aspect:
    """Return of which part of the relation of a claim a sentence speaks."""
    role = next((each for each in _roles(language) if each.claim == claim), None)
    for aspect, pattern in (("ends", role.ends), ("begins", role.begins)) if role else ():
        if pattern and pattern.search(text):
            return cast(Aspect, aspect)
    return "states"


def says_holding(text: str, language: str) -> bool:
    """Whether a sentence says that somebody keeps or holds something, and not that he owns it."""
    patterns = {role.claim: role.states for role in _roles(language)}
    return bool(patterns["holds"].search(text)) and not patterns["owns"].search(text)


def is_headship(text: str, language: str) -> bool:
    rows = load_yaml("roles")[language]["headships"]
    return any(_words(words, language).fullmatch(text) for words in rows.values())


def read_succession(text: str, language: str) -> tuple[int, int] | None:
    """Return who led something first and who led it then."""
    slots = list(SLOT.finditer(text))
    if len(slots) not in (2, 3):
        return None
    rows = load_yaml("roles")[language]["succession"]
    rest = SLOT.sub(" ", text)
    before, after = (_words(rows[name], language) for name in ("before", "after"))
    is_before, is_after = bool(before.search(rest)), bool(after.search(rest))
    if is_before == is_after or any(slot.group().endswith("_s") for slot in slots[:1]):
        return None
    rest = (before if is_before else after).sub(" ", rest)
    role = next(each for each in _roles(language) if each.claim == "leads")
    for pattern in (role.states, role.begins, _glue(language)):
        rest = pattern.sub(" ", rest) if pattern else rest
    pair = _pair_of_succession(text, [slot.group() for slot in slots], rows)
    if rest.strip() or pair is None:
        return None
    return pair if is_before else (pair[1], pair[0])


def _pair_of_succession(
    text: str, slots: list[str], rows: dict[str, str]
) -> tuple[int, int] | None:
    """Return the one of whom it is said, and the one that follows the word `before` or has an
    ending."""
    other = re.search(rows["other"], text)
    if other is None:
        return None
    subject = next((slot for slot in slots if int(slot[1]) != int(other[1])), None)
    return (int(subject[1]), int(other[1])) if subject else None


def read_headship(text: str, language: str) -> tuple[Aspect, str] | None:
    """Return of which part it speaks, and what the name of the group begins with, if a sentence
    says of one name only that it is a guildmaster, a captain or the like."""
    rest = SLOT.sub(" ", text)
    role = next(each for each in _roles(language) if each.claim == "leads")
    for of, words in load_yaml("roles")[language]["headships"].items():
        left, count = _words(words, language).subn(" ", rest)
        if not count:
            continue
        begins = bool(role.begins and role.begins.search(left))
        left = role.begins.sub(" ", left) if role.begins else left
        if not _glue(language).sub(" ", left).strip():
            return ("begins" if begins else "states"), of
    return None


def _one_of(readings: list[RoleReading]) -> RoleReading | None:
    """Leading is a membership, too, and writing a book is making it."""
    for special, general in (("leads", "member"), ("made", "wrote"), ("leads", "located")):
        if {reading.claim for reading in readings} == {special, general}:
            return next(reading for reading in readings if reading.claim == special)
    return None


def _directions(claim: str, slots: list[int], nodes: Sequence[GraphNode]) -> list[tuple[int, int]]:
    sources, targets = ENDS[claim]
    pairs = [(slots[0], slots[1]), (slots[1], slots[0])]
    fitting = [
        (a, b)
        for a, b in pairs
        if nodes[a].kind in sources
        and nodes[b].kind in targets
        and claim_kinds()[claim].allows(nodes[a].kind, nodes[b].kind)
    ]
    return fitting[:1] if claim in MUTUAL or len(fitting) == 1 else []


def _aspect(words: str, role: RoleWords, language: str) -> Aspect | None:
    """Return which part of the relation the words speak of; None if they say something else, too,
    or do not speak of the relation."""
    found: dict[Aspect, int] = {}
    rest = words
    patterns: dict[Aspect, re.Pattern[str] | None]
    patterns = {"ends": role.ends, "begins": role.begins, "states": role.states}
    for aspect, pattern in patterns.items():
        if pattern:
            rest, found[aspect] = pattern.subn(" ", rest)
    begins, ends = bool(found.get("begins")), bool(found.get("ends"))
    if not any(found.values()) or (begins and ends):
        return None
    if begins and not found["states"] and _becoming(language).search(words):
        return None
    if _glue(language).sub(" ", rest).strip():
        return None
    return "ends" if ends else "begins" if begins else "states"


@cache
def _roles(language: str) -> tuple[RoleWords, ...]:
    rows = load_yaml("roles")[language]
    own = load_yaml(language)

    def words_for(claim: str) -> str:
        groups = ("nouns", "mutual_nouns", "verbs", "dative_verbs", "participles")
        known = (own.get(group, {}).get(claim) for group in groups)
        return "|".join([rows["states"][claim], *filter(None, known)])

    return tuple(
        RoleWords(
            claim,
            _words(words_for(claim), language),
            _words(begins, language) if (begins := rows["begins"].get(claim)) else None,
            _words(ends, language) if (ends := rows["ends"].get(claim)) else None,
        )
        for claim in rows["states"]
    )


def _words(alternatives: str, language: str) -> re.Pattern[str]:
    # Korean words have endings; the lists have their stems.
    end = r"\S*" if language == "ko" else r"(?!\S)"
    return re.compile(rf"(?<!\S)(?:{alternatives}){end}")


@cache
def _glue(language: str) -> re.Pattern[str]:
    rows = load_yaml("roles")[language]
    return any_of([*rows["glue"], *rows["place_details"]])


@cache
def _becoming(language: str) -> re.Pattern[str]:
    return _words(load_yaml("roles")[language]["becoming"], language)
