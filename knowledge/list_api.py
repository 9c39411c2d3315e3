"""REST for engines: lists of lore and rules, deletion and restoration, and decisions about
proposals.

The operations are added to the router of `knowledge.api`: one address has one list of methods."""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Status
from pydantic import Field

from knowledge import proposals
from knowledge.api import Reference, find_changeable_rule, router
from knowledge.editing_models import LoreProposal
from knowledge.models import Lore, Rule
from knowledge.presenters import lore_to_out, lore_to_row, rule_to_row
from knowledge.querysets import shared_or_of
from knowledge.schemas import (
    LoreOut,
    LorePage,
    ProposalDecision,
    ProposalPage,
    ProposalRow,
    RuleKind,
    RulePage,
)
from knowledge.schemas import Status as PublicationStatus
from knowledge.trash import restore_lore, trash_lore, trashed_lore
from knowledge.upsert import find_lore_entry
from retrieval.errors import Forbidden
from retrieval.tasks import embed_soon
from worlds.audiences import Visibility
from worlds.callers import Caller
from worlds.lookup import find_by_id, find_campaign, find_in_trash
from worlds.models import Campaign
from worlds.rest import check_match, require_gm, tag
from worlds.rest_lists import ListQuery, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag

LORE_SORTS = {"created": "id", "updated": "updated_at", "name": "title"}
RULE_SORTS = {"created": "id", "updated": "updated_at", "name": "title"}
PROPOSAL_SORTS = {"created": "id", "updated": "created_at", "name": "proposed_by"}
Filter = Annotated[str | None, Field(max_length=200)]


class LoreListQuery(ListQuery):
    state: Annotated[
        Literal["live", "trash"], Field(description="trash: the deleted ones, for some weeks.")
    ] = "live"
    status: PublicationStatus | None = None
    kind: Annotated[
        str | None, Field(max_length=80, description="A kind, or the slug of an own kind.")
    ] = None
    campaign: Annotated[
        str | None, Field(max_length=120, description="Overlays of this campaign; canon: canon.")
    ] = None
    tag: Filter = None
    folder: Annotated[str | None, Field(max_length=200, description="With the folders in it.")] = (
        None
    )
    author: Annotated[
        str | None, Field(max_length=200, description="Entries first written by this author.")
    ] = None
    language: Annotated[
        str | None, Field(max_length=12, description="Code of the entry's language, such as `en`.")
    ] = None
    visibility: Visibility | None = None
    text: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00]*$",
            description="Occurs in the title, another name or the text; case does not matter.",
        ),
    ] = None


class RuleListQuery(ListQuery):
    kind: RuleKind | None = None
    shared: Annotated[
        bool, Field(description="Also the rules that the worlds of the game system share.")
    ] = False


class ProposalListQuery(ListQuery):
    state: Literal["open", "accepted", "rejected"] | None = "open"


# --- lore


@router.get("/lore", operation_id="lore_list", summary="List lore entries", response=LorePage)
def list_lore(
    request: HttpRequest, response: HttpResponse, query: Query[LoreListQuery]
) -> dict[str, Any]:
    """Without their texts. A key that is bound to a campaign lists canon and its own overlay."""
    caller = require_gm(request)
    rows: Any = Lore.objects.filter(world=caller.world)
    if query.state == "trash":
        rows = trashed_lore(caller.world)
    rows = filter_lore(rows.filter(shared_or_of(caller.campaign)), caller, query)
    page = page_of(request, response, rows, query, LORE_SORTS)
    return page.answer("lore", partial(lore_to_row, caller=caller))


def filter_lore(rows: Any, caller: Caller, query: LoreListQuery) -> Any:
    for name in ("status", "author", "language", "visibility"):
        if value := getattr(query, name):
            rows = rows.filter(**{name: value})
    if query.text:
        rows = rows.filter(
            Q(title__icontains=query.text)
            | Q(aliases__icontains=query.text)
            | Q(body__icontains=query.text)
        )
    if query.kind:
        is_own = query.kind not in Lore.Kind
        rows = rows.filter(**{"custom_kind__slug" if is_own else "kind": query.kind})
    if query.campaign:
        canon = query.campaign == "canon"
        rows = rows.filter(
            campaign=None
            if canon
            else find_campaign(caller.world, query.campaign, only=caller.campaign)
        )
    if query.tag:
        rows = rows.filter(tags__contains=[query.tag])
    if query.folder:
        rows = rows.filter(Q(folder=query.folder) | Q(folder__startswith=f"{query.folder}/"))
    return rows.select_related("campaign", "overrides", "custom_kind").defer("body")


@router.delete(
    "/lore/{ref}",
    operation_id="lore_delete",
    summary="Move a lore entry to the trash",
    response={204: None},
)
def delete_lore(request: HttpRequest, ref: Reference) -> Status[None]:
    """Nothing finds or shows it any more. It can be restored for 30 days, with its reveals and
    links."""
    caller = require_gm(request)
    entry = find_deletable_entry(caller, ref)
    check_match(request, entry.version)
    delete_lore_entry(caller, entry)
    return Status(204, None)


@router.post(
    "/lore/{ref}/restore",
    operation_id="lore_restore",
    summary="Restore a lore entry from the trash",
    response=LoreOut,
)
def restore_entry(request: HttpRequest, response: HttpResponse, ref: Reference) -> LoreOut:
    """By its id or slug. If the slug was taken meanwhile it gets another."""
    caller = require_gm(request)
    row = restore_lore_entry(caller, ref)
    tag(response, row.version)
    return lore_to_out(row, caller)


def find_deletable_entry(caller: Caller, reference: str) -> Lore:
    """Return the entry. Raises `Forbidden` for canon if the key is bound to a campaign."""
    entry = find_lore_entry(caller.world, reference, campaign=caller.campaign)
    require_no_canon(caller, entry)
    return entry


def require_no_canon(caller: Caller, entry: Lore) -> None:
    """Raise `Forbidden` for canon if the key is bound to a campaign."""
    if caller.campaign and entry.campaign_id != caller.campaign.pk:
        raise Forbidden(f"This key changes the campaign {caller.campaign.slug} alone, not canon.")


def delete_lore_entry(caller: Caller, entry: Lore) -> None:
    trash_lore([entry], by=str(caller.key or "site"))


def restore_lore_entry(caller: Caller, reference: str) -> Lore:
    """Restore the entry of this id or slug, the one deleted last. Raises `NotFound`."""
    rows = trashed_lore(caller.world)
    if caller.campaign:
        rows = rows.filter(campaign=caller.campaign)
    row: Lore = find_in_trash(rows, reference, what="entry")
    with transaction.atomic():
        restore_lore([row], by=str(caller.key or "site"))
        embed_soon("lore")
    return Lore.objects.get(pk=row.pk)


# --- rules


@router.get("/rules", operation_id="rule_list", summary="List rules", response=RulePage)
def list_rules(
    request: HttpRequest, response: HttpResponse, query: Query[RuleListQuery]
) -> dict[str, Any]:
    """The world's own rules, without their texts; with `shared=true` those of its game system
    too."""
    caller = require_gm(request)
    own = Q(world=caller.world) & shared_or_of(caller.campaign)
    if query.shared and caller.world.system_id:
        own |= Q(world=None, document__system=caller.world.system_id)
    rows: QuerySet[Rule] = Rule.objects.filter(own)
    if query.kind:
        rows = rows.filter(kind=query.kind)
    rows = rows.select_related("document", "campaign", "overrides").defer("body")
    page = page_of(request, response, rows, query, RULE_SORTS)
    return page.answer("rules", partial(rule_to_row, caller=caller))


@router.delete(
    "/rules/{path:ref}",
    operation_id="rule_delete",
    summary="Delete a house rule",
    response={204: None},
)
def delete_rule(request: HttpRequest, ref: str) -> Status[None]:
    """For good. The rule that it replaced holds again."""
    rule = find_changeable_rule(require_gm(request), ref)
    check_match(request, rule.version)
    rule.delete()
    return Status(204, None)


# --- proposals


@router.get(
    "/proposals", operation_id="proposal_list", summary="List proposals", response=ProposalPage
)
def list_proposals(
    request: HttpRequest, response: HttpResponse, query: Query[ProposalListQuery]
) -> dict[str, Any]:
    """What models and players proposed for the lore, by default what is undecided."""
    rows = proposals_of(require_gm(request))
    if query.state:
        rows = rows.filter(state=query.state)
    page = page_of(request, response, rows, query, PROPOSAL_SORTS)
    return page.answer("proposals", present_proposal)


@router.get(
    "/proposals/{uuid:proposal_id}",
    operation_id="proposal_get",
    summary="Get a proposal",
    response=ProposalRow,
)
def get_proposal(request: HttpRequest, response: HttpResponse, proposal_id: UUID) -> ProposalRow:
    """What was proposed, by whom and why, and what an editor decided."""
    return with_tag(response, present_proposal(find_proposal(require_gm(request), proposal_id)))


@router.post(
    "/proposals/{uuid:proposal_id}/accept",
    operation_id="proposal_accept",
    summary="Accept a proposal",
    response=LoreOut,
)
def accept_proposal(
    request: HttpRequest,
    response: HttpResponse,
    proposal_id: UUID,
    decision: Body[ProposalDecision],
) -> LoreOut:
    """Writes the entry, as it was proposed or as `entry` says. 409 when it was decided already."""
    caller = require_gm(request)
    row = find_proposal(caller, proposal_id)
    by = str(caller.key or "site")
    with require_unchanged(request, row, present_proposal):
        lore = proposals.accept(
            row, by=by, entry=decision.entry, note=decision.note, only=caller.campaign
        )
        embed_soon("lore")
    set_location(response, f"world/lore/{lore.slug}")
    return lore_to_out(lore, caller)


@router.post(
    "/proposals/{uuid:proposal_id}/reject",
    operation_id="proposal_reject",
    summary="Reject a proposal",
    response=ProposalRow,
)
def reject_proposal(
    request: HttpRequest,
    response: HttpResponse,
    proposal_id: UUID,
    decision: Body[ProposalDecision],
) -> ProposalRow:
    """It stays in the list of rejected ones. 409 when it was decided already."""
    caller = require_gm(request)
    row = find_proposal(caller, proposal_id)
    with require_unchanged(request, row, present_proposal):
        proposals.reject(row, by=str(caller.key or "site"), note=decision.note)
    return with_tag(response, present_proposal(find_proposal(caller, proposal_id)))


@router.post(
    "/proposals/{uuid:proposal_id}/reopen",
    operation_id="proposal_reopen",
    summary="Undo the decision about a proposal",
    response=ProposalRow,
)
def reopen_proposal(request: HttpRequest, response: HttpResponse, proposal_id: UUID) -> ProposalRow:
    """An entry that accepting it created goes to the trash; one that it changed gets its version
    before back. 409 when nobody decided it, or when the entry was edited since."""
    caller = require_gm(request)
    row = find_proposal(caller, proposal_id)
    if row.lore:
        require_no_canon(caller, row.lore)
    with require_unchanged(request, row, present_proposal):
        proposals.undo_proposal_decision(row, by=str(caller.key or "site"))
        embed_soon("lore")
    return with_tag(response, present_proposal(find_proposal(caller, proposal_id)))


def proposals_of(caller: Caller) -> "QuerySet[LoreProposal]":
    rows = LoreProposal.objects.filter(world=caller.world).select_related("campaign", "world")
    return rows.filter(campaign=caller.campaign) if caller.campaign else rows


def find_proposal(caller: Caller, proposal_id: UUID) -> LoreProposal:
    return find_by_id(proposals_of(caller), proposal_id, what="proposal")


def present_proposal(row: LoreProposal) -> ProposalRow:
    campaign: Campaign | None = row.campaign
    return ProposalRow(
        id=row.pk,
        state=row.state,
        title=str(row),
        created_at=row.created_at,
        reason=row.reason,
        proposed_by=row.proposed_by,
        campaign=campaign.slug if campaign else None,
        entry=row.entry,
        decided_by=row.decided_by,
        decision=row.decision,
    )
