"""Write batches of facts: idempotent, validated, never overwriting an edge."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.dispatch import Signal
from django.utils.text import slugify
from django.utils.translation import gettext as _

from knowledge.graph.ancestry import ancestors
from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.fact_store import (
    FACT_FIELDS,
    end_predecessors,
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
from retrieval.text import numbered_slug
from worlds.models import Campaign, World

MAX_BATCH = 1000
BATCH = 500
NODE_FIELDS = (*FACT_FIELDS, "kind", "name", "aliases", "lore_id")
nodes_inserted = Signal()
"""Sent with `world` and `nodes` when many were inserted at once; `post_save` is sent for a single
one."""
LOCK_WORLD = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 37))"


def upsert_facts(world: World, facts: Sequence[GraphFact]) -> UpsertResult:
    """Write `facts` into `world`, all or none. Raises `Invalid` (kinds, loops, cycles),
    `NotFound`, `Ambiguous` (names) and `Conflict` (a database constraint)."""
    if len(facts) > MAX_BATCH:
        raise Invalid(
            _("%(count)s facts at once are too many: send at most %(most)s.")
            % {"count": len(facts), "most": MAX_BATCH}
        )
    try:
        with transaction.atomic():
            lock_graph(world)
            return Batch(world).write(facts)
    except IntegrityError as error:
        reason = error.args[0].splitlines()[0]
        raise Conflict(
            _("The database refuses these facts: %(reason)s") % {"reason": reason}
        ) from error


def require_own_entries(
    world: World, facts: Iterable[GraphFact], *, only: Campaign | None = None
) -> None:
    """Raise `Invalid` for entities that name as their entry one that `world` does not have, such as
    a hidden one of another world; with `only`, one of another campaign."""
    named = {fact.node.lore_id for fact in facts if fact.node and fact.node.lore_id}
    if not named:
        return
    # With those in the trash, which may come back.
    entries = GraphNode._meta.get_field("lore").related_model._base_manager
    rows = entries.filter(world=world, pk__in=named)
    if only:
        rows = rows.filter(Q(campaign=None) | Q(campaign=only))
    if missing := named - set(rows.values_list("pk", flat=True)):
        ids = ", ".join(map(str, sorted(missing)))
        raise Invalid(_("lore_id: no entry %(ids)s here.") % {"ids": ids})


def lock_graph(world: World) -> None:
    """Admit one writer at a time to the world's graph: two at once could miss each other's
    contradictions."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_WORLD, [str(world.pk)])


@dataclass
class Batch:
    """One write of facts into a world, with the relations that validate them."""

    world: World
    relations: Relations = field(default_factory=Relations.load)

    def write(self, facts: Sequence[GraphFact]) -> UpsertResult:
        nodes = self._write_nodes([fact.node for fact in facts if fact.node])
        edges = self._write_edges([fact.edge for fact in facts if fact.edge])
        conflicts = record_contradictions(
            self.world, edges=[edge.id for edge in edges], nodes=[node.id for node in nodes]
        )
        return UpsertResult(nodes=nodes, edges=edges, conflicts=conflicts)

    def _write_nodes(self, facts: Sequence[NodeFact]) -> list[FactOutcome]:
        """Create the nodes, or change those that exist by the fields that are sent."""
        known = KnownNodes(self.world, facts)
        new: list[GraphNode] = []
        outcomes = []
        for fact in facts:
            current = known.find(fact)
            if current is None:
                node = self._new_node(fact, taken=[each.slug for each in new])
                new.append(node)
                known.add(node)
                outcomes.append(FactOutcome(id=node.pk, outcome="created"))
            else:
                outcomes.append(self._change_node(current, fact))
                known.add(current)
        insert_nodes(self.world, new)
        return outcomes

    def _new_node(self, fact: NodeFact, *, taken: Sequence[str]) -> GraphNode:
        identity = {"id": fact.id} if fact.id else {}
        slug = fact.slug or free_slug(self.world, fact.name, also=taken)
        values = {name: getattr(fact, name) for name in NODE_FIELDS}
        return GraphNode(world=self.world, slug=slug, **identity, **values)

    def _change_node(self, current: GraphNode, fact: NodeFact) -> FactOutcome:
        values = {
            name: getattr(fact, name) for name in NODE_FIELDS if name in fact.model_fields_set
        }
        guard = GraphNode(
            visibility=values.get("visibility", current.visibility),
            known_to=values.get("known_to", current.known_to),
        )
        keep_revelations(current, guard)
        values |= {"visibility": guard.visibility, "known_to": guard.known_to}
        if all(getattr(current, name) == value for name, value in values.items()):
            return FactOutcome(id=current.pk, outcome="unchanged")
        for name, value in values.items():
            setattr(current, name, value)
        # A node of this batch is inserted with its last values.
        if not current._state.adding:
            current.save()
        return FactOutcome(id=current.pk, outcome="changed")

    def _write_edges(self, facts: Sequence[EdgeFact]) -> list[FactOutcome]:
        if not facts:
            return []
        # Names are resolved after the nodes are written: an edge may name a node of its own batch.
        ends = [str(end) for edge in facts for end in (edge.src, edge.dst)]
        linker = EntityLinker.for_texts(self.world, ends)
        return [self._write_edge(fact, linker) for fact in facts]

    def _write_edge(self, fact: EdgeFact, linker: EntityLinker) -> FactOutcome:
        src, dst = (linker.resolve(end, resembling=False) for end in (fact.src, fact.dst))
        self.relations.require_joinable(fact.relation, src.kind, dst.kind)
        if src.pk == dst.pk:
            raise Invalid(
                _("%(src)s cannot have the relation %(relation)s to itself.")
                % {"src": src.name, "relation": fact.relation}
            )
        written_from = src
        relation, src, dst = stored_form(self.relations, fact.relation, src, dst)
        if relation.acyclic and src.pk in ancestors([dst.pk], relation.code)[dst.pk]:
            raise Invalid(
                _("%(dst)s is already %(code)s %(src)s: the reverse would make a cycle.")
                % {"dst": dst.name, "code": relation.code, "src": src.name}
            )
        edge = GraphEdge(
            world=self.world,
            src=src,
            dst=dst,
            relation_id=relation.code,
            src_kind=src.kind,
            dst_kind=dst.kind,
            label=fact.label,
            written_as="" if src == written_from else fact.relation,
            **{name: getattr(fact, name) for name in FACT_FIELDS},
        )
        result = save_fact(edge, sent=fact.model_fields_set)
        if fact.succeeds and fact.since is not None:
            end_predecessors(GraphEdge.objects.get(pk=result.id), fact.since)
        if result.outcome != "unchanged" and fact.rests_on:
            rows = GraphEdge.objects.filter(world=self.world, pk__in=fact.rests_on)
            basis = set(rows.values_list("pk", flat=True))
            if missing := set(fact.rests_on) - basis:
                raise NotFound(
                    _("rests_on: no fact %(ids)s here.")
                    % {"ids": ", ".join(map(str, sorted(missing)))}
                )
            edge.rests_on.add(*basis)
        return result


class KnownNodes:
    """The nodes that some facts may mean: found by id, else by slug; without either, by kind and
    exact name."""

    def __init__(self, world: World, facts: Sequence[NodeFact]) -> None:
        self.world = world
        ids = {fact.id for fact in facts if fact.id}
        slugs = {fact.slug for fact in facts if fact.slug}
        names = {fact.name for fact in facts if not fact.slug and not fact.id}
        self.by_id: dict[UUID, GraphNode] = GraphNode.objects.in_bulk(ids) if ids else {}
        self.by_slug: dict[str, GraphNode] = {}
        self.by_name: dict[tuple[str, str], GraphNode] = {}
        believed = GraphNode.objects.believed_now().filter(world=world)
        # Two queries: an OR of both would use no index.
        for narrowed in [{"slug__in": slugs}] * bool(slugs) + [{"name__in": names}] * bool(names):
            for node in believed.filter(**narrowed):
                self.add(self.by_id.get(node.pk, node))

    def add(self, node: GraphNode) -> None:
        self.by_id[node.pk] = node
        if node.believed_until is None:
            self.by_slug.setdefault(node.slug, node)
            self.by_name.setdefault((node.kind, node.name), node)

    def find(self, fact: NodeFact) -> GraphNode | None:
        node = self.by_id.get(fact.id) if fact.id else None
        if node and node.world_id != self.world.pk:
            raise NotFound(_("There is no entity %(id)s here.") % {"id": fact.id})
        if node is None and fact.slug:
            return self.by_slug.get(fact.slug)
        if node is None and not fact.id:
            return self.by_name.get((fact.kind, fact.name))
        return node


def stored_form(
    relations: Relations, code: str, src: GraphNode, dst: GraphNode
) -> tuple[Relation, GraphNode, GraphNode]:
    """Return the one form in which this edge is stored: an inverse relation reversed, a symmetric
    one from the lesser id to the greater."""
    relation = relations.require(code)
    if relation.stored_as:
        return relations.require(relation.stored_as), dst, src
    if relation.symmetric and dst.pk < src.pk:
        return relation, dst, src
    return relation, src, dst


def insert_nodes(world: World, nodes: Sequence[GraphNode]) -> None:
    """Insert new nodes of a world, and tell who follows them."""
    if nodes:
        GraphNode.objects.bulk_create(nodes, batch_size=BATCH)
        nodes_inserted.send(GraphNode, world=world, nodes=nodes)


def free_slug(world: World, name: str, *, also: Collection[str] = ()) -> str:
    """A slug made from the name that no other entity of the world has, and that is not in
    `also`."""
    slug = slugify(name, allow_unicode=True)[:110] or "entity"
    same_start = GraphNode.objects.filter(world=world, slug__startswith=slug)
    slugs = {*same_start.values_list("slug", flat=True), *also}
    return numbered_slug(slug, slugs)


def replace_source_facts(
    world: World, facts: Sequence[GraphFact], *, source: Provenance
) -> UpsertResult:
    """Write what a new version of a source says, and retract what only its earlier version said."""
    with transaction.atomic():
        result = upsert_facts(world, facts)
        of_source = GraphEdge.objects.believed_now().filter(
            world=world, source_kind=source.source_kind, source_ref=source.source_ref
        )
        obsolete = list(of_source.exclude(pk__in=[fact.id for fact in result.edges]))
        if obsolete:
            retract_facts(obsolete, because="its source no longer says so")
    return result
