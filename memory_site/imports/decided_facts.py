"""Facts of earlier imports that a person corrected or retracted. An import that states them again
leaves them so."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from knowledge.entry_facts import SOURCES, Claim, claim_of
from knowledge.graph.models import GraphEdge
from worlds.models import ImportedRow, World

RETRACTED = {"retracted": True}
"""What is kept of a fact that an import retracted."""


@dataclass
class DecidedFacts:
    """By source and claim, what the sources stated before and a person has decided on."""

    rows: dict[tuple[str, Claim], GraphEdge] = field(default_factory=dict)

    @classmethod
    def load(cls, world: World, refs: Iterable[str]) -> "DecidedFacts":
        stated: dict[tuple[str, Claim], list[GraphEdge]] = defaultdict(list)
        facts = GraphEdge.objects.filter(
            world=world, source_kind__in=SOURCES, source_ref__in=set(refs), stands_for=None
        )
        for fact in facts.order_by("believed_from", "id"):
            stated[fact.source_ref, claim_of(fact)].append(fact)
        by_imports = _retracted_by_imports(stated.values())
        found = {}
        for key, rows in stated.items():
            if any(_is_as_stated(row) for row in rows):
                continue
            believed = [row for row in rows if row.believed_until is None]
            if believed or rows[-1].pk not in by_imports:
                found[key] = (believed or rows)[-1]
        return cls(found)

    def find(self, ref: str, claim: Claim) -> GraphEdge | None:
        return self.rows.get((ref, claim))


def _is_as_stated(fact: GraphEdge) -> bool:
    return fact.believed_until is None and not fact.edited_by


def _retracted_by_imports(rows: Iterable[Sequence[GraphEdge]]) -> set[object]:
    ids = [row.pk for of_claim in rows for row in of_claim if row.believed_until]
    retracted = ImportedRow.objects.filter(
        row_id__in=ids, kind="relation", before=RETRACTED, undone=False
    )
    return set(retracted.values_list("row_id", flat=True)) if ids else set()
