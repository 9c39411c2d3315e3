"""Proposed lore entries: anybody may propose, an editor decides; nothing is found before that."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.editing_models import LoreProposal
from knowledge.entry_store import restore_entry
from knowledge.markup_check import require_sound_markup, require_sound_structure
from knowledge.models import Lore
from knowledge.schemas import LoreIn, ProposalIn
from knowledge.trash import trash_lore
from knowledge.upsert import upsert_lore
from retrieval.errors import Conflict
from worlds.audience_names import require_audiences
from worlds.lookup import find_campaign
from worlds.models import Campaign, World

MOST_OPEN = 200
"""Open proposals of one proposer. It counts no others': a refusal tells nobody what else there is,
and one proposer cannot keep the rest from proposing."""


WROTE_NOTHING = 0
"""The `lore_version` of a proposal whose entry said so already when it was accepted."""


def propose(
    world: World, proposal: ProposalIn, *, campaign: Campaign | None = None, by: str = ""
) -> LoreProposal:
    """Store a proposal of `by`. Raises `Conflict` when too many of theirs are open, `Invalid` for a
    broken fence."""
    # Its audiences are checked when an editor accepts it: the candidates would tell the proposer
    # of parties and NPCs.
    require_sound_structure({0: proposal.entry.body})
    open_proposals = LoreProposal.objects.filter(world=world, state=LoreProposal.State.OPEN)
    if open_proposals.filter(proposed_by=by[:120]).count() >= MOST_OPEN:
        raise Conflict(
            _("%(count)s of your proposals are open: wait until an editor has decided some.")
            % {"count": MOST_OPEN}
        )
    entry = proposal.entry.model_dump(mode="json", exclude_unset=True)
    return LoreProposal.objects.create(
        world=world, campaign=campaign, entry=entry, reason=proposal.reason, proposed_by=by[:120]
    )


@transaction.atomic
def accept(
    proposal: LoreProposal,
    *,
    by: str,
    entry: LoreIn | None = None,
    note: str = "",
    only: Campaign | None = None,
) -> Lore:
    """Write the proposed entry, or `entry`, what the editor made of it. With `only`, the campaign
    to which the editor's key is bound, it is written into that campaign; raises `NotFound` if it
    names another."""
    accepted = entry or LoreIn.model_validate(proposal.entry)
    if only:
        named = accepted.campaign or only.slug
        slug = find_campaign(proposal.world, named, only=only).slug
        accepted = accepted.model_copy(update={"campaign": slug})
    require_sound_markup(proposal.world, accepted.body, only=only)
    require_audiences(proposal.world, accepted.known_to, only=only)
    _decide(proposal, LoreProposal.State.ACCEPTED, by=by, note=note)
    lore, outcome = upsert_lore(
        proposal.world,
        accepted,
        author=proposal.proposed_by,
        reason=f"proposal accepted by {by}",
    )
    proposal.lore = lore
    proposal.lore_version = WROTE_NOTHING if outcome == "unchanged" else lore.version
    proposal.save(update_fields=["lore", "lore_version"])
    return lore


@transaction.atomic
def reject(proposal: LoreProposal, *, by: str, note: str = "") -> None:
    _decide(proposal, LoreProposal.State.REJECTED, by=by, note=note)


@transaction.atomic
def undo_proposal_decision(proposal: LoreProposal, *, by: str) -> None:
    """Open the proposal again. An entry that accepting it created goes to the trash; one that it
    changed gets its version before back. Raises `Conflict` when the entry was edited since, or
    when the proposal is open."""
    row = LoreProposal.objects.select_for_update().get(pk=proposal.pk)
    if row.state == LoreProposal.State.OPEN:
        raise Conflict(_("There is no decision to undo."))
    if row.state == LoreProposal.State.ACCEPTED and row.lore:
        _undo_entry(row, row.lore, by=by)
    row.state, row.lore, row.lore_version = LoreProposal.State.OPEN, None, None
    row.decided_by, row.decision, row.decided_at = "", "", None
    row.save()


def _undo_entry(proposal: LoreProposal, lore: Lore, *, by: str) -> None:
    if proposal.lore_version == WROTE_NOTHING:
        return
    # One that was accepted before this was recorded has no version: nobody knows what to restore.
    if proposal.lore_version is None or lore.version != proposal.lore_version:
        raise Conflict(
            _("“%(title)s” was edited since: restore the version you want in its history.")
            % {"title": lore.title}
        )
    if lore.version == 1:
        trash_lore([lore], by=by)
        return
    before = lore.history.filter(version=lore.version - 1).order_by("-history_id").first()
    if before is None:
        raise Conflict(
            _("The history of “%(title)s” does not reach back so far.") % {"title": lore.title}
        )
    restore_entry(lore, before.instance, reason=f"acceptance of a proposal undone by {by}")


def _decide(proposal: LoreProposal, state: LoreProposal.State, *, by: str, note: str) -> None:
    now = timezone.now()
    values = {"state": state, "decided_by": by[:150], "decision": note, "decided_at": now}
    # One update with the state in its condition: of two editors at once, one gets the conflict.
    rows = LoreProposal.objects.filter(pk=proposal.pk, state=LoreProposal.State.OPEN)
    if not rows.update(**values):
        raise Conflict(_("This proposal was decided before."))
    for name, value in values.items():
        setattr(proposal, name, value)
