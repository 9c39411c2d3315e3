"""Apply a person's decision about a contradiction, with a reason."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from knowledge.graph.fact_store import end_fact, retract_facts
from knowledge.graph.models import Contradiction, GraphEdge, GraphNode
from knowledge.graph.upsert import lock_graph
from retrieval.errors import Conflict, Invalid

How = Contradiction.How


@dataclass(frozen=True)
class Resolution:
    """A decided contradiction, and the facts that were flagged because they rested on a
    retracted one."""

    contradiction: Contradiction
    flagged_facts: list[GraphEdge]


def resolve_contradiction(
    contradiction: Contradiction, *, how: str, reason: str, by: str, at: float | None = None
) -> Resolution:
    """Apply the decision `how` to this contradiction and to all open ones between the same
    statements.

    `at` is the world day from which the kept fact is valid alone (keep_first, keep_second); without
    it, the day on which the kept fact begins. Raises `Invalid`, and `Conflict` if it was decided
    before.
    """
    if not reason.strip():
        raise Invalid("Give a reason: it is stored with the decision.")
    if how not in DECISIONS:
        raise Invalid(f"{how!r} is no decision. Use one of {', '.join(sorted(DECISIONS))}.")
    with transaction.atomic():
        lock_graph(contradiction.world)
        row = Contradiction.objects.select_for_update(of=("self",)).get(pk=contradiction.pk)
        if row.state != Contradiction.State.OPEN:
            raise Conflict("Somebody has decided this already.")
        same = _same_contradictions(row)
        to_check = [fact for each in same for fact in DECISIONS[how](each, at, reason)]
        Contradiction.objects.filter(pk__in=[each.pk for each in same]).update(
            state=Contradiction.State.RESOLVED,
            how=how,
            reason=reason,
            resolved_by=by,
            resolved_at=timezone.now(),
        )
        row.refresh_from_db()
    return Resolution(row, list({fact.pk: fact for fact in to_check}.values()))


def _same_contradictions(row: Contradiction) -> list[Contradiction]:
    """Return the open contradictions between the same statements, whichever sources made them."""
    same = {"rule": row.rule_id, "state": row.state, "ended": row.ended}
    for side, fact in (("first", row.first), ("second", row.second)):
        if fact:
            same[f"{side}__src"], same[f"{side}__dst"] = fact.src, fact.dst
            same[f"{side}__relation"] = fact.relation_id
    return list(Contradiction.objects.filter(**same))


def keep_first(row: Contradiction, at: float | None, reason: str) -> list[GraphEdge]:
    if row.second is None:
        return retract_second(row, at, reason)
    return end_loser(row.second, row.first.since if at is None else at, reason)


def keep_second(row: Contradiction, at: float | None, reason: str) -> list[GraphEdge]:
    begins = row.second.since if row.second else row.ended.until if row.ended else None
    return end_loser(row.first, begins if at is None else at, reason)


def end_loser(loser: GraphEdge, at: float | None, reason: str) -> list[GraphEdge]:
    """End `loser` on day `at`; retract it if it began later, for then it was never valid."""
    if at is None:
        raise Invalid(
            "Give `at`, the day from which the kept fact is valid alone, or retract the other."
        )
    # An earlier decision of the same batch may have replaced it.
    if GraphEdge.objects.filter(pk=loser.pk, believed_until__isnull=False).exists():
        return []
    if loser.since is not None and loser.since >= at:
        return retract_facts([loser], because=reason)
    if loser.until is None or loser.until > at:
        end_fact(loser, at)
    return []


def keep_both(_row: Contradiction, _at: float | None, _reason: str) -> list[GraphEdge]:
    return []


def retract_first(row: Contradiction, _at: float | None, reason: str) -> list[GraphEdge]:
    return retract_facts([row.first], because=reason)


def retract_second(row: Contradiction, _at: float | None, reason: str) -> list[GraphEdge]:
    if row.second:
        return retract_facts([row.second], because=reason)
    if row.ended:  # the second side is the end of an entity: it did not end
        GraphNode.objects.filter(pk=row.ended.pk).update(until=None)
    return []


DECISIONS: dict[str, Callable[[Contradiction, float | None, str], list[GraphEdge]]] = {
    How.KEEP_FIRST: keep_first,
    How.KEEP_SECOND: keep_second,
    How.KEEP_BOTH: keep_both,
    How.RETRACT_FIRST: retract_first,
    How.RETRACT_SECOND: retract_second,
}
