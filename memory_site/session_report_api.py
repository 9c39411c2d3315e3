"""REST: propose an episode from a text about a session."""

from typing import Any

from django.http import HttpRequest
from ninja import Body, Router
from pydantic import Field

from memory_site.session_reports.proposal import Proposal
from memory_site.session_reports.propose import Report
from memory_site.session_reports.read_with_model import propose
from memory_site.session_reports.sentences import LONGEST_REPORT
from memory_site.session_reports.store import same_report
from worlds.base_schemas import StrictModel
from worlds.keys import Scope
from worlds.lookup import find_party
from worlds.rest import NeedsKey, own_transaction, require_gm

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))


class ReportIn(StrictModel):
    """What a game master wrote about a session, in any language."""

    party_id: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=LONGEST_REPORT, pattern=r"^[^\x00]*$")


@router.post(
    "/episodes/propose",
    operation_id="episode_propose",
    summary="Propose an episode from a text",
    response=Proposal,
)
@own_transaction
def propose_episode(request: HttpRequest, entry: Body[ReportIn]) -> Any:
    """Read the text by rules and the names of the world, and by the language model when one is
    configured. Nothing is written: choose, correct, and send what is right as an episode.
    `recorded_as` names the episode that was made on the site from the same text before."""
    caller = require_gm(request)
    party = find_party(caller.world, entry.party_id, caller.campaign)
    party.world = caller.world
    known = same_report(caller.world, entry.text)
    proposal = propose(Report(party, entry.text))
    if known and known.episode and caller.campaign in (None, known.episode.campaign):
        proposal.recorded_as = known.episode.external_id
    return proposal
