"""REST endpoints for standings with factions, opinions between NPCs, and the rules of
consequences."""

from typing import Annotated, Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router

from episodes.api import name_of
from npcs import opinions
from npcs.change_states import state_of
from npcs.disposition_rules import rules_of, set_rules
from npcs.lookup import find_npc
from npcs.models import DispositionRules, OpinionChange
from npcs.opinions import Opinion, ShownEntry, find_faction, opinions_of, standings_of
from npcs.schemas import (
    ChangedOpinion,
    DispositionRulesIn,
    DispositionRulesOut,
    OpinionEntry,
    OpinionIn,
    OpinionList,
    OpinionOut,
    OpinionRulingIn,
    PendingOpinionList,
    StandingIn,
    StandingList,
    StandingOut,
)
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_by_id, find_party
from worlds.rest import NeedsKey, check_match, require_gm, require_whole_world, tag

router = Router(tags=["npcs"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
Wanted = Annotated[str | None, Query(max_length=200)]
MOST_ENTRIES = 20
MOST_PENDING = 100
NAMED_BY_CHANGES = ("npc", "other", "faction", "party")


@router.get(
    "/disposition-rules",
    operation_id="disposition_rules_get",
    summary="Get the rules of consequences",
    response=DispositionRulesOut,
)
def get_rules(request: HttpRequest, response: HttpResponse) -> DispositionRulesOut:
    """By which a change of what one NPC thinks is felt by kin, allies, enemies and factions. A new
    world has none of them switched on."""
    rules = rules_of(require_gm(request).world)
    tag(response, digest_of(rules))
    return present_rules(rules)


@router.put(
    "/disposition-rules",
    operation_id="disposition_rules_put",
    summary="Set the rules of consequences",
    response=DispositionRulesOut,
)
def put_rules(
    request: HttpRequest, response: HttpResponse, rules: Body[DispositionRulesIn]
) -> DispositionRulesOut:
    """They hold for changes from now on; entries of before stay, and can be reversed one by one.
    `soft_ends` recomputes the dispositions of the world."""
    caller = require_whole_world(request)
    check_match(request, digest_of(rules_of(caller.world)))
    stored = set_rules(caller.world, **rules.model_dump(exclude_unset=True))
    tag(response, digest_of(stored))
    return present_rules(stored)


@router.get(
    "/standings",
    operation_id="standing_list",
    summary="List standings with factions",
    response=StandingList,
)
def list_standings(
    request: HttpRequest,
    party_id: Wanted = None,
    faction: Annotated[
        str | None, Query(max_length=200, description="Id or whole name of the faction.")
    ] = None,
) -> dict[str, Any]:
    """What factions think of parties, the best first, each with its latest changes."""
    caller = require_gm(request)
    party = find_party(caller.world, party_id, caller.campaign) if party_id else None
    node = find_faction(caller.world, faction) if faction else None
    found = standings_of(caller.world, party=party, faction=node)
    own = [each for each in found if is_of_campaign(caller, each)]
    return {"standings": [present_standing(each) for each in own]}


@router.post(
    "/standings",
    operation_id="standing_correct",
    summary="Correct a standing",
    response=StandingOut,
)
def correct_standing(request: HttpRequest, entry: Body[StandingIn]) -> StandingOut:
    """A game master's change, with a reason. It counts at once."""
    caller = require_gm(request)
    party = find_party(caller.world, entry.party_id, caller.campaign)
    node = find_faction(caller.world, entry.faction)
    by = name_of(caller)
    opinions.correct_standing(node, party, by=entry.delta, reason=entry.reason, made_by=by)
    (standing,) = standings_of(caller.world, party=party, faction=node)
    return present_standing(standing)


@router.get(
    "/npcs/{ref}/opinions",
    operation_id="opinion_list",
    summary="List what an NPC thinks of other NPCs",
    response=OpinionList,
)
def list_opinions(request: HttpRequest, ref: Reference) -> dict[str, Any]:
    """The best first, each with its latest changes."""
    caller = require_gm(request)
    npc = find_npc(caller.world, ref, resembling=True)
    return {"opinions": [present_opinion(each) for each in opinions_of(npc, caller.campaign)]}


@router.post(
    "/npcs/{ref}/opinions",
    operation_id="opinion_correct",
    summary="Correct what an NPC thinks of another",
    response=OpinionOut,
)
def correct_opinion(request: HttpRequest, ref: Reference, entry: Body[OpinionIn]) -> OpinionOut:
    """A game master's change, with a reason. It counts at once."""
    caller = require_gm(request)
    npc, other = find_npc(caller.world, ref), find_npc(caller.world, entry.other)
    by = name_of(caller)
    opinions.correct_opinion(npc, other, by=entry.delta, reason=entry.reason, made_by=by)
    found = opinions_of(npc, caller.campaign)
    return next(present_opinion(each) for each in found if each.toward == other)


@router.get(
    "/opinions/pending",
    operation_id="opinion_pending",
    summary="List pending changes of standings and opinions",
    response=PendingOpinionList,
)
def list_pending(request: HttpRequest) -> dict[str, Any]:
    """Large changes that nobody has ruled on, latest first."""
    rows = ledger_of(require_gm(request)).pending().annotate_episode()
    rows = rows.select_related(*NAMED_BY_CHANGES).order_by("-id")
    return {"changes": [present_change(entry).model_dump() for entry in rows[:MOST_PENDING]]}


@router.post(
    "/opinions/{int:entry_id}/rulings",
    operation_id="opinion_rule",
    summary="Rule on a change of a standing or opinion",
    response=ChangedOpinion,
)
def rule(request: HttpRequest, entry_id: int, ruling: Body[OpinionRulingIn]) -> ChangedOpinion:
    """Approve or reject a pending change; reverse one that counts, or restore it. The ruling is an
    entry of the ledger too."""
    caller = require_gm(request)
    entry = find_by_id(ledger_of(caller), entry_id, what="change")
    by = name_of(caller)
    opinions.rule_on_opinion(entry, ruling.verdict, reason=ruling.reason, made_by=by)
    rows = OpinionChange.objects.with_ruling().annotate_episode()
    return present_change(rows.select_related(*NAMED_BY_CHANGES).get(pk=entry.pk))


def ledger_of(caller: Caller) -> Any:
    """The entries of the caller's campaign, or of its world when it has none."""
    entries = OpinionChange.objects.in_world(caller.world)
    own = Q(party__campaign=caller.campaign) | Q(episode__party__campaign=caller.campaign)
    return entries.filter(own) if caller.campaign else entries


def is_of_campaign(caller: Caller, standing: Opinion) -> bool:
    return caller.campaign is None or standing.toward.campaign_id == caller.campaign.pk  # type: ignore[union-attr]


def digest_of(rules: DispositionRules) -> str:
    return "-".join(str(int(value)) for value in present_rules(rules).model_dump().values())


def present_rules(rules: DispositionRules) -> DispositionRulesOut:
    names = DispositionRulesOut.model_fields
    return DispositionRulesOut(**{name: getattr(rules, name) for name in names})


def present_standing(standing: Opinion) -> StandingOut:
    return StandingOut(
        faction=standing.holder.slug,
        faction_name=standing.holder.name,
        party_id=standing.toward.slug,
        score=round(standing.score, 1),
        label=standing.label,
        changes=[present_entry(shown) for shown in standing.entries[:MOST_ENTRIES]],
    )


def present_opinion(opinion: Opinion) -> OpinionOut:
    return OpinionOut(
        npc_id=opinion.holder.slug,
        other=opinion.toward.slug,
        other_name=opinion.toward.name,
        score=round(opinion.score, 1),
        label=opinion.label,
        changes=[present_entry(shown) for shown in opinion.entries[:MOST_ENTRIES]],
    )


def present_change(entry: Any) -> ChangedOpinion:
    return ChangedOpinion(
        **present_entry(ShownEntry(entry, state_of(entry))).model_dump(),
        npc_id=entry.npc.slug if entry.npc else "",
        other=entry.other.slug if entry.other else "",
        faction=entry.faction.slug if entry.faction else "",
        party_id=entry.party.slug if entry.party else "",
    )


def present_entry(shown: ShownEntry) -> OpinionEntry:
    entry = shown.entry
    return OpinionEntry(
        change=entry.pk,
        delta=entry.delta,
        reason=entry.reason,
        state=shown.state,
        summary_id=entry.summary_id,
        caused_by=entry.cause_id,
        caused_as=entry.rule,
        made_by=entry.made_by,
        in_world_at=entry.in_world_at,
        in_world_label=entry.in_world_label,
        happened_at=entry.happened_at,
    )
