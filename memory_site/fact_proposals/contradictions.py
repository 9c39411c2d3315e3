"""Which facts of the canon contradict a proposal."""

from collections.abc import Sequence

from knowledge.extraction.findings import Finding
from knowledge.fact_check.checker import FactChecker
from knowledge.fact_check.claims import Claim
from knowledge.fact_check.labelled_facts import meanings_of
from knowledge.fact_check.verdicts import FALSE
from knowledge.graph.contradictions import Clash, clashes_of
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import FREE_RELATION, GraphEdge
from knowledge.graph.protocol import View
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import stored_form
from worlds.audiences import GM
from worlds.models import World


def edge_of(world: World, finding: Finding, relations: Relations) -> GraphEdge:
    """Return the fact that accepting the finding would write, unsaved."""
    assert finding.other
    relation, src, dst = stored_form(relations, finding.relation, finding.node, finding.other)
    return GraphEdge(
        world=world,
        src=src,
        dst=dst,
        relation_id=relation.code,
        src_kind=src.kind,
        dst_kind=dst.kind,
        label=finding.label,
        written_as="" if src == finding.node else finding.relation,
    )


def contradictions_of_facts(
    world: World, findings: Sequence[Finding], relations: Relations
) -> dict[int, list[str]]:
    """Return, by the `id()` of a finding, the facts against it in words."""
    edges = {id(each): edge_of(world, each, relations) for each in findings}
    found: dict[int, list[str]] = {}
    by_edge = {edge.pk: key for key, edge in edges.items()}
    for clash in clashes_of(list(edges.values())):
        for fact, other in ((clash.first, clash.second), (clash.second, clash.first)):
            if fact and fact.pk in by_edge and (text := _words(clash, other)):
                found.setdefault(by_edge[fact.pk], []).append(text)
    checker = FactChecker(View(world, GM), relations)
    for each in findings:
        if each.relation == FREE_RELATION and each.label:
            found.setdefault(id(each), []).extend(_against_label(checker, each))
    return {key: list(dict.fromkeys(texts)) for key, texts in found.items() if texts}


def _words(clash: Clash, other: GraphEdge | None) -> str:
    if clash.ended_node:
        return f"{clash.ended_node.name}: {clash.rule.in_words}"
    return fact_sentence(other) if other else ""


def _against_label(checker: FactChecker, finding: Finding) -> list[str]:
    """By what `lore_assert` says of it: another leader, another mother, another kinship."""
    assert finding.other
    for meaning in meanings_of(finding.label)[:1]:
        a, b = finding.node, finding.other
        if meaning.is_swapped:
            a, b = b, a
        verdict = checker.judge(Claim(a, b, (meaning.kind,)))
        if verdict.result == FALSE:
            return [fact_sentence(edge) for edge in verdict.opposing]
    return []
