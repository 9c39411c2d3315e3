"""Apply a person's decision about a contradiction, with a reason, and undo it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.graph.contradiction_models import Contradiction, DecisionEffect
from knowledge.graph.contradictions import clash_of, record_contradictions
from knowledge.graph.fact_store import believe_again, end_fact, retract_facts
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.upsert import lock_graph
from retrieval.errors import Conflict, Invalid

How = Contradiction.How


@dataclass(frozen=True)
class AppliedEffect:
    """What a decision did to one fact or entity, as `DecisionEffect` stores it, and the facts that
    it flagged."""

    stored: DecisionEffect
    flagged: list[GraphEdge] = field(default_factory=list)


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
        raise Invalid(_("Give a reason: it is stored with the decision."))
    if how not in DECISIONS:
        raise Invalid(
            _("%(how)r is no decision. Use one of %(decisions)s.")
            % {"how": how, "decisions": ", ".join(sorted(DECISIONS))}
        )
    with transaction.atomic():
        lock_graph(contradiction.world)
        row = Contradiction.objects.select_for_update(of=("self",)).get(pk=contradiction.pk)
        if row.state != Contradiction.State.OPEN:
            raise Conflict(_("Somebody has decided this already."))
        same = _same_contradictions(row)
        effects = [effect for each in same for effect in DECISIONS[how](each, at, reason)]
        for effect in effects:
            effect.stored.contradiction = row
        DecisionEffect.objects.bulk_create([effect.stored for effect in effects])
        to_check = [fact for effect in effects for fact in effect.flagged]
        decided = Contradiction.objects.filter(pk__in=[each.pk for each in same])
        decided.update(
            state=Contradiction.State.RESOLVED,
            how=how,
            reason=reason,
            resolved_by=by,
            resolved_at=timezone.now(),
        )
        decided.exclude(pk=row.pk).update(decided_with=row)
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


def keep_first(row: Contradiction, at: float | None, reason: str) -> list[AppliedEffect]:
    if row.second is None:
        return retract_second(row, at, reason)
    day = row.first.since if at is None else at
    return end_loser(row.second, day, reason, because_of=row.first)


def keep_second(row: Contradiction, at: float | None, reason: str) -> list[AppliedEffect]:
    begins = row.second.since if row.second else row.ended.until if row.ended else None
    day = begins if at is None else at
    return end_loser(row.first, day, reason, because_of=row.second)


def end_loser(
    loser: GraphEdge, at: float | None, reason: str, *, because_of: GraphEdge | None
) -> list[AppliedEffect]:
    """End `loser` on day `at`; retract it if it began later, for then it was never valid.
    `because_of` is the fact that is kept."""
    if at is None:
        raise Invalid(
            _("Give `at`, the day from which the kept fact is valid alone, or retract the other.")
        )
    if loser.since is not None and loser.since >= at:
        return retract(loser, reason)
    if not _is_believed(loser) or (loser.until is not None and loser.until <= at):
        return []
    ended = end_fact(loser, at, because_of=because_of)
    return [AppliedEffect(DecisionEffect(fact=loser, became=ended))]


def retract(fact: GraphEdge, reason: str) -> list[AppliedEffect]:
    if not _is_believed(fact):
        return []
    flagged = retract_facts([fact], because=reason)
    return [AppliedEffect(DecisionEffect(fact=fact), flagged)]


def _is_believed(fact: GraphEdge) -> bool:
    # An earlier decision of the same batch may have replaced it.
    return GraphEdge.objects.believed_now().filter(pk=fact.pk).exists()


def keep_both(_row: Contradiction, _at: float | None, _reason: str) -> list[AppliedEffect]:
    return []


def retract_first(row: Contradiction, _at: float | None, reason: str) -> list[AppliedEffect]:
    return retract(row.first, reason)


def retract_second(row: Contradiction, _at: float | None, reason: str) -> list[AppliedEffect]:
    if row.second:
        return retract(row.second, reason)
    # The second side is the end of an entity: it did not end.
    node = row.ended
    if node is None or not GraphNode.objects.filter(pk=node.pk, until=node.until).exists():
        return []
    GraphNode.objects.filter(pk=node.pk).update(until=None)
    return [AppliedEffect(DecisionEffect(node=node, until=node.until))]


DECISIONS: dict[str, Callable[[Contradiction, float | None, str], list[AppliedEffect]]] = {
    How.KEEP_FIRST: keep_first,
    How.KEEP_SECOND: keep_second,
    How.KEEP_BOTH: keep_both,
    How.RETRACT_FIRST: retract_first,
    How.RETRACT_SECOND: retract_second,
}


@transaction.atomic
def undo_decision(contradiction: Contradiction) -> Contradiction:
    """Give the facts back what the decision changed, and open the contradiction again, with those
    that were decided together. Raises `Conflict` when nobody decided it, or when a fact was
    changed since; then nothing is changed."""
    lock_graph(contradiction.world)
    row = Contradiction.objects.select_for_update(of=("self",)).get(pk=contradiction.pk)
    row = row.decided_with or row
    if row.state != Contradiction.State.RESOLVED or row.how not in DECISIONS:
        raise Conflict(_("There is no decision to undo."))
    restored: dict[UUID, GraphEdge] = {}
    effects = DecisionEffect.objects.filter(contradiction=row)
    for effect in effects.select_related("fact", "became", "node").order_by("-id"):
        if effect.node:
            _end_again(effect.node, effect.until)
        elif effect.fact:
            restored[effect.fact.pk] = _restore_fact(effect.fact, effect.became)
    effects.delete()
    for each in [row, *row.decided_together.all()]:
        _reopen(each, restored)
    # Contradictions that the decision had closed along with this one are found again.
    record_contradictions(row.world, edges=[fact.pk for fact in restored.values()])
    row.refresh_from_db()
    return row


def _end_again(node: GraphNode, until: float | None) -> None:
    if not GraphNode.objects.filter(pk=node.pk, until=None).update(until=until):
        raise Conflict(_("%(name)s has another end by now: correct it by hand.") % {"name": node})


def _restore_fact(fact: GraphEdge, became: GraphEdge | None) -> GraphEdge:
    if became is None:
        return believe_again(fact)
    if not _is_believed(became):
        raise Conflict(
            _("“%(name)s” was changed since the decision: correct it by hand.") % {"name": became}
        )
    return end_fact(became, fact.until)


def _reopen(row: Contradiction, restored: dict[UUID, GraphEdge]) -> None:
    row.first = restored.get(row.first_id, row.first)
    if row.second:
        second = restored.get(row.second.pk, row.second)
        # As it would be found today: a row that is believed again is the younger one.
        clash = clash_of(row.rule, row.first, second)
        row.first, row.second = clash.first, clash.second
    row.state, row.how, row.reason = Contradiction.State.OPEN, "", ""
    row.resolved_by, row.resolved_at, row.decided_with = "", None, None
    row.save()


def remove_flag(fact: GraphEdge, *, by: str) -> None:
    """Remove the flag of `fact`, which a person has checked; `restore_flag` puts it back."""
    flagged = GraphEdge.objects.filter(pk=fact.pk).exclude(flag="")
    values = {"checked_by": by[:150], "checked_at": timezone.now()}
    flagged.update(checked_flag=F("flag"), flag="", **values)


def restore_flag(fact: GraphEdge) -> None:
    """Put back the flag that a person removed. Raises `Conflict` when nobody has."""
    checked = GraphEdge.objects.filter(pk=fact.pk, checked_at__isnull=False, flag="")
    values = {"checked_flag": "", "checked_by": "", "checked_at": None}
    if not checked.update(flag=F("checked_flag"), **values):
        raise Conflict(_("There is no decision to undo."))
