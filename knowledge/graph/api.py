"""REST for engines: tell facts, take them back, walk the graph, see and decide contradictions."""

from typing import Annotated
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import HttpRequest
from ninja import Body, Path, Query, Router
from pydantic import Field, FiniteFloat

from knowledge.graph.contradictions import open_contradictions, to_out
from knowledge.graph.decisions import DECISIONS, resolve_contradiction
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import Contradiction, GraphEdge
from knowledge.graph.protocol import MAX_DEPTH, View
from knowledge.graph.schemas import (
    ContradictionOut,
    GraphFact,
    GraphNeighborhood,
    GraphPath,
    UpsertResult,
)
from knowledge.graph.store_selection import graph_store_for
from knowledge.graph.upsert import MAX_BATCH, upsert_facts
from retrieval.errors import NotFound
from worlds.base_schemas import StrictModel
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, require_gm

router = Router(tags=["graph"])
READ, WRITE = NeedsKey(Scope.TOOLS_READ), NeedsKey(Scope.WORLD_WRITE)
PAGE = 100
Entity = Annotated[str, Field(min_length=1, max_length=200, description="Id, slug or name.")]


class Facts(StrictModel):
    facts: Annotated[list[GraphFact], Field(min_length=1, max_length=MAX_BATCH)]


class Retraction(StrictModel):
    reason: Annotated[str, Field(min_length=1, max_length=150)]


class Flagged(StrictModel):
    """The facts that rested on it, each flagged for a person to look at."""

    flagged: list[UUID]


class Decision(StrictModel):
    how: Annotated[str, Field(description=", ".join(DECISIONS))]
    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    at: FiniteFloat | None = None


class Conflicts(StrictModel):
    contradictions: list[ContradictionOut]


class Walk(StrictModel):
    """`at`: world day; none is the present."""

    at: FiniteFloat | None = None


class Around(Walk):
    entity: Entity
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 1


class Between(Walk):
    src: Entity
    dst: Entity
    max_depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 4


@router.post(
    "/facts",
    operation_id="graph_upsert_facts",
    summary="Tell facts",
    response=UpsertResult,
    auth=WRITE,
)
def tell(request: HttpRequest, batch: Body[Facts]) -> UpsertResult:
    """All or none. The same facts again change nothing. A fact that contradicts another is kept as contested, and the
    contradiction comes back in the answer."""
    return upsert_facts(require_gm(request).world, batch.facts)


@router.post(
    "/facts/{fact_id}/retract",
    operation_id="graph_retract",
    summary="Take a fact back",
    response=Flagged,
    auth=WRITE,
)
def take_back(request: HttpRequest, fact_id: Path[UUID], retraction: Body[Retraction]) -> Flagged:
    """It stays as history: what was believed then can still be asked."""
    facts = GraphEdge.objects.believed().filter(world=require_gm(request).world, pk=fact_id)
    if not facts:
        raise NotFound(f"There is no fact {fact_id} here.")
    return Flagged(
        flagged=[fact.pk for fact in retract_facts(list(facts), because=retraction.reason)]
    )


@router.get(
    "/neighbors",
    operation_id="graph_neighbors",
    summary="What is around an entity",
    response=GraphNeighborhood,
    auth=READ,
)
def around(request: HttpRequest, wanted: Query[Around]) -> GraphNeighborhood:
    view, (center,) = _view(request, wanted, wanted.entity)
    return async_to_sync(graph_store_for(view).neighbors)(center, wanted.depth)


@router.get(
    "/path",
    operation_id="graph_path",
    summary="How two entities are connected",
    response=GraphPath,
    auth=READ,
)
def path(request: HttpRequest, wanted: Query[Between]) -> GraphPath:
    """No path of at most `max_depth` facts: both lists are empty."""
    view, (src, dst) = _view(request, wanted, wanted.src, wanted.dst)
    return async_to_sync(graph_store_for(view).shortest_path)(src, dst, wanted.max_depth)


@router.get(
    "/contradictions",
    operation_id="graph_contradictions",
    summary="Open contradictions",
    response=Conflicts,
    auth=WRITE,
)
def contradictions(request: HttpRequest) -> Conflicts:
    """The newest hundred."""
    return Conflicts(
        contradictions=[
            to_out(one) for one in open_contradictions(require_gm(request).world)[:PAGE]
        ]
    )


@router.post(
    "/contradictions/{contradiction_id}/resolve",
    operation_id="graph_resolve",
    summary="Decide a contradiction",
    response=Flagged,
    auth=WRITE,
)
def decide(request: HttpRequest, contradiction_id: Path[UUID], decision: Body[Decision]) -> Flagged:
    caller = require_gm(request)
    found = Contradiction.objects.filter(world=caller.world, pk=contradiction_id).first()
    if found is None:
        raise NotFound(f"There is no contradiction {contradiction_id} here.")
    by = f"key {caller.key}" if caller.key else "api"
    resolution = resolve_contradiction(
        found, how=decision.how, reason=decision.reason, by=by[:150], at=decision.at
    )
    return Flagged(flagged=[fact.pk for fact in resolution.flagged])


def _view(request: HttpRequest, wanted: Walk, *names: str) -> tuple[View, list[UUID]]:
    caller = caller_of(request)
    known = EntityLinker.for_texts(caller.world, names, caller.audience)
    return View(caller.world, caller.audience, wanted.at), [
        known.resolve(name).pk for name in names
    ]
