"""REST endpoints of the relation graph: write and retract facts, query the graph, decide
contradictions."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router
from pydantic import Field, FiniteFloat

from knowledge.graph.caller_views import view_at
from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.contradictions import contradictions_of
from knowledge.graph.decisions import DECISIONS, remove_flag, resolve_contradiction, undo_decision
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.presenters import to_contradiction_out, to_fact_out
from knowledge.graph.protocol import MAX_DEPTH, View
from knowledge.graph.schemas import (
    BelievedAt,
    ContradictionOut,
    FactOut,
    FactPage,
    GraphFact,
    GraphNeighborhood,
    GraphPath,
    UpsertResult,
    audiences_in_facts,
)
from knowledge.graph.store_selection import graph_store_for
from knowledge.graph.upsert import MAX_BATCH, require_own_entries, upsert_facts
from retrieval.errors import NotFound
from worlds.audience_names import missing_audiences, require_audiences
from worlds.base_schemas import StrictModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, require_gm
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, with_tag
from worlds.schemas import NextCursor

READ, WRITE = NeedsKey(Scope.TOOLS_READ), NeedsKey(Scope.WORLD_WRITE)
router = Router(tags=["graph"], auth=WRITE)
SORTS = {"created": "id", "updated": "believed_from", "name": "label"}
CONTRADICTION_SORTS = {"created": "id", "updated": "opened_at"}
Entity = Annotated[str, Field(min_length=1, max_length=200, description="Id, slug or name.")]
Date = Annotated[str, Field(max_length=200)]
WorldDay = Annotated[
    FiniteFloat | Date | None,
    Field(description="World day, or a date of the world's calendar; empty: the present."),
]


class FactBatch(StrictModel):
    facts: Annotated[list[GraphFact], Field(min_length=1, max_length=MAX_BATCH)]


class FactRetraction(StrictModel):
    reason: Annotated[str, Field(min_length=1, max_length=150)]


class FlaggedFacts(StrictModel):
    """The facts that rested on a retracted fact, now flagged for a person to check."""

    flagged: list[UUID]


class ContradictionDecision(StrictModel):
    how: Annotated[str, Field(description=", ".join(DECISIONS))]
    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    at: FiniteFloat | None = None


class ContradictionPage(StrictModel):
    contradictions: list[ContradictionOut]
    next_cursor: NextCursor = None


class ContradictionListQuery(ListQuery):
    sort: TimeSort = "-created"
    state: Annotated[
        Literal["open", "resolved"] | None, Field(description="`open`: nobody has decided yet.")
    ] = "open"


class FactListQuery(ListQuery):
    relation: Annotated[
        str | None, Field(max_length=40, description="Code of a relation, such as PART_OF.")
    ] = None
    entity: Annotated[
        str | None, Field(max_length=200, description="Id, slug or name of one end.")
    ] = None
    flagged: Annotated[bool | None, Field(description="true: those that need a review.")] = None
    at: Annotated[
        FiniteFloat | Date | None,
        Field(description="What holds on this world day or date; empty: past and present facts."),
    ] = None
    believed_at: BelievedAt = None


class NeighborsQuery(StrictModel):
    at: WorldDay = None
    believed_at: BelievedAt = None
    entity: Entity
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 1


class PathQuery(StrictModel):
    at: WorldDay = None
    believed_at: BelievedAt = None
    src: Entity
    dst: Entity
    max_depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 4


@router.post(
    "/facts",
    operation_id="graph_upsert_facts",
    summary="Create or update facts",
    response=UpsertResult,
)
def write_facts(request: HttpRequest, batch: Body[FactBatch]) -> UpsertResult:
    """Write all facts or none. Sending the same facts again changes nothing. A fact that
    contradicts another is stored beside it, and the answer lists the contradiction."""
    caller = require_gm(request)
    require_facts_audiences(caller, batch.facts)
    require_own_entries(caller.world, batch.facts, only=caller.campaign)
    return upsert_facts(caller.world, batch.facts)


def require_facts_audiences(caller: Caller, facts: Sequence[GraphFact]) -> None:
    """Raise `Invalid` for audiences that the caller's world, or campaign, lacks and that no stored
    fact names."""
    world, sent = caller.world, audiences_in_facts(facts)
    missing = missing_audiences(world, sent)
    models: tuple[type[GraphNode | GraphEdge], ...] = (GraphNode, GraphEdge)
    stored = {
        name
        for name in missing
        for model in models
        if model._base_manager.filter(world=world, known_to__contains=[name]).exists()
    }
    require_audiences(world, sent, stored=stored, only=caller.campaign)


@router.get("/facts", operation_id="graph_facts", summary="List facts", response=FactPage)
def list_facts(
    request: HttpRequest, response: HttpResponse, query: Query[FactListQuery]
) -> dict[str, Any]:
    """What is believed, now or at a real time of the past, as a game master sees it."""
    caller = require_gm(request)
    view = view_at(caller, query.at, query.believed_at)
    rows: Any = view.facts()
    if query.relation:
        rows = rows.filter(relation=query.relation)
    if query.entity:
        linker = EntityLinker.for_view(view, [query.entity])
        node = linker.resolve(query.entity).pk
        rows = rows.filter(Q(src=node) | Q(dst=node))
    if query.flagged is not None:
        rows = rows.exclude(flag="") if query.flagged else rows.filter(flag="")
    if query.at is not None:
        rows = rows.valid_on(view.at)
    page = page_of(request, response, rows, query, SORTS)
    return page.answer("facts", to_fact_out)


def facts_of_entities(caller: Caller) -> Any:
    """The facts of the world whose two ends are there: the entity of an entry or NPC in the trash
    is not."""
    facts = GraphEdge.objects.filter(world=caller.world)
    return facts.filter(src__believed_until=None, dst__believed_until=None)


@router.get("/facts/{fact_id}", operation_id="graph_fact", summary="Get a fact", response=FactOut)
def get_fact(request: HttpRequest, response: HttpResponse, fact_id: Path[UUID]) -> FactOut:
    """Also one that is believed no longer: it has `believed_until`."""
    return with_tag(response, to_fact_out(find_fact(require_gm(request), fact_id)))


@router.post(
    "/facts/{fact_id}/checked",
    operation_id="graph_fact_checked",
    summary="Remove the flag of a fact",
    response=FactOut,
)
def check_fact(request: HttpRequest, response: HttpResponse, fact_id: Path[UUID]) -> FactOut:
    """A game master has looked at it: what it rested on was retracted, yet it holds."""
    caller = require_gm(request)
    fact = find_fact(caller, fact_id)
    with require_unchanged(request, fact, to_fact_out, locks=False):
        remove_flag(fact, by=f"key {caller.key}" if caller.key else "api")
    fact.refresh_from_db(fields=["flag"])
    return with_tag(response, to_fact_out(fact))


def find_fact(caller: Caller, fact_id: UUID) -> GraphEdge:
    rows = facts_of_entities(caller).filter(pk=fact_id)
    fact: GraphEdge | None = rows.select_related("src", "dst").first()
    if fact is None:
        raise NotFound(f"There is no fact {fact_id} here.")
    return fact


@router.post(
    "/facts/{fact_id}/retract",
    operation_id="graph_retract",
    summary="Retract a fact",
    response=FlaggedFacts,
)
def retract_fact(
    request: HttpRequest, fact_id: Path[UUID], retraction: Body[FactRetraction]
) -> FlaggedFacts:
    """The fact stays in the history and in reads with an earlier `believed_at`."""
    rows = GraphEdge.objects.believed_now().filter(world=require_gm(request).world, pk=fact_id)
    fact = rows.select_related("src", "dst").first()
    if fact is None:
        raise NotFound(f"There is no fact {fact_id} here.")
    with require_unchanged(request, fact, to_fact_out, locks=False):
        facts_to_check = retract_facts([fact], because=retraction.reason)
    return FlaggedFacts(flagged=[fact.pk for fact in facts_to_check])


@router.get(
    "/neighbors",
    operation_id="graph_neighbors",
    summary="Get the neighborhood of an entity",
    response=GraphNeighborhood,
    auth=READ,
)
def get_neighbors(request: HttpRequest, query: Query[NeighborsQuery]) -> GraphNeighborhood:
    view, (center,) = view_and_nodes(request, query, query.entity)
    return async_to_sync(graph_store_for(view).neighbors)(center, query.depth)


@router.get(
    "/path",
    operation_id="graph_path",
    summary="Get the shortest path between two entities",
    response=GraphPath,
    auth=READ,
)
def get_path(request: HttpRequest, query: Query[PathQuery]) -> GraphPath:
    """Both lists are empty if there is no path of at most `max_depth` facts."""
    view, (src, dst) = view_and_nodes(request, query, query.src, query.dst)
    return async_to_sync(graph_store_for(view).shortest_path)(src, dst, query.max_depth)


@router.get(
    "/contradictions",
    operation_id="graph_contradictions",
    summary="List contradictions",
    response=ContradictionPage,
)
def list_contradictions(
    request: HttpRequest, response: HttpResponse, query: Query[ContradictionListQuery]
) -> dict[str, Any]:
    """Pairs of facts that a rule of the relation forbids, by default those that nobody has
    decided."""
    rows = contradictions_of(require_gm(request).world)
    if query.state:
        rows = rows.filter(state=query.state)
    page = page_of(request, response, rows, query, CONTRADICTION_SORTS)
    return page.answer("contradictions", to_contradiction_out)


@router.get(
    "/contradictions/{contradiction_id}",
    operation_id="graph_contradiction",
    summary="Get a contradiction",
    response=ContradictionOut,
)
def get_contradiction(
    request: HttpRequest, response: HttpResponse, contradiction_id: Path[UUID]
) -> ContradictionOut:
    """The two facts and, when it was decided, how and by whom."""
    row = find_contradiction(require_gm(request), contradiction_id)
    return with_tag(response, to_contradiction_out(row))


@router.post(
    "/contradictions/{contradiction_id}/resolve",
    operation_id="graph_resolve",
    summary="Decide a contradiction",
    response=FlaggedFacts,
)
def decide(
    request: HttpRequest, contradiction_id: Path[UUID], decision: Body[ContradictionDecision]
) -> FlaggedFacts:
    """Once: the losing fact ends or is retracted, and what rested on it is flagged. 409 when it
    was decided already."""
    caller = require_gm(request)
    row = find_contradiction(caller, contradiction_id)
    by = f"key {caller.key}" if caller.key else "api"
    with require_unchanged(request, row, to_contradiction_out, locks=False):
        resolution = resolve_contradiction(
            row, how=decision.how, reason=decision.reason, by=by[:150], at=decision.at
        )
    return FlaggedFacts(flagged=[fact.pk for fact in resolution.flagged_facts])


@router.post(
    "/contradictions/{contradiction_id}/reopen",
    operation_id="graph_reopen",
    summary="Undo the decision about a contradiction",
    response=ContradictionOut,
)
def reopen(
    request: HttpRequest, response: HttpResponse, contradiction_id: Path[UUID]
) -> ContradictionOut:
    """Its facts are again as they were before the decision, as new rows. 409 when nobody decided
    it, or when a fact was changed since."""
    caller = require_gm(request)
    row = find_contradiction(caller, contradiction_id)
    with require_unchanged(request, row, to_contradiction_out, locks=False):
        undo_decision(row)
    return with_tag(response, to_contradiction_out(find_contradiction(caller, contradiction_id)))


def find_contradiction(caller: Caller, contradiction_id: UUID) -> Contradiction:
    row = contradictions_of(caller.world).filter(pk=contradiction_id).first()
    if row is None:
        raise NotFound(f"There is no contradiction {contradiction_id} here.")
    return row


def view_and_nodes(
    request: HttpRequest, query: NeighborsQuery | PathQuery, *refs: str
) -> tuple[View, list[UUID]]:
    """Return the caller's view and the ids of the named entities. Raises `NotFound`,
    `Ambiguous`, `Forbidden`."""
    view = view_at(caller_of(request), query.at, query.believed_at)
    linker = EntityLinker.for_view(view, refs)
    return view, [linker.resolve(ref).pk for ref in refs]
