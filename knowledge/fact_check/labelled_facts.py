"""What RELATES_TO facts mean: which bond their labels name, in any of the languages."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from knowledge.fact_check.lexicon import ClaimKind, claim_kinds, language_of, lexicon
from knowledge.graph.models import GraphEdge
from retrieval.text import fold_name

RELATES_TO = "RELATES_TO"
SENTENCES = {
    "en": ("M0 is {0} M1", "M0 {0} M1", "M0 is {0} of M1"),
    "ru": ("M0 {0} M1_x", "M0 {0} M1"),
    "ko": ("M0_은 M1_의 {0}", "M0_은 M1_을 {0}", "M0_은 M1_에게 {0}"),
}
"""The sentences that a label is read in, as the patterns see them."""


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
    """Return the claims that a label makes of the two ends of its fact."""
    words, language = fold_name(label), language_of(label)
    found: dict[tuple[str, bool], LabelMeaning] = {}
    for sentence in SENTENCES[language]:
        text = sentence.format(words)
        for claim, pattern in lexicon(language).patterns_for(text):
            match = pattern.fullmatch(text)
            if match and match.groupdict().get("b"):
                meaning = LabelMeaning(claim_kinds()[claim], match["a"] == "M1")
                found.setdefault((claim, meaning.is_swapped), meaning)
        if found:
            break
    return tuple(found.values())


def labelled_facts(edges: Iterable[GraphEdge]) -> list[LabelledFact]:
    """Return the bonds that the labels of `edges` give to their ends."""
    facts = {}
    for edge in edges:
        for meaning in meanings_of(edge.label) if edge.label else ():
            a, b = (edge.dst, edge.src) if meaning.is_swapped else (edge.src, edge.dst)
            if not meaning.kind.allows(a.kind, b.kind):
                continue
            for reading in (each for each in meaning.kind.readings if each.bond):
                first, second = (b.pk, a.pk) if reading.inverse else (a.pk, b.pk)
                sexes = ((a.pk, reading.sex),) if reading.sex else ()
                fact = LabelledFact(edge, reading.bond, first, second, sexes)
                facts[edge.pk, reading.bond, first] = fact
                break
    return list(facts.values())
