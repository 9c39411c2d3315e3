"""Which facts of the canon contradict a proposal. They are stored without the words of a language:
a fact as [subject, relation, label, target], the end of something as [its name, the rule]."""

from collections.abc import Sequence

from knowledge.extraction.findings import Finding
from knowledge.fact_check.checker import FactChecker
from knowledge.fact_check.claims import Claim
from knowledge.fact_check.labelled_facts import meanings_of
from knowledge.fact_check.verdicts import FALSE
from knowledge.graph.contradictions import Clash, clashes_of
from knowledge.graph.labels import PROGRAM_RULES, relation_label
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
) -> dict[int, list[list[str]]]:
    """Return, by the `id()` of a finding, what is against it, as it is stored."""
    edges = {id(each): edge_of(world, each, relations) for each in findings}
    found: dict[int, list[list[str]]] = {}
    by_edge = {edge.pk: key for key, edge in edges.items()}
    for clash in clashes_of(list(edges.values())):
        for fact, other in ((clash.first, clash.second), (clash.second, clash.first)):
            if fact and fact.pk in by_edge and (against := _parts_of_clash(clash, other)):
                found.setdefault(by_edge[fact.pk], []).append(against)
    checker = FactChecker(View(world, GM), relations)
    for each in findings:
        if each.relation == FREE_RELATION and each.label:
            found.setdefault(id(each), []).extend(_against_label(checker, each))
    each_once = {
        key: list(map(list, dict.fromkeys(map(tuple, rows)))) for key, rows in found.items()
    }
    return {key: rows for key, rows in each_once.items() if rows}


def contradiction_in_words(stored: Sequence[str] | str) -> str:
    """Return what is against a proposal in the language of the page; a text from before as it
    is."""
    if isinstance(stored, str):
        return stored
    if len(stored) == 2:
        name, rule = stored
        return f"{name}: {PROGRAM_RULES.get(rule, rule)}"
    subject, relation, label, target = stored
    return f"{subject} {relation_label(relation, label)} {target}"


def _parts_of_clash(clash: Clash, other: GraphEdge | None) -> list[str]:
    if clash.ended_node:
        return [clash.ended_node.name, clash.rule.says]
    return _parts_of_fact(other) if other else []


def _parts_of_fact(fact: GraphEdge) -> list[str]:
    ends = [fact.src.name, fact.dst.name]
    subject, target = ends[::-1] if fact.written_as else ends
    return [subject, fact.written_as or fact.relation_id, fact.label, target]


def _against_label(checker: FactChecker, finding: Finding) -> list[list[str]]:
    """By what `lore_assert` says of it: another leader, another mother, another kinship."""
    assert finding.other
    for meaning in meanings_of(finding.label)[:1]:
        a, b = finding.node, finding.other
        if meaning.is_swapped:
            a, b = b, a
        verdict = checker.judge(Claim(a, b, (meaning.kind,)))
        if verdict.result == FALSE:
            return [_parts_of_fact(edge) for edge in verdict.opposing]
    return []
