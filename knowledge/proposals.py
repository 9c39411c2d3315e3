"""Proposed entries: anybody may propose, an editor decides, and nothing is found before that."""

from django.db import transaction
from django.utils import timezone

from knowledge.models import Lore, LoreProposal
from knowledge.schemas import LoreIn, ProposalIn
from knowledge.upsert import upsert_lore
from retrieval.errors import Conflict
from worlds.models import Campaign, World

MOST_OPEN = 1_000
"""Open proposals of a world; more would only bury the others."""


def propose(
    world: World, proposal: ProposalIn, *, campaign: Campaign | None = None, by: str = ""
) -> LoreProposal:
    if LoreProposal.objects.filter(world=world, state=LoreProposal.State.OPEN).count() >= MOST_OPEN:
        raise Conflict(
            f"{MOST_OPEN} proposals wait for a decision already: let an editor decide some first."
        )
    entry = proposal.entry.model_dump(mode="json", exclude_unset=True)
    return LoreProposal.objects.create(
        world=world, campaign=campaign, entry=entry, reason=proposal.reason, proposed_by=by[:120]
    )


@transaction.atomic
def accept(proposal: LoreProposal, *, by: str, entry: LoreIn | None = None, note: str = "") -> Lore:
    """Write the proposed entry, or what the editor made of it."""
    _decide(proposal, LoreProposal.State.ACCEPTED, by=by, note=note)
    accepted = entry or LoreIn.model_validate(proposal.entry)
    lore, _outcome = upsert_lore(
        proposal.world,
        accepted,
        author=proposal.proposed_by,
        reason=f"proposal accepted by {by}"[:100],
    )
    proposal.lore = lore
    proposal.save(update_fields=["lore"])
    return lore


@transaction.atomic
def reject(proposal: LoreProposal, *, by: str, note: str = "") -> None:
    _decide(proposal, LoreProposal.State.REJECTED, by=by, note=note)


def _decide(proposal: LoreProposal, state: str, *, by: str, note: str) -> None:
    waiting = LoreProposal.objects.filter(pk=proposal.pk, state=LoreProposal.State.OPEN)
    proposal.state, proposal.decided_by, proposal.decision = (
        LoreProposal.State(state),
        by[:150],
        note,
    )
    proposal.decided_at = timezone.now()
    decided = {
        "state": state,
        "decided_by": proposal.decided_by,
        "decision": note,
        "decided_at": proposal.decided_at,
    }
    if not waiting.update(**decided):
        raise Conflict("This proposal was decided before.")
