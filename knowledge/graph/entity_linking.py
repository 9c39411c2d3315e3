"""Which entities of a world a text names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import Q

from knowledge.graph.models import GraphNode
from retrieval.errors import NotFound
from retrieval.text import KnownName, Mention, NameIndex, query_keys
from worlds.audiences import GM, Audience
from worlds.models import World

MAX_CANDIDATES = 5000


@dataclass
class EntityLinker:
    """The entities that some texts may mean, ready to be resolved by id, slug or name."""

    nodes: Sequence[GraphNode]

    @classmethod
    def for_texts(
        cls, world: World, texts: Sequence[str], audience: Audience = GM
    ) -> "EntityLinker":
        """Narrow the world down, in the database, to what `texts` may mean and `audience` may know."""
        ids = [found for text in texts if (found := _uuid(text))]
        shown = GraphNode.objects.in_world(world).visible_to(audience).filter(believed_until=None)
        meant = Q(pk__in=ids) | Q(slug__in=texts) | Q(keys__overlap=query_keys(" ".join(texts)))
        return cls(list(shown.filter(meant).order_by("name", "pk")[:MAX_CANDIDATES]))

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
        """Return the one entity of this id, slug or name. Raises NotFound or Ambiguous with candidates."""
        if found := _uuid(str(ref)):
            if found not in self.by_id:
                raise NotFound(f"There is no entity {found} here.")
            return self.by_id[found]
        if str(ref) in self.by_slug:
            return self.by_slug[str(ref)]
        key = self.index.resolve(str(ref), what="entity")
        assert isinstance(key, UUID)
        return self.by_id[key]

    def mentions(self, text: str) -> list[Mention]:
        return self.index.mentions(text)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
