"""Write facts: idempotent, checked, never overwriting. A changed fact is a new row; the old one stays as history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils.text import slugify

from knowledge.graph.ancestry import ancestors
from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.fact_store import (
    FACT_FIELDS,
    end_fact,
    keep_revelations,
    retract_facts,
    save_fact,
)
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.relations import Relation, Relations
from knowledge.graph.schemas import (
    EdgeFact,
    FactOutcome,
    GraphFact,
    NodeFact,
    Provenance,
    UpsertResult,
)
from retrieval.errors import Conflict, Invalid, NotFound
from worlds.models import World

MAX_BATCH = 1000
NODE_FIELDS = (*FACT_FIELDS, "kind", "name", "aliases", "lore_id")
LOCK_WORLD = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 37))"


def upsert_facts(world: World, facts: Sequence[GraphFact]) -> UpsertResult:
    """Write `facts` into `world`, all or none. Raises Invalid (kinds, loops, cycles), NotFound, Ambiguous (names)."""
    if len(facts) > MAX_BATCH:
        raise Invalid(f"{len(facts)} facts at once are too many: send at most {MAX_BATCH}.")
    try:
        with transaction.atomic():
            lock_graph(world)
            return _Batch(world).write(facts)
    except IntegrityError as error:
        raise Conflict(
            f"The database refuses these facts: {error.args[0].splitlines()[0]}"
        ) from error


def lock_graph(world: World) -> None:
    """Let one writer at a time into the world's graph, so that two cannot contradict each other unseen."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_WORLD, [str(world.pk)])


@dataclass
class _Batch:
    world: World
    relations: Relations = field(default_factory=Relations.load)

    def write(self, facts: Sequence[GraphFact]) -> UpsertResult:
        nodes = [self._node(fact.node) for fact in facts if fact.node]
        edges = [fact.edge for fact in facts if fact.edge]
        ends = self._ends(edges)
        written = [self._edge(edge, ends) for edge in edges]
        met = record_contradictions(
            self.world, edges=[fact.id for fact in written], nodes=[fact.id for fact in nodes]
        )
        return UpsertResult(nodes=nodes, edges=written, conflicts=met)

    def _node(self, fact: NodeFact) -> FactOutcome:
        known = self._known_node(fact)
        values = {name: getattr(fact, name) for name in NODE_FIELDS}
        if known is None:
            slug = fact.slug or free_slug(self.world, fact.name)
            made = GraphNode.objects.create(world=self.world, slug=slug, **_with_id(fact), **values)
            return FactOutcome(id=made.pk, outcome="created")
        told = GraphNode(visibility=fact.visibility, known_to=fact.known_to)
        keep_revelations(known, told)
        values |= {"visibility": told.visibility, "known_to": told.known_to}
        if all(getattr(known, name) == value for name, value in values.items()):
            return FactOutcome(id=known.pk, outcome="unchanged")
        for name, value in values.items():
            setattr(known, name, value)
        known.save()
        return FactOutcome(id=known.pk, outcome="changed")

    def _known_node(self, fact: NodeFact) -> GraphNode | None:
        """By id, else by slug, else by kind and exact name."""
        here = GraphNode.objects.filter(world=self.world)
        known: GraphNode | None = GraphNode.objects.filter(pk=fact.id).first() if fact.id else None
        if known:
            if known.world_id != self.world.pk:
                raise NotFound(f"There is no entity {fact.id} here.")
            return known
        if fact.slug:
            here = here.filter(slug=fact.slug)
        elif fact.id:
            here = here.none()
        else:
            here = here.filter(kind=fact.kind, name=fact.name)
        found: GraphNode | None = here.first()
        return found

    def _ends(self, edges: list[EdgeFact]) -> EntityLinker:
        return EntityLinker.for_texts(
            self.world, [str(end) for edge in edges for end in (edge.src, edge.dst)]
        )

    def _edge(self, fact: EdgeFact, ends: EntityLinker) -> FactOutcome:
        src, dst = ends.resolve(fact.src), ends.resolve(fact.dst)
        self.relations.require_joinable(fact.relation, src.kind, dst.kind)
        if src.pk == dst.pk:
            raise Invalid(f"{src.name} cannot stand in {fact.relation} to itself.")
        relation, src, dst = stored_form(self.relations, fact.relation, src, dst)
        self._check_cycle(relation, src, dst)
        wanted = GraphEdge(
            world=self.world,
            src=src,
            dst=dst,
            relation_id=relation.code,
            src_kind=src.kind,
            dst_kind=dst.kind,
            label=fact.label,
            **{name: getattr(fact, name) for name in FACT_FIELDS},
        )
        written = save_fact(wanted)
        if fact.succeeds and fact.since is not None:
            _end_earlier(wanted, fact.since)
        if written.outcome != "unchanged":
            _rest(self.world, wanted, fact.rests_on)
        return written

    def _check_cycle(self, relation: Relation, src: GraphNode, dst: GraphNode) -> None:
        if relation.acyclic and src.pk in ancestors([dst.pk], relation.code)[dst.pk]:
            raise Invalid(
                f"{dst.name} is already {relation.code} {src.name}: the other way round would be a circle."
            )


def stored_form(
    relations: Relations, code: str, src: GraphNode, dst: GraphNode
) -> tuple[Relation, GraphNode, GraphNode]:
    """Return the one way in which this edge is kept."""
    relation = relations.require(code)
    if relation.stored_as:
        return relations.require(relation.stored_as), dst, src
    if relation.symmetric and dst.pk < src.pk:
        return relation, dst, src
    return relation, src, dst


def _with_id(fact: NodeFact) -> dict[str, Any]:
    return {"id": fact.id} if fact.id else {}


def free_slug(world: World, name: str) -> str:
    slug = slugify(name, allow_unicode=True)[:110] or "entity"
    taken = set(
        GraphNode.objects.filter(world=world, slug__startswith=slug).values_list("slug", flat=True)
    )
    return next(
        s for s in (slug, *(f"{slug}-{n}" for n in range(2, len(taken) + 3))) if s not in taken
    )


def _end_earlier(wanted: GraphEdge, day: float) -> None:
    """End on `day` what held before `wanted` of the same relation from the same entity."""
    earlier = GraphEdge.objects.believed().filter(
        src=wanted.src, relation=wanted.relation_id, until=None
    )
    for edge in earlier.exclude(dst=wanted.dst).select_for_update():
        if edge.since is None or edge.since < day:
            end_fact(edge, day)


def _rest(world: World, wanted: GraphEdge, ids: Iterable[UUID]) -> None:
    found = set(GraphEdge.objects.filter(world=world, pk__in=ids).values_list("pk", flat=True))
    if missing := set(ids) - found:
        raise NotFound(f"There is no fact {', '.join(map(str, sorted(missing)))} to rest on.")
    wanted.rests_on.add(*found)


def replace_source_facts(
    world: World, facts: Sequence[GraphFact], *, source: Provenance
) -> UpsertResult:
    """Write what a source says now, and take back what it said before and says no longer (a new version of an episode
    or of a lore entry)."""
    with transaction.atomic():
        written = upsert_facts(world, facts)
        said = GraphEdge.objects.believed().filter(
            world=world, source_kind=source.source_kind, source_ref=source.source_ref
        )
        gone = list(said.exclude(pk__in=[fact.id for fact in written.edges]))
        if gone:
            retract_facts(gone, because="its source no longer says so")
    return written
