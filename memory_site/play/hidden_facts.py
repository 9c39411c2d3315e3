"""Facts about things that are not for everyone, as parts that can be revealed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.models import Lore
from npcs.models import NPC
from worlds.audiences import GM, Audience, Visibility
from worlds.models import World

MOST_FACTS = 60
Thing = Lore | NPC


def hidden_facts(world: World, things: Sequence[Thing]) -> list[tuple[GraphEdge, Thing]]:
    """Return the facts that hold and are not public, each with one of `things` that it is about.
    Two statements."""
    if not things:
        return []
    view = View(world, GM)
    owners = owners_of_nodes(view, things)
    about = Q(src__in=owners) | Q(dst__in=owners)
    facts = view.facts().valid_on(None).filter(about).exclude(visibility=Visibility.PUBLIC)
    return [
        (fact, owners.get(fact.src_id) or owners[fact.dst_id])
        for fact in facts.order_by("-believed_from", "pk")[:MOST_FACTS]
    ]


def owners_of_nodes(view: View, things: Sequence[Thing]) -> Mapping[UUID, Thing]:
    """Return the thing that each entity stands for."""
    people = {each.slug: each for each in things if isinstance(each, NPC)}
    entries = {each.pk: each for each in things if isinstance(each, Lore)}
    of_person = Q(kind=NodeKind.CHARACTER, slug__in=people)
    rows = view.entities().filter(of_person | Q(lore__in=entries))
    return dict(_owners(rows.values_list("pk", "kind", "slug", "lore"), people, entries))


def _owners(
    rows: Iterable[tuple[UUID, str, str, UUID | None]],
    people: Mapping[str, NPC],
    entries: Mapping[UUID, Lore],
) -> Iterator[tuple[UUID, Thing]]:
    for pk, kind, slug, lore in rows:
        person = people.get(slug) if kind == NodeKind.CHARACTER else None
        if thing := person or (entries.get(lore) if lore else None):
            yield pk, thing


def unknown_ends(facts: Sequence[GraphEdge], audience: Audience) -> dict[UUID, str]:
    """Return the name of an end that `audience` does not know, for each fact that has one."""
    ends = {end for fact in facts for end in (fact.src_id, fact.dst_id)}
    nodes = GraphNode.objects.filter(pk__in=ends).visible_to(audience)
    known = set(nodes.values_list("pk", flat=True)) if ends else set()
    return {
        fact.pk: str(end) for fact in facts for end in (fact.dst, fact.src) if end.pk not in known
    }


def owner_of_fact(fact: GraphEdge) -> Thing | None:
    """Return the person or entry that a fact is about, for a reveal of it."""
    for node in (fact.src, fact.dst):
        npc = NPC.objects.filter(world=fact.world_id, slug=node.slug).first()
        if npc and node.kind == NodeKind.CHARACTER:
            return npc
        entry = node.lore
        if entry and not entry.deleted_at:
            return entry
    return None
