"""Lasting facts: sentences that say of two known things what relation they have, as
`lore_assert` reads them."""

from collections.abc import Iterable, Iterator, Sequence

from knowledge.fact_check.claims import Claim, UnparsedClaim, parse_claim
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.labels import relation_label
from knowledge.graph.models import FREE_RELATION, GraphEdge, GraphNode
from knowledge.graph.relations import Relations
from memory_site.session_reports.lexicon import ReportWords
from memory_site.session_reports.names import ReportMentions
from memory_site.session_reports.proposal import ProposedFact
from memory_site.session_reports.sentences import Sentence
from worlds.models import World

MOST_FACTS = 40
LONGEST_CLAIM, MOST_NAMES = 200, 4
"""A sentence states a fact as a whole, so it is short."""


def proposed_facts(
    world: World, sentences: Sequence[Sentence], mentions: ReportMentions, words: ReportWords
) -> list[ProposedFact]:
    """Return the facts that the report states and the graph does not have yet."""
    ids = [row.id for thing in mentions.things() for row in thing.rows if row.kind == "entity"]
    rows = GraphNode.objects.believed_now().in_world(world).filter(pk__in=ids)
    nodes = list(rows.order_by("name", "pk"))
    linker = EntityLinker(nodes, typos=False)
    relations = Relations.load()
    found: dict[tuple[str, str, str], ProposedFact] = {}
    for sentence in {each.text: each for each in sentences}.values():
        if not 2 <= len(mentions.by_sentence.get(sentence.start, ())) <= MOST_NAMES:
            continue
        for text in clauses_of(sentence, words):
            claim = parse_claim(text, linker)
            fact = None if isinstance(claim, UnparsedClaim) else fact_of(claim, relations)
            if fact:
                fact.quote = sentence.quote
                found.setdefault((fact.src, fact.relation, fact.dst), fact)
                break
    known = known_facts(world, nodes)
    return [fact for fact in found.values() if (fact.src, fact.relation, fact.dst) not in known][
        :MOST_FACTS
    ]


def clauses_of(sentence: Sentence, words: ReportWords) -> Iterator[str]:
    """Yield the sentence, and what follows `that` or `что` in it."""
    text = sentence.plain.rstrip(" .!?…。")
    if len(text) > LONGEST_CLAIM:
        return
    yield text
    if match := words.of(text).learned_that.search(text):
        yield text[match.end() :]


def fact_of(claim: Claim, relations: Relations) -> ProposedFact | None:
    """Return the fact that a claim states: of its readings the first whose relation may join the
    two. None for what is negated, past, or said in words of its own."""
    if claim.is_negated or claim.is_past or claim.date or claim.b is None or claim.a == claim.b:
        return None
    for reading in (reading for kind in claim.kinds for reading in kind.readings):
        if reading.bond and not reading.labels:
            continue
        # The label of a bond says what the first name is to the second.
        turned = reading.inverse and not reading.bond
        src, dst = (claim.b, claim.a) if turned else (claim.a, claim.b)
        code = reading.relation or FREE_RELATION
        relation = relations.get(code)
        if relation and (src.kind, dst.kind) in relation.joins:
            label = reading.labels[0] if reading.labels else ""
            words = relation_label(code, label)
            return ProposedFact(
                src=src.slug,
                relation=code,
                dst=dst.slug,
                label=label,
                sentence=f"{src.name} {words} {dst.name}",
            )
    return None


def known_facts(world: World, nodes: Iterable[GraphNode]) -> set[tuple[str, str, str]]:
    """The facts between `nodes` that are believed; of a symmetric relation both ways."""
    edges = GraphEdge.objects.believed_now().in_world(world).filter(src__in=nodes, dst__in=nodes)
    columns = edges.values_list("src__slug", "relation_id", "dst__slug", "relation__symmetric")
    facts = set()
    for src, relation, dst, is_symmetric in columns:
        facts.add((src, relation, dst))
        if is_symmetric:
            facts.add((dst, relation, src))
    return facts
