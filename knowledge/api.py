"""REST for engines: lore and house rules, one by one or in bulk, and proposals for an editor."""

from functools import partial
from typing import Annotated

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Router, Status

from knowledge.links import claims_of_entry
from knowledge.markup_check import require_sound_markup
from knowledge.models import Lore, Rule
from knowledge.presenters import lore_to_out, rule_to_out
from knowledge.proposals import propose
from knowledge.querysets import shared_or_of
from knowledge.schemas import (
    EntryBatch,
    EntryWritten,
    LoreIn,
    LoreOut,
    LoreWrite,
    ProposalIn,
    ProposalOut,
    RuleIn,
    RuleOut,
    RuleWrite,
)
from knowledge.upsert import find_lore_entry, find_own_rule, slug_of, upsert_lore, upsert_rule
from retrieval.errors import Forbidden, Invalid
from retrieval.tasks import embed_soon
from worlds.audience_names import require_audiences
from worlds.audiences import Visibility
from worlds.bulk import BulkReport, write_all
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_campaign
from worlds.rest import NeedsKey, caller_of, expecting, require_gm, tag
from worlds.rest_rows import set_location

router = Router(tags=["knowledge"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]


@router.put(
    "/lore", operation_id="lore_upsert", summary="Write a lore entry", response=EntryWritten
)
def put_lore(request: HttpRequest, response: HttpResponse, entry: Body[LoreWrite]) -> EntryWritten:
    """Create an entry, or change the one with its slug by the fields sent. `If-Match` or `version`
    refuses the change of an entry that others have changed since it was read."""
    caller = require_gm(request)
    campaign = _campaign_to_write(caller, entry)
    rows = Lore.objects.filter(world=caller.world, slug=slug_of(entry), campaign__slug=campaign)
    stored = rows.values_list("version", flat=True).first()
    with expecting(request, stored, in_body=entry.version) as version:
        result = _write_lore(caller, entry, version, warn=True)
    tag(response, result.version)
    if result.outcome == "created":
        set_location(response, f"world/lore/{result.id}")
    return result


@router.post(
    "/lore/bulk", operation_id="lore_upsert_bulk", summary="Write lore in bulk", response=BulkReport
)
def put_lore_bulk(request: HttpRequest, batch: Body[EntryBatch]) -> BulkReport:
    """Up to 500 entries, with a report on each; `atomic` writes all or none."""
    write = partial(_write_lore, require_gm(request))
    return write_all(batch.entries, LoreWrite, write, atomic=batch.atomic)


@router.post(
    "/lore/proposals",
    operation_id="lore_propose",
    summary="Propose a lore entry",
    response={201: ProposalOut},
)
def propose_lore(
    request: HttpRequest, response: HttpResponse, proposal: Body[ProposalIn]
) -> Status[ProposalOut]:
    """Store an entry for review: an editor accepts, edits or rejects it in the admin. Searches do
    not return it before."""
    caller = caller_of(request)
    row = propose(caller.world, proposal, campaign=caller.campaign, by=str(caller.key or ""))
    set_location(response, f"world/proposals/{row.pk}")
    out = ProposalOut(id=row.pk, state=row.state, title=str(row), created_at=row.created_at)
    return Status(201, out)


@router.get("/lore/{ref}", operation_id="lore_get", summary="One lore entry", response=LoreOut)
def get_lore(request: HttpRequest, response: HttpResponse, ref: Reference) -> LoreOut:
    """By slug, id or name, as a game master sees it: with its secrets."""
    caller = require_gm(request)
    entry = find_lore_entry(caller.world, ref, campaign=caller.campaign)
    tag(response, entry.version)
    return lore_to_out(entry, caller)


@router.put(
    "/rules", operation_id="rule_upsert", summary="Write a house rule", response=EntryWritten
)
def put_rule(request: HttpRequest, response: HttpResponse, entry: Body[RuleWrite]) -> EntryWritten:
    """Create a rule of the key's world, or change it by the fields sent; shared rules of the game
    system are read-only.
    `If-Match` or `version` refuses the change of a rule that others have changed since."""
    caller = require_gm(request)
    rows = rules_of(caller).filter(key=entry.rule_id)
    stored = rows.values_list("version", flat=True).first()
    with expecting(request, stored, in_body=entry.version) as version:
        result = _write_rule(caller, entry, version)
    tag(response, result.version)
    if result.outcome == "created":
        set_location(response, f"world/rules/{result.id}")
    return result


@router.post(
    "/rules/bulk",
    operation_id="rule_upsert_bulk",
    summary="Write rules in bulk",
    response=BulkReport,
)
def put_rules_bulk(request: HttpRequest, batch: Body[EntryBatch]) -> BulkReport:
    """Up to 500 house rules, with a report on each; `atomic` writes all or none."""
    write = partial(_write_rule, require_gm(request))
    return write_all(batch.entries, RuleWrite, write, atomic=batch.atomic)


@router.get(
    "/rules/{path:ref}", operation_id="rule_get", summary="One house rule", response=RuleOut
)
def get_rule(request: HttpRequest, response: HttpResponse, ref: str) -> RuleOut:
    """A rule of the key's own world, by its id; the shared ones are read with `rules_lookup`."""
    caller = require_gm(request)
    rule = find_own_rule(caller.world, ref, campaign=caller.campaign)
    tag(response, rule.version)
    return rule_to_out(rule, caller)


def rules_of(caller: Caller) -> "QuerySet[Rule]":
    """The world's own rules, without those of other campaigns than the caller's."""
    return Rule.objects.filter(shared_or_of(caller.campaign), world=caller.world)


def find_changeable_rule(caller: Caller, reference: str) -> Rule:
    """Return the rule. Raises `NotFound` for one of another campaign than the caller's, `Forbidden`
    for one of the whole world if the caller's key is bound to a campaign."""
    rule = find_own_rule(caller.world, reference, campaign=caller.campaign)
    if caller.campaign and rule.campaign_id != caller.campaign.pk:
        raise Forbidden(
            f"This key changes the campaign {caller.campaign.slug} alone, not the rules of the "
            "world."
        )
    return rule


def _campaign_to_write(caller: Caller, entry: LoreIn | RuleIn) -> str | None:
    """Return the slug of the campaign that the entry belongs to, None for canon. A key that is
    bound to a campaign writes that campaign's overlay and nothing else."""
    own = caller.campaign
    if not entry.campaign:
        return own.slug if own else None
    return find_campaign(caller.world, entry.campaign, only=own).slug


def _write_lore(
    caller: Caller, entry: LoreWrite, expected_version: int | None = None, *, warn: bool = False
) -> EntryWritten:
    require_sound_markup(caller.world, entry.body, only=caller.campaign)
    campaign = _campaign_to_write(caller, entry)
    entry = entry.model_copy(update={"campaign": campaign})
    rows = Lore.objects.filter(world=caller.world, slug=slug_of(entry), campaign__slug=campaign)
    require_useful_audiences(caller, entry, rows)
    with transaction.atomic():
        row, outcome = upsert_lore(
            caller.world,
            entry,
            author=str(caller.key or "")[:120],
            expected_version=expected_version or entry.version,
        )
        if outcome != "unchanged":
            embed_soon("lore")
    warnings = [str(claim) for claim in claims_of_entry(row)] if warn else []
    return EntryWritten(id=row.slug, outcome=outcome, version=row.version, warnings=warnings)


def _write_rule(
    caller: Caller, entry: RuleWrite, expected_version: int | None = None
) -> EntryWritten:
    require_sound_markup(caller.world, entry.body, only=caller.campaign)
    if caller.campaign:
        entry = entry.model_copy(update={"campaign": _campaign_to_write(caller, entry)})
        if Rule.objects.filter(world=caller.world, key=entry.rule_id).exists():
            find_changeable_rule(caller, entry.rule_id)
    rows = rules_of(caller).filter(key=entry.rule_id)
    require_useful_audiences(caller, entry, rows)
    with transaction.atomic():
        row, outcome = upsert_rule(
            caller.world, entry, expected_version=expected_version or entry.version
        )
        if outcome != "unchanged":
            embed_soon("srd")
    return EntryWritten(id=row.key, outcome=outcome, version=row.version)


def require_useful_audiences(
    caller: Caller, entry: LoreIn | RuleIn, rows: "QuerySet[Lore] | QuerySet[Rule]"
) -> None:
    """Raise `Invalid` for new audiences in `known_to` that the caller's world, or campaign, does
    not have, and for those that would not count because the entry is not revealed. `rows` has the
    stored entry, if any."""
    if not entry.known_to:
        return
    stored = rows.first()
    known = set(stored.known_to) if stored else set()
    require_audiences(caller.world, entry.known_to, stored=known, only=caller.campaign)
    is_kept = "visibility" not in entry.model_fields_set
    visibility = stored.visibility if stored and is_kept else entry.visibility
    if visibility != Visibility.REVEALED and not known.issuperset(entry.known_to):
        raise Invalid(
            "known_to says to whom an entry is revealed: send it with visibility revealed.",
            errors=[{"loc": ["known_to"], "msg": "only with visibility revealed"}],
        )
