"""Proposed lore entries: anybody may propose, an editor decides; nothing is found before that."""

from django.db import transaction
from django.utils import timezone

from knowledge.editing_models import LoreProposal
from knowledge.markup_check import require_sound_markup, require_sound_structure
from knowledge.models import Lore
from knowledge.schemas import LoreIn, ProposalIn
from knowledge.upsert import upsert_lore
from retrieval.errors import Conflict
from worlds.models import Campaign, World

MOST_OPEN = 1_000
"""Open proposals of a world; nobody reads more."""


def propose(
    world: World, proposal: ProposalIn, *, campaign: Campaign | None = None, by: str = ""
) -> LoreProposal:
    """Store a proposal. Raises `Conflict` when too many are open, `Invalid` for a broken fence."""
    # Its audiences are checked when an editor accepts it: the candidates would tell the proposer
    # of parties and NPCs.
    require_sound_structure({0: proposal.entry.body})
    if LoreProposal.objects.filter(world=world, state=LoreProposal.State.OPEN).count() >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} proposals are open already: decide some first.")
    entry = proposal.entry.model_dump(mode="json", exclude_unset=True)
    return LoreProposal.objects.create(
        world=world, campaign=campaign, entry=entry, reason=proposal.reason, proposed_by=by[:120]
    )


@transaction.atomic
def accept(proposal: LoreProposal, *, by: str, entry: LoreIn | None = None, note: str = "") -> Lore:
    """Write the proposed entry, or `entry`, what the editor made of it."""
    accepted = entry or LoreIn.model_validate(proposal.entry)
    require_sound_markup(proposal.world, accepted.body)
    _decide(proposal, LoreProposal.State.ACCEPTED, by=by, note=note)
    lore, _outcome = upsert_lore(
        proposal.world,
        accepted,
        author=proposal.proposed_by,
        reason=f"proposal accepted by {by}",
    )
    proposal.lore = lore
    proposal.save(update_fields=["lore"])
    return lore


@transaction.atomic
def reject(proposal: LoreProposal, *, by: str, note: str = "") -> None:
    _decide(proposal, LoreProposal.State.REJECTED, by=by, note=note)


def _decide(proposal: LoreProposal, state: LoreProposal.State, *, by: str, note: str) -> None:
    now = timezone.now()
    values = {"state": state, "decided_by": by[:150], "decision": note, "decided_at": now}
    # One update with the state in its condition: of two editors at once, one gets the conflict.
    rows = LoreProposal.objects.filter(pk=proposal.pk, state=LoreProposal.State.OPEN)
    if not rows.update(**values):
        raise Conflict("This proposal was decided before.")
    for name, value in values.items():
        setattr(proposal, name, value)
