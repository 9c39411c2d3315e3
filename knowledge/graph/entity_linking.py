"""Entity linking: which entities of a world a text names."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.graph.models import GraphNode
from knowledge.graph.protocol import View
from knowledge.graph.querysets import FactQuerySet
from retrieval.errors import NotFound
from retrieval.text import KnownName, NameIndex, NameMention
from worlds.audiences import GM, Audience
from worlds.models import World
from worlds.stored_names import index_of_names


@dataclass
class EntityLinker:
    """Resolves ids, slugs and names to the candidate entities of some texts. Without `typos`
    misspelt names are not looked for, which is many times as fast."""

    nodes: Sequence[GraphNode]
    typos: bool = True

    @classmethod
    def for_texts(
        cls, world: World, texts: Sequence[str], audience: Audience = GM
    ) -> "EntityLinker":
        """Fetch the entities that `texts` may name and that `audience` may know of."""
        return cls._among(
            GraphNode.objects.believed_now().in_world(world).visible_to(audience), texts
        )

    @classmethod
    def for_view(cls, view: View, texts: Sequence[str]) -> "EntityLinker":
        """Fetch the entities that `texts` may name and that `view` shows."""
        return cls._among(view.entities(), texts)

    @classmethod
    def _among(cls, nodes: FactQuerySet, texts: Sequence[str]) -> "EntityLinker":
        named = index_of_names(nodes, " ".join(texts), name="name", keys="keys")
        ids = [uuid for text in texts if (uuid := parse_uuid(text))]
        ids += [entry.key for entry in named.entries if isinstance(entry.key, UUID)]
        return cls(list(nodes.filter(Q(pk__in=ids) | Q(slug__in=texts)).order_by("name", "pk")))

    @cached_property
    def by_id(self) -> dict[UUID, GraphNode]:
        return {node.pk: node for node in self.nodes}

    @cached_property
    def by_slug(self) -> dict[str, GraphNode]:
        return {node.slug: node for node in self.nodes}

    @cached_property
    def index(self) -> NameIndex:
        return NameIndex([KnownName(node.pk, node.name, node.aliases) for node in self.nodes])

    def resolve(self, ref: str | UUID, *, resembling: bool = True) -> GraphNode:
        """Return the one entity with this id, slug or name; for writing, without `resembling`, not
        one whose name `ref` misspells or shortens. Raises `NotFound`, or `Ambiguous`, with
        candidates."""
        if uuid := parse_uuid(str(ref)):
            if uuid not in self.by_id:
                raise NotFound(_("There is no entity %(uuid)s here.") % {"uuid": uuid})
            return self.by_id[uuid]
        if str(ref) in self.by_slug:
            return self.by_slug[str(ref)]
        resolve = self.index.resolve if resembling else self.index.resolve_spelled
        key = resolve(str(ref), what="entity", ids=self._slugs_of)
        assert isinstance(key, UUID)
        return self.by_id[key]

    def _slugs_of(self, keys: Sequence[Hashable]) -> dict[Hashable, str]:
        return {node.pk: node.slug for node in self.nodes if node.pk in keys}

    def mentions(self, text: str) -> list[NameMention]:
        return self.index.mentions(text, typos=self.typos)

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
