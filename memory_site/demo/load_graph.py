"""The demo world's relation graph, as facts of the graph."""

from knowledge.graph.models import SourceKind
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import record
from knowledge.models import Lore
from memory_site.demo.world_files import DemoWorld, Edge, Node
from worlds.models import World

SOURCES = {"lore": SourceKind.LORE, "episode": SourceKind.EPISODE}


def load_graph(demo: DemoWorld, world: World) -> dict[str, int]:
    """Write the demo's entities and facts into `world`; twice changes nothing. Its planted contradiction is opened."""
    lore = dict(Lore.objects.filter(world=world, campaign=None).values_list("slug", "pk"))
    nodes = [
        _node(node).model_copy(update={"lore_id": lore.get(node.lore)})
        for node in demo.nodes.values()
    ]
    written = record(
        world, [*_facts(nodes), *(GraphFact(edge=_edge(edge)) for edge in demo.graph.facts)]
    )
    return {"entities": len(written.nodes), "facts": len(written.edges)}


def _facts(nodes: list[NodeFact]) -> list[GraphFact]:
    return [GraphFact(node=node) for node in nodes]


def _node(node: Node) -> NodeFact:
    return NodeFact(
        slug=node.id,
        kind=node.kind,
        name=node.name,
        aliases=node.aliases,
        visibility=node.visibility,
        known_to=node.known_to,
        source_kind=SourceKind.LORE if node.lore else SourceKind.EDITOR,
        source_ref=node.lore,
    )


def _edge(edge: Edge) -> EdgeFact:
    kind, _colon, ref = edge.source.partition(":")
    source = SOURCES.get(kind, SourceKind.EDITOR)
    return EdgeFact(
        src=edge.src,
        relation=edge.edge,
        dst=edge.dst,
        label=edge.label,
        since=edge.since,
        until=edge.until,
        visibility=edge.visibility,
        known_to=edge.known_to,
        source_kind=source,
        source_ref=ref if source != SourceKind.EDITOR else edge.source,
    )
