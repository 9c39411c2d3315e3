"""REST for engines: lore and house rules, one by one or in bulk, and proposals for an editor."""

from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Router, Status

from knowledge.models import Lore, Rule
from knowledge.presenters import lore_to_out, rule_to_out
from knowledge.proposals import propose
from knowledge.schemas import (
    EntryBatch,
    EntryWritten,
    LoreIn,
    LoreOut,
    ProposalIn,
    ProposalOut,
    RuleIn,
    RuleOut,
)
from knowledge.upsert import find_lore_entry, find_own_rule, upsert_lore, upsert_rule
from retrieval.errors import Invalid
from retrieval.tasks import embed_soon
from retrieval.text import slugify
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_campaign
from worlds.rest import NeedsKey, caller_of, check_match, require_gm, tag

router = Router(tags=["knowledge"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]


@router.put(
    "/lore", operation_id="lore_upsert", summary="Write a lore entry", response=EntryWritten
)
def put_lore(request: HttpRequest, response: HttpResponse, entry: Body[LoreIn]) -> EntryWritten:
    """Create an entry, or change the one with its slug by the fields sent. `If-Match` refuses a
    stale copy.
    """
    caller = require_gm(request)
    entry = _in_campaign_of_key(caller, entry)
    slug = entry.slug or slugify(entry.title)
    rows = Lore.objects.filter(world=caller.world, slug=slug, campaign__slug=entry.campaign)
    check_match(request, rows.values_list("version", flat=True).first())
    result = _write_lore(caller, entry)
    tag(response, result.version)
    return result


@router.post(
    "/lore/bulk",
    operation_id="lore_upsert_bulk",
    summary="Write many lore entries",
    response=BulkReport,
)
def put_lore_bulk(request: HttpRequest, batch: Body[EntryBatch]) -> BulkReport:
    """Up to 500 with a report on each; `atomic` writes all or none."""
    caller = require_gm(request)

    def write(item: Any) -> tuple[str, str]:
        entry = _in_campaign_of_key(caller, LoreIn.model_validate(item))
        result = _write_lore(caller, entry)
        return result.id, result.outcome

    return write_all(batch.entries, write, atomic=batch.atomic)


@router.post(
    "/lore/proposals",
    operation_id="lore_propose",
    summary="Propose a lore entry",
    response={201: ProposalOut},
)
def propose_lore(request: HttpRequest, proposal: Body[ProposalIn]) -> Status[ProposalOut]:
    """Store an entry for an editor, who accepts, edits or rejects it in the admin. It is not found
    before.
    """
    caller = caller_of(request)
    row = propose(caller.world, proposal, campaign=caller.campaign, by=str(caller.key or ""))
    out = ProposalOut(id=row.pk, state=row.state, title=str(row), created_at=row.created_at)
    return Status(201, out)


@router.get("/lore/{ref}", operation_id="lore_get", summary="One lore entry", response=LoreOut)
def get_lore(request: HttpRequest, response: HttpResponse, ref: Reference) -> LoreOut:
    """By slug, id or name, as a game master sees it: with its secrets."""
    caller = require_gm(request)
    entry = find_lore_entry(caller.world, ref, campaign=caller.campaign)
    tag(response, entry.version)
    return lore_to_out(entry)


@router.put(
    "/rules", operation_id="rule_upsert", summary="Write a house rule", response=EntryWritten
)
def put_rule(request: HttpRequest, response: HttpResponse, entry: Body[RuleIn]) -> EntryWritten:
    """Create or change a rule of the key's world. Shared rules of the game system cannot be
    changed.
    """
    caller = require_gm(request)
    rows = Rule.objects.filter(world=caller.world, key=entry.rule_id)
    check_match(request, rows.values_list("version", flat=True).first())
    result = _write_rule(caller, entry)
    tag(response, result.version)
    return result


@router.post(
    "/rules/bulk",
    operation_id="rule_upsert_bulk",
    summary="Write many house rules",
    response=BulkReport,
)
def put_rules_bulk(request: HttpRequest, batch: Body[EntryBatch]) -> BulkReport:
    """Up to 500 with a report on each; `atomic` writes all or none."""
    caller = require_gm(request)

    def write(item: Any) -> tuple[str, str]:
        result = _write_rule(caller, RuleIn.model_validate(item))
        return result.id, result.outcome

    return write_all(batch.entries, write, atomic=batch.atomic)


@router.get(
    "/rules/{path:ref}", operation_id="rule_get", summary="One house rule", response=RuleOut
)
def get_rule(request: HttpRequest, response: HttpResponse, ref: str) -> RuleOut:
    """A rule of the key's own world, by its id; the shared ones are read with `rules_lookup`."""
    rule = find_own_rule(require_gm(request).world, ref)
    tag(response, rule.version)
    return rule_to_out(rule)


def _in_campaign_of_key(caller: Caller, entry: LoreIn) -> LoreIn:
    """A key that is bound to a campaign writes that campaign's overlay and nothing else."""
    if caller.campaign is None:
        return entry
    slug = caller.campaign.slug
    if entry.campaign and find_campaign(caller.world, entry.campaign) != caller.campaign:
        raise Invalid(f"This key writes for the campaign {slug} alone: leave out `campaign`.")
    return entry.model_copy(update={"campaign": slug})


def _write_lore(caller: Caller, entry: LoreIn) -> EntryWritten:
    with transaction.atomic():
        row, outcome = upsert_lore(caller.world, entry, author=str(caller.key or "")[:120])
        if outcome != "unchanged":
            embed_soon("lore")
    return EntryWritten(id=row.slug, outcome=outcome, version=row.version)


def _write_rule(caller: Caller, entry: RuleIn) -> EntryWritten:
    with transaction.atomic():
        row, outcome = upsert_rule(caller.world, entry)
        if outcome != "unchanged":
            embed_soon("srd")
    return EntryWritten(id=row.key, outcome=outcome, version=row.version)
