"""Accept, change, drop and reopen proposals, one or many. What is accepted is written as an editor
would write it, with the sentence as its source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.upsert import lock_graph
from memory_site.fact_proposals.statement import ProposedStatement
from memory_site.fact_proposals.write import UNWRITERS, WRITERS
from retrieval.errors import Conflict, Problem

State, Kind = FactProposal.State, FactProposal.Kind
AT_ONCE = 200
"""Proposals that are accepted while somebody waits; more are accepted by the worker."""
ORDER = (Kind.ENTITY, Kind.ALIAS, Kind.DATE, Kind.DEATH, Kind.FACT)
"""New names come first, and are taken back last: facts may be about them."""


@dataclass
class BulkResult:
    """How many were decided, and why others were not: the reason by the id of the proposal."""

    decided: int = 0
    refused: dict[UUID, str] = field(default_factory=dict)


@transaction.atomic
def accept(
    proposal: FactProposal, *, by: str, changed: ProposedStatement | None = None
) -> FactProposal:
    """Write what is proposed, or `changed`, what the game master made of it. Raises `Conflict` if
    it is decided already, and what the writing raises."""
    lock_graph(proposal.world)
    row = _lock(proposal, State.OPEN, _("Somebody has decided this already."))
    before = ProposedStatement.model_validate(row.fields)
    statement = changed or before
    row.written = WRITERS[row.kind](row, statement, by)
    row.fields = statement.model_dump(mode="json", exclude_defaults=True)
    row.state = State.ACCEPTED if statement == before else State.CHANGED
    _sign(row, by)
    return row


@transaction.atomic
def drop(proposal: FactProposal, *, by: str) -> FactProposal:
    row = _lock(proposal, State.OPEN, _("Somebody has decided this already."))
    row.state = State.DROPPED
    _sign(row, by)
    return row


@transaction.atomic
def reopen(proposal: FactProposal, *, by: str) -> FactProposal:  # noqa: ARG001
    """Take the decision back with what it wrote. Raises `Conflict` when that was changed since."""
    lock_graph(proposal.world)
    row: FactProposal = FactProposal.objects.select_for_update().get(pk=proposal.pk)
    if row.state == State.OPEN:
        raise Conflict(_("There is no decision to undo."))
    if row.state != State.DROPPED:
        UNWRITERS[row.kind](row)
    row.state, row.written = State.OPEN, {}
    row.decided_by, row.decided_at = "", None
    row.save()
    return row


DECISIONS: dict[str, Callable[..., FactProposal]] = {
    "accept": accept,
    "drop": drop,
    "reopen": reopen,
}


def decide_many(rows: QuerySet[FactProposal], decision: str, *, by: str) -> BulkResult:
    """Decide each of the rows; those that cannot be stay as they are. Dropping is one statement."""
    if decision == "drop":
        values = {"state": State.DROPPED, "decided_by": by[:150], "decided_at": timezone.now()}
        return BulkResult(rows.filter(state=State.OPEN).update(**values))
    result = BulkResult()
    in_order = _in_order(rows)
    for proposal in reversed(in_order) if decision == "reopen" else in_order:
        try:
            DECISIONS[decision](proposal, by=by)
            result.decided += 1
        except Problem as problem:
            result.refused[proposal.pk] = problem.detail
    return result


def decide_ids(
    proposals: QuerySet[FactProposal], ids: Sequence[UUID], decision: str, *, by: str
) -> BulkResult:
    """Decide those of the proposals with these ids; an id that is not among them is refused."""
    rows = proposals.filter(pk__in=ids)
    known = set(rows.values_list("pk", flat=True))
    result = decide_many(rows, decision, by=by)
    for pk in dict.fromkeys(ids):
        if pk not in known:
            result.refused[pk] = f"There is no proposal {pk} here."
    return result


def _in_order(rows: QuerySet[FactProposal]) -> list[FactProposal]:
    """Return the rows, new names first. All at once: deciding one takes it out of the filter."""
    place = Case(
        *(When(kind=kind, then=Value(number)) for number, kind in enumerate(ORDER)),
        output_field=IntegerField(),
    )
    return list(rows.select_related("world").annotate(place=place).order_by("place", "id"))


def _lock(proposal: FactProposal, state: str, otherwise: str) -> FactProposal:
    rows: Any = FactProposal.objects.select_for_update(of=("self",)).select_related("world")
    row: FactProposal = rows.get(pk=proposal.pk)
    if row.state != state:
        raise Conflict(otherwise)
    return row


def _sign(row: FactProposal, by: str) -> None:
    row.decided_by, row.decided_at = by[:150], timezone.now()
    row.save()
