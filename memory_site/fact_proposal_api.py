"""REST: proposals from texts, and the episode that a thread proposes."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router
from pydantic import Field

from episodes.lookup import find_thread
from knowledge.fact_proposal_model import FactProposal
from memory_site.fact_proposals.contradictions import contradiction_in_words
from memory_site.fact_proposals.decide import accept, decide_ids
from memory_site.fact_proposals.lists import proposals_of
from memory_site.fact_proposals.sources import find_source
from memory_site.fact_proposals.statement import ProposedStatement, sentence_of
from memory_site.fact_proposals.store import read_source
from memory_site.session_reports.proposal import Proposal
from memory_site.session_reports.propose import Report
from memory_site.session_reports.read_with_model import propose
from memory_site.session_reports.store import transcript_of
from memory_site.tasks import read_texts_of_world
from retrieval.errors import Invalid, NotFound
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_party
from worlds.rest import NeedsKey, own_transaction, require_gm, require_whole_world
from worlds.rest_lists import SortedQuery, page_of
from worlds.rest_rows import require_unchanged, with_tag
from worlds.schemas import NextCursor

router = Router(tags=["graph"], auth=NeedsKey(Scope.WORLD_WRITE))
threads = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
SORTS = {"created": "id"}
MOST_IDS = 500
Kind = Literal["entity", "alias", "date", "death", "fact"]
State = Literal["open", "accepted", "changed", "dropped"]
Source = Literal["lore", "episode", "thread"]


class FactProposalOut(ResponseModel):
    """What a sentence of a text states, waiting for a decision or decided."""

    id: UUID
    kind: Kind
    state: State
    says: str = Field(description="The statement in words.")
    statement: ProposedStatement
    quote: str = Field(description="The sentence, word for word.")
    source_kind: Source
    source_ref: str = Field(description="Slug or id of the text.")
    source_version: int = Field(description="The version of the text that was read.")
    method: Literal["rules", "llm"]
    visibility: str = Field(description="Who knows the fact once it is accepted.")
    contradicts: list[str] = Field(description="Facts of the canon against it, in words.")
    decided_by: str
    decided_at: datetime | None = Field(description="When it was decided; null: it waits.")
    created_at: datetime

    @classmethod
    def of(cls, row: FactProposal) -> Self:
        statement = ProposedStatement.model_validate(row.fields)
        same = ("id", "kind", "state", "quote", "source_kind", "source_ref", "source_version")
        more = ("method", "visibility", "decided_by", "decided_at", "created_at")
        values = {name: getattr(row, name) for name in (*same, *more)}
        values["contradicts"] = list(map(contradiction_in_words, row.contradicts))
        return cls(says=sentence_of(row.kind, statement), statement=statement, **values)


class FactProposalPage(ResponseModel):
    fact_proposals: list[FactProposalOut] = Field(description="The proposals of this page.")
    next_cursor: NextCursor = None


class FactProposalQuery(SortedQuery):
    sort: Literal["created", "-created"] = "-created"
    state: Annotated[State, Field(description="By default those that wait.")] = "open"
    kind: Annotated[Kind | None, Field(description="Of this kind alone.")] = None
    source_ref: Annotated[
        str | None, Field(max_length=200, description="Of the text with this slug or id alone.")
    ] = None


class TextToRead(StrictModel):
    """A text to read for facts; without one, every text of the world is read in the background."""

    source_kind: Source = "lore"
    source_ref: str | None = Field(default=None, max_length=200)


class TextReadingOut(ResponseModel):
    """What reading a text has brought."""

    new: int = Field(description="Proposals that were made.")
    withdrawn: int = Field(description="Open ones that the text or the graph has made needless.")
    queued: bool = Field(description="True: the texts are read in the background.")


class FactProposalDecision(StrictModel):
    """One decision about many proposals. `reopen` takes a decision back with what it wrote."""

    decision: Literal["accept", "drop", "reopen"]
    ids: list[UUID] = Field(min_length=1, max_length=MOST_IDS)


class RefusedProposal(ResponseModel):
    """A proposal that could not be decided."""

    id: UUID
    reason: str


class FactProposalReceipt(ResponseModel):
    """What became of a decision about many proposals."""

    decided: int = Field(description="How many were decided.")
    refused: list[RefusedProposal] = Field(description="Those that stay as they are, and why.")


class FactProposalAcceptance(StrictModel):
    """`statement`: what to write instead of what was proposed."""

    statement: ProposedStatement | None = None


@router.get(
    "/fact-proposals",
    operation_id="fact_proposal_list",
    summary="List what texts propose",
    response=FactProposalPage,
)
def list_fact_proposals(
    request: HttpRequest, response: HttpResponse, query: Query[FactProposalQuery]
) -> dict[str, Any]:
    """Facts, aliases, dates, deaths and new names that were read in texts. Nothing of it is
    believed before it is accepted."""
    rows = proposals_of_caller(require_gm(request))
    wanted = {"state": query.state, "kind": query.kind, "source_ref": query.source_ref}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    return page_of(request, response, rows, query, SORTS).answer(
        "fact_proposals", FactProposalOut.of
    )


@router.post(
    "/fact-proposals/read",
    operation_id="fact_proposal_read",
    summary="Read a text for facts",
    response=TextReadingOut,
)
@own_transaction
def read_text_for_facts(request: HttpRequest, entry: Body[TextToRead]) -> dict[str, Any]:
    """Read an entry, an episode or a thread by rules, and by the language model when one is
    configured. Reading again brings only what is new: what was dropped does not come back."""
    if entry.source_ref is None:
        world = require_whole_world(request).world
        read_texts_of_world.delay(str(world.pk))
        return {"new": 0, "withdrawn": 0, "queued": True}
    caller = require_gm(request)
    source = find_source(
        caller.world, entry.source_kind, entry.source_ref, campaign=caller.campaign
    )
    result = read_source(caller.world, source)
    return {"new": result.new, "withdrawn": result.withdrawn, "queued": False}


@router.post(
    "/fact-proposals/decide",
    operation_id="fact_proposal_decide",
    summary="Decide what texts propose",
    response=FactProposalReceipt,
)
def decide_fact_proposals(
    request: HttpRequest, entry: Body[FactProposalDecision]
) -> dict[str, Any]:
    """Accept, drop or reopen many. Each is decided on its own; new names come before the facts
    about them."""
    caller = require_gm(request)
    result = decide_ids(proposals_of_caller(caller), entry.ids, entry.decision, by=name_of(caller))
    refused = [{"id": pk, "reason": reason} for pk, reason in result.refused.items()]
    return {"decided": result.decided, "refused": refused}


@router.post(
    "/fact-proposals/{uuid:proposal_id}/accept",
    operation_id="fact_proposal_accept",
    summary="Accept or correct what a text proposes",
    response=FactProposalOut,
)
def accept_fact_proposal(
    request: HttpRequest,
    response: HttpResponse,
    proposal_id: UUID,
    entry: Body[FactProposalAcceptance],
) -> FactProposalOut:
    """Writes the statement as it was proposed, or `statement`. 409 when it was decided already, or
    is about a new name that is not accepted yet; 400 for a death without a day."""
    caller = require_gm(request)
    row = proposals_of_caller(caller).filter(pk=proposal_id).first()
    if row is None:
        raise NotFound(f"There is no proposal {proposal_id} here.")
    with require_unchanged(request, row, FactProposalOut.of):
        row = accept(row, by=name_of(caller), changed=entry.statement)
    return with_tag(response, FactProposalOut.of(row))


class ThreadProposalIn(StrictModel):
    """`party_id`: whose episode it is, if the thread has no party."""

    party_id: str | None = Field(default=None, max_length=200)


@threads.post(
    "/threads/{thread_id}/propose",
    operation_id="thread_propose",
    summary="Propose an episode from a thread",
    response=Proposal,
)
@own_transaction
def propose_from_thread(
    request: HttpRequest, thread_id: str, entry: Body[ThreadProposalIn]
) -> Proposal:
    """Read the steps as a report is read: who was there, where, changes of mind with their
    sentences, what the party learned, facts, loose ends. Nothing is written: send what is right
    when the thread is consolidated."""
    caller = require_gm(request)
    thread = find_thread(caller.world, thread_id, campaign=caller.campaign)
    party_id = entry.party_id or (thread.party.slug if thread.party else None)
    if party_id is None:
        raise Invalid("Name the party whose episode this is: the thread has none.")
    party = find_party(caller.world, party_id, caller.campaign)
    party.world = caller.world
    return propose(Report(party, transcript_of(thread)))


def proposals_of_caller(caller: Caller) -> "QuerySet[FactProposal]":
    return proposals_of(caller.world, caller.campaign)


def name_of(caller: Caller) -> str:
    return str(caller.key or "site")
