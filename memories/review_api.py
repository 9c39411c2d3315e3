"""REST API of what a person decides about an agent's memory: merges made by rules, code rules, and
lines of the core memory whose evidence was retracted. And of what a deletion would leave.

The operations are added to the router of `memories.api`."""

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query

from memories import core, core_lines
from memories.agent_schemas import CodeRuleOut
from memories.api import key_id, own_namespace, router
from memories.code_rules import CodeRule
from memories.coding_agent.stores.postgres import as_rule
from memories.core_lines import LineEvidence
from memories.curation import merges, rule_review
from memories.curation.mentions import mentions
from memories.curation.merges import UncheckedMerge
from memories.models import MemoryItem
from memories.schemas import CoreLineOut, MemoryOut, MergedOut
from worlds.keys import Scope
from worlds.rest import caller_of

Limit = Annotated[int, Query(ge=1, le=100)]
Subject = Annotated[
    str, Query(min_length=1, max_length=200, description="Whom the memories are to name.")
]


@router.get(
    "/merges", operation_id="merges", summary="List merges by rules", response=list[MergedOut]
)
def list_merges(request: HttpRequest, limit: Limit = 50) -> Sequence[UncheckedMerge]:
    """Merges that rules made and nobody has checked, the most doubtful first."""
    return merges.list_merges(own_namespace(request), limit=limit)


@router.post(
    "/merges/{uuid:merge_id}/{decision}",
    operation_id="merge_decide",
    summary="Confirm or undo a merge",
    response=MemoryOut,
)
def decide_merge(
    request: HttpRequest, merge_id: UUID, decision: Literal["same", "separate"]
) -> MemoryItem:
    """`same` confirms it and returns the newer memory; `separate` returns the older one, which is
    in use again beside the newer. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    namespace = own_namespace(request)
    if decision == "same":
        return merges.confirm_merge(namespace, merge_id)
    return merges.separate(namespace, merge_id, by=key_id(request))


@router.get(
    "/code-rules/pending",
    operation_id="code_rules_pending",
    summary="List pending code rules",
    response=list[CodeRuleOut],
)
def list_pending_rules(request: HttpRequest, limit: Limit = 50) -> list[CodeRule]:
    """Code rules that wait for approval, oldest first: they are neither found nor applied."""
    return [as_rule(row) for row in rule_review.pending_rules(own_namespace(request))[:limit]]


@router.post(
    "/code-rules/pending/{uuid:rule_id}/{decision}",
    operation_id="code_rule_decide",
    summary="Approve or reject a code rule",
    response=CodeRuleOut,
)
def decide_rule(
    request: HttpRequest, rule_id: UUID, decision: Literal["approve", "reject"]
) -> CodeRule:
    """A rejected rule is kept, so that it is not learned again. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    is_approval = decision == "approve"
    return as_rule(
        rule_review.decide_rule(own_namespace(request), rule_id, is_approval=is_approval)
    )


@router.get(
    "/core/lines",
    operation_id="core_lines",
    summary="List core lines with their evidence",
    response=list[CoreLineOut],
)
def list_core_lines(request: HttpRequest) -> list[LineEvidence]:
    """Each line of the core memory with the memories it comes from. `retracted` above 0 means that
    some of them were deleted or are no longer in use."""
    namespace = own_namespace(request)
    return core_lines.lines_with_evidence(namespace, core.current(namespace).markdown)


@router.post(
    "/core/lines/{uuid:line_id}/confirm",
    operation_id="core_line_confirm",
    summary="Confirm a core line",
    response=list[CoreLineOut],
)
def confirm_core_line(request: HttpRequest, line_id: UUID) -> list[LineEvidence]:
    """The line holds without what was retracted. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    core_lines.confirm_line(own_namespace(request), line_id)
    return list_core_lines(request)


@router.get(
    "/mentions",
    operation_id="memory_mentions",
    summary="List mentions of a subject",
    response=list[MemoryOut],
)
def list_mentions(
    request: HttpRequest, subject: Subject, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Sequence[MemoryItem]:
    """Memories about others that name the subject, inflected or by an alias, latest first. Deleting
    the subject leaves them, unless their ids are in `also`."""
    return mentions(own_namespace(request), subject)[:limit]
