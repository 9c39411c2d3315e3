"""Entity linking: which entities of a world a text names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import Q

from knowledge.graph.models import GraphNode
from retrieval.errors import NotFound
from retrieval.text import KnownName, NameIndex, NameMention, query_keys
from worlds.audiences import GM, Audience
from worlds.models import World

MAX_CANDIDATES = 5000


@dataclass
class EntityLinker:
    """Resolves ids, slugs and names to the candidate entities of some texts."""

    nodes: Sequence[GraphNode]

    @classmethod
    def for_texts(
        cls, world: World, texts: Sequence[str], audience: Audience = GM
    ) -> "EntityLinker":
        """Fetch the entities that `texts` may name and that `audience` may know of."""
        ids = [uuid for text in texts if (uuid := parse_uuid(text))]
        matches = Q(pk__in=ids) | Q(slug__in=texts) | Q(keys__overlap=query_keys(" ".join(texts)))
        nodes = (
            GraphNode.objects.believed_now().in_world(world).visible_to(audience).filter(matches)
        )
        return cls(list(nodes.order_by("name", "pk")[:MAX_CANDIDATES]))

    @cached_property
    def by_id(self) -> dict[UUID, GraphNode]:
        return {node.pk: node for node in self.nodes}

    @cached_property
    def by_slug(self) -> dict[str, GraphNode]:
        return {node.slug: node for node in self.nodes}

    @cached_property
    def index(self) -> NameIndex:
        return NameIndex([KnownName(node.pk, node.name, node.aliases) for node in self.nodes])

    def resolve(self, ref: str | UUID) -> GraphNode:
        """Return the one entity with this id, slug or name. Raises `NotFound`, or `Ambiguous`
        with candidates."""
        if uuid := parse_uuid(str(ref)):
            if uuid not in self.by_id:
                raise NotFound(f"There is no entity {uuid} here.")
            return self.by_id[uuid]
        if str(ref) in self.by_slug:
            return self.by_slug[str(ref)]
        key = self.index.resolve(str(ref), what="entity")
        assert isinstance(key, UUID)
        return self.by_id[key]

    def mentions(self, text: str) -> list[NameMention]:
        return self.index.mentions(text)

    def mentioned_nodes(self, text: str) -> list[GraphNode]:
        """Return the entities that `text` names, without the ambiguous names."""
        clear = (mention for mention in self.mentions(text) if not mention.ambiguous)
        return [self.node_of(mention) for mention in clear]

    def node_of(self, mention: NameMention) -> GraphNode:
        key = mention.matches[0].key
        assert isinstance(key, UUID)
        return self.by_id[key]


def parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
