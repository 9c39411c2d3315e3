"""Whom a sentence means by what it says of a name: `the man who built the clock`, `the woman in
charge of the mint`, `시계를 만든 사람`.

The words beside the name are read as a claim about somebody unknown; the facts about the name say
who that is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from knowledge.fact_check.claims import Claim, match_patterns
from knowledge.fact_check.deeds import means
from knowledge.fact_check.labelled_facts import labelled_facts
from knowledge.fact_check.lexicon import Reading, bonds, lexicon
from knowledge.fact_check.sexes import may_be_of_sex
from knowledge.fact_check.statement_parts import Tense
from knowledge.fact_check.verdicts import has_ended, is_valid_on
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind

PERSON = {
    "en": r"(?:man|woman|person|one|fellow|guy|chap|lad|lass|girl|boy|lady|gentleman)",
    "ru": r"(?:тот|та|того|той|тому|тем|человек\w*|женщин\w+|мужчин\w+|парен\w+|девушк\w+)",
    "ko": r"(?:사람|이|자|남자|여자|여인|사내|분|인물|장본인|청년|소녀|소년|아가씨)",
}
CLAUSES = {
    "en": re.compile(
        rf"(?<!\S){PERSON['en']} (?P<who>who |that )?"
        r"(?P<words>(?:[a-z]+ ){1,6}?)(?P<owner>M\d\S*)"
        rf"|(?<!\S){PERSON['en']} (?:who |that |whom )?(?P<agent>M\d) (?P<verb>[a-z]+)"
        r"(?= (?:is|was|has|had|[a-z]+s|[a-z]+ed)(?!\S))"
    ),
    "ru": re.compile(
        rf"(?<!\S){PERSON['ru']} (?:кто|котор(?:ый|ая)) (?P<words>(?:[а-я]+ ){{1,4}}?)"
        r"(?P<owner>M\d\S*)"
    ),
    "ko": re.compile(
        r"(?P<owner>M\d\S*) (?P<words>(?:[가-힣]+ ){1,3}?)"
        rf"{PERSON['ko']}(?P<ending>은|는|이|가|의|을|를|과|와|에게|한테|도)(?!\S)"
    ),
}
SENTENCES = {"en": "M0 {words} M1", "ru": "M0 {words} M1", "ko": "M1 {words} 사람은 M0"}
FactsOf = Callable[[UUID], Sequence[GraphEdge]]


@dataclass(frozen=True)
class RelatedName:
    """Where a description is in a slotted text, its inflection, and whom it may mean."""

    start: int
    end: int
    ending: str
    keys: frozenset[UUID]


def related_names(
    text: str, nodes: Sequence[GraphNode], language: str, facts_of: FactsOf, *, day: float | None
) -> Iterator[RelatedName]:
    """Yield the descriptions of a slotted text by a clause about one of its names. `facts_of`
    returns the facts of any day about an entity; `day` is the present."""
    for match in CLAUSES[language].finditer(text):
        groups = match.groupdict()
        slot = match["owner"] or groups["agent"]
        words = (match["words"] or groups["verb"]).strip()
        owner = nodes[int(slot[1])]
        if groups.get("agent"):
            clause = f"M1 {words} M0"
        else:
            said = words if language != "en" or match["who"] else f"is {words}"
            clause = SENTENCES[language].format(words=said).replace("M1", f"M1{slot[2:]}")
        unknown = GraphNode(name="?", kind=NodeKind.CHARACTER)
        claim = match_patterns(clause, [unknown, owner], lexicon(language))
        facts = facts_of(owner.pk)
        if claim is None:
            keys = _of_label(words, owner, facts)
        elif claim.is_negated or claim.b is None or claim.date:
            keys = set()
        else:
            keys = {end.pk for end in others_in_claim(claim, unknown, facts, day)}
        keys.discard(owner.pk)
        yield RelatedName(match.start(), match.end(), groups.get("ending") or "", frozenset(keys))


def _of_label(words: str, owner: GraphNode, facts: Sequence[GraphEdge]) -> set[UUID]:
    """Return of whom the labels of facts say it in words that no lexicon has."""
    return {
        subject.pk
        for subject, label, target in map(in_words, facts)
        if label and target.pk == owner.pk and means(label, words)
        if subject.kind == NodeKind.CHARACTER
    }


def others_in_claim(
    claim: Claim, unknown: GraphNode, facts: Sequence[GraphEdge], day: float | None
) -> Iterator[GraphNode]:
    """Yield who can stand for `unknown` in a claim: those of whom the facts say it."""
    for kind in claim.kinds:
        for reading in kind.readings:
            lasting = bool(reading.bond) and bonds()[reading.bond].permanent
            fitting = [fact for fact in facts if lasting or _is_of_time(fact, claim.tense, day)]
            yield from _others(reading, fitting, claim, unknown)


def _is_of_time(fact: GraphEdge, tense: Tense, day: float | None) -> bool:
    if tense == Tense.PRESENT:
        return is_valid_on(fact, day)
    return tense in (Tense.PAST, Tense.FORMERLY, Tense.NO_LONGER) and has_ended(fact, day)


def _others(
    reading: Reading,
    facts: Sequence[GraphEdge],
    claim: Claim,
    unknown: GraphNode,
) -> Iterator[GraphNode]:
    known = claim.b if claim.a is unknown else claim.a
    is_first = (claim.a is unknown) != reading.inverse
    assert known
    if reading.bond:
        for fact in labelled_facts(facts):
            ends = {node.pk: node for node in (fact.edge.src, fact.edge.dst)}
            whom, whose = (fact.first, fact.second) if is_first else (fact.second, fact.first)
            if bonds()[fact.bond].mutual and whom == known.pk:
                whom, whose = whose, whom
            is_said = fact.bond == reading.bond and whose == known.pk
            if is_said and may_be_of_sex(fact, whom, reading.sex):
                yield ends[whom]  # type: ignore[index]
        return
    for edge in facts:
        whom_node, of = (edge.src, edge.dst) if is_first else (edge.dst, edge.src)
        if reading.mutual and whom_node.pk == known.pk:
            whom_node, of = of, whom_node
        is_said = edge.relation_id == reading.relation and of.pk == known.pk
        if is_said and whom_node.kind == unknown.kind:
            yield whom_node
