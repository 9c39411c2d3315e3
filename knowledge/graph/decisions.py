"""A person decides a contradiction, with a reason."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from knowledge.graph.fact_store import end_fact, retract_facts
from knowledge.graph.models import Contradiction, GraphEdge, GraphNode
from knowledge.graph.upsert import lock_graph
from retrieval.errors import Conflict, Invalid

How = Contradiction.How


@dataclass(frozen=True)
class Resolution:
    """The decided contradiction (with those that spoke of the same facts from other sources), and what it shook."""

    contradiction: Contradiction
    flagged: list[GraphEdge]


def resolve_contradiction(
    contradiction: Contradiction, *, how: str, reason: str, by: str, at: float | None = None
) -> Resolution:
    """Decide. `at` is the world day from which the kept fact holds alone (keep_first, keep_second); without it, the day
    on which the kept fact begins. Raises Invalid and Conflict (already decided)."""
    if not reason.strip():
        raise Invalid("Say why: the reason stays with the decision.")
    if how not in DECISIONS:
        raise Invalid(f"{how!r} is no decision. Use one of {', '.join(sorted(DECISIONS))}.")
    with transaction.atomic():
        lock_graph(contradiction.world)
        found = Contradiction.objects.select_for_update(of=("self",)).get(pk=contradiction.pk)
        if found.state != Contradiction.State.OPEN:
            raise Conflict("Somebody has decided this already.")
        alike = _alike(found)
        flagged = [edge for one in alike for edge in DECISIONS[how](one, at, reason)]
        decided = {
            "state": Contradiction.State.RESOLVED,
            "how": how,
            "reason": reason,
            "resolved_by": by,
        }
        ids = [one.pk for one in alike]
        Contradiction.objects.filter(pk__in=ids).update(**decided, resolved_at=timezone.now())
        found.refresh_from_db()
    return Resolution(found, list({edge.pk: edge for edge in flagged}.values()))


def _alike(found: Contradiction) -> list[Contradiction]:
    """The open contradictions between the same statements, whoever made them."""
    same = Q(
        first__src=found.first.src,
        first__dst=found.first.dst,
        first__relation=found.first.relation_id,
    )
    if found.second:
        same &= Q(
            second__src=found.second.src,
            second__dst=found.second.dst,
            second__relation=found.second.relation_id,
        )
    else:
        same &= Q(ended=found.ended)
    return list(
        Contradiction.objects.filter(same, rule=found.rule_id, state=Contradiction.State.OPEN)
    )


def _keep_first(found: Contradiction, at: float | None, reason: str) -> list[GraphEdge]:
    if found.second is None:
        return _retract_second(found, at, reason)
    return _end(found.second, found.first.since if at is None else at, reason)


def _keep_second(found: Contradiction, at: float | None, reason: str) -> list[GraphEdge]:
    begins = found.second.since if found.second else found.ended.until if found.ended else None
    return _end(found.first, begins if at is None else at, reason)


def _end(loser: GraphEdge, at: float | None, reason: str) -> list[GraphEdge]:
    """End `loser` on day `at`. If it would never have held then, it is taken back."""
    if at is None:
        raise Invalid(
            "Give the world day from which the kept fact holds alone (at), or retract the other."
        )
    if GraphEdge.objects.filter(pk=loser.pk, believed_until__isnull=False).exists():
        return []
    if loser.since is not None and loser.since >= at:
        return retract_facts([loser], because=reason)
    if loser.until is None or loser.until > at:
        end_fact(loser, at)
    return []


def _keep_both(_found: Contradiction, _at: float | None, _reason: str) -> list[GraphEdge]:
    return []


def _retract_first(found: Contradiction, _at: float | None, reason: str) -> list[GraphEdge]:
    return retract_facts([found.first], because=reason)


def _retract_second(found: Contradiction, _at: float | None, reason: str) -> list[GraphEdge]:
    if found.second:
        return retract_facts([found.second], because=reason)
    if found.ended:
        GraphNode.objects.filter(pk=found.ended.pk).update(until=None)
    return []


DECISIONS: dict[str, Callable[[Contradiction, float | None, str], list[GraphEdge]]] = {
    How.KEEP_FIRST: _keep_first,
    How.KEEP_SECOND: _keep_second,
    How.KEEP_BOTH: _keep_both,
    How.RETRACT_FIRST: _retract_first,
    How.RETRACT_SECOND: _retract_second,
}
