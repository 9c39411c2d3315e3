"""What the labels of facts mean, of any relation: which bond they name, in any of the languages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from knowledge.fact_check.lexicon import ClaimKind, claim_kinds, language_of, lexicon
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge
from knowledge.graph.querysets import FactQuerySet
from retrieval.text import WORD_OR_NUMBER, fold_name, word_stem

SENTENCES = {
    "en": ("M0 is {0} M1", "M0 {0} M1", "M0 is {0} of M1"),
    "ru": ("M0 {0} M1_x", "M0 {0} M1"),
    "ko": ("M0_은 M1_의 {0}", "M0_은 M1_을 {0}", "M0_은 M1_에게 {0}"),
}
"""The sentences that a label is read in, as the patterns see them."""
ARTICLES = re.compile(r"\b(?:the|an?) ")
FORMER = re.compile(
    r"\b(?:former|formerly|erstwhile|ex|retired|бывш\w+|прежн\w+)\b ?|(?:^|(?<= ))전(?:직)? "
)
"""Words of a label by which what it says is over."""
AUXILIARIES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|been|its|his|her|their|это|был|была|было|были)\b"
)
DEBT = re.compile(r"(?<=\bowes )(?:\d+ )+\w+(?= to\b)|(?<=\bдолжен |\bдолжна )(?:\d+ )+\w+")
AMOUNT = re.compile(r"(\d+(?:[ ,.]\d{3})*) ?([십백천만])?")
KOREAN_MULTIPLES = {"십": 10, "백": 100, "천": 1000, "만": 10_000}
MONEY = {"en": "money", "ru": "деньги", "ko": "돈"}
JOINT = re.compile(r",? (?:and|и|그리고) (?:(?:is|are|was|were) )?|, |; ")


@dataclass(frozen=True)
class LabelMeaning:
    """`is_swapped`: the label says of the fact's target what the claim says of its `a`."""

    kind: ClaimKind
    is_swapped: bool


@dataclass(frozen=True)
class LabelledFact:
    """A fact that gives `first` the bond to `second`; `sexes` are those that its label tells."""

    edge: GraphEdge
    bond: str
    first: object
    second: object
    sexes: tuple[tuple[object, str], ...] = ()


@lru_cache(maxsize=4096)
def meanings_of(label: str) -> tuple[LabelMeaning, ...]:
    """Return the claims that a label makes of the two ends of its fact: `lives in, and is keeper
    of` makes two."""
    parts = [part for part in JOINT.split(label) if part.strip()]
    found: dict[tuple[str, bool], LabelMeaning] = {}
    for part in parts:
        _add_meanings(found, part)
    return tuple(found.values())


def _add_meanings(found: dict[tuple[str, bool], LabelMeaning], label: str) -> None:
    words, language = _plain_words(label), language_of(label)
    before = len(found)
    for sentence in SENTENCES[language]:
        text = sentence.format(words)
        for claim, pattern in lexicon(language).patterns_for(text):
            match = pattern.fullmatch(text)
            if match and match.groupdict().get("b"):
                meaning = LabelMeaning(claim_kinds()[claim], match["a"] == "M1")
                found.setdefault((claim, meaning.is_swapped), meaning)
        if len(found) > before:
            break


def amount_of(text: str) -> int | None:
    """Return the sum in a statement or label: 4000 of `4,000 crowns` and of `4천 크라운`."""
    match = AMOUNT.search(text)
    if match is None:
        return None
    return int(re.sub(r"\D", "", match[1])) * KOREAN_MULTIPLES.get(match[2] or "", 1)


def _plain_words(label: str) -> str:
    """Return the words that the patterns know: without articles, and with a debt's sum as money."""
    words = FORMER.sub("", ARTICLES.sub("", fold_name(label))).strip()
    return DEBT.sub(MONEY[language_of(label)], words)


def is_over(label: str) -> bool:
    """Whether a label says by itself that it is over: `former pupil of`."""
    return bool(label) and bool(FORMER.search(label.casefold()))


def says_label(label: str, words: str) -> bool:
    """Whether a label, or one part of it, has the same words: without articles and auxiliaries, in
    any inflection. Who is `owed by` and who `owes` differ by a preposition."""
    wanted = _stems(words)
    return any(_stems(part) == wanted for part in (label, *JOINT.split(label)) if wanted)


def _stems(words: str) -> list[str]:
    plain = AUXILIARIES.sub("", _plain_words(words))
    return [word_stem(word) for word in WORD_OR_NUMBER.findall(plain)]


def with_label(facts: FactQuerySet) -> FactQuerySet:
    """Return those that say more than their relation."""
    return facts.exclude(label="")


def labelled_facts(edges: Iterable[GraphEdge]) -> list[LabelledFact]:
    """Return the bonds that the labels of `edges` give to their ends."""
    facts = {}
    for edge in edges:
        subject, _words, target = in_words(edge)
        for meaning in meanings_of(edge.label) if edge.label else ():
            a, b = (target, subject) if meaning.is_swapped else (subject, target)
            if not meaning.kind.allows(a.kind, b.kind):
                continue
            # A leader is a member, and a member is no leader.
            for reading in (r for r in meaning.kind.readings if r.bond and not r.implies):
                first, second = (b.pk, a.pk) if reading.inverse else (a.pk, b.pk)
                sexes = ((a.pk, reading.sex),) if reading.sex else ()
                fact = LabelledFact(edge, reading.bond, first, second, sexes)
                facts[edge.pk, reading.bond, first] = fact
                break
    return list(facts.values())
