"""Which pictures fit a scene: its own, else the nearest by place, by who is in it, by their
neighbours in the relation graph, by its words.
"""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from art.models import ArtCard
from art.schemas import ArtCardOut, ArtPrivate, ArtSuggestion, Why
from episodes.models import Episode, Scene
from knowledge.graph.adjacency import direct_neighbors
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.search import SearchRequest, search
from worlds.audiences import Audience

MOST_NEIGHBOURS = 10

CardsAndDegraded = tuple[list[ArtCardOut], list[str]]


def suggest_cards(scene: Scene, audience: Audience, *, k: int) -> ArtSuggestion:
    """Return up to `k` cards for `scene`, all of one kind of reason; `basis` says which."""
    cards = ArtCard.objects.in_world(scene.world).visible_to(audience).suggestable()
    for why, look in STRATEGIES:
        found, degraded = look(cards, scene, audience, k)
        if found or degraded:
            return ArtSuggestion(
                scene_id=scene.external_id,
                basis=why if found else None,
                cards=found,
                degraded=degraded,
            )
    return ArtSuggestion(scene_id=scene.external_id, basis=None, cards=[])


def of_scene(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndDegraded:
    own = cards.filter(scene=scene).with_source().order_by("moderation", "-created_at")
    return [present_card(card, audience, why="scene", because=str(scene)) for card in own[:k]], []


def by_place(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndDegraded:
    """Cards of the same place, or of scenes that are set there."""
    place = _visible_place(scene, audience)
    if place is None:
        return [], []
    there = cards.filter(Q(place=place) | Q(scene__place_lore=place) | Q(lore=place)).distinct()
    rows = there.with_source().order_by("-created_at")[:k]
    return [present_card(card, audience, why="place", because=place.title) for card in rows], []


def by_entities(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndDegraded:
    """Cards that show those who were in the scene, most of them first."""
    people = {npc.pk: npc.name for npc in _cast(scene, audience)}
    shown = cards.filter(npcs__in=list(people)).annotate(
        fits=Count("npcs", filter=Q(npcs__in=list(people)))
    )
    rows = list(shown.with_source().order_by("-fits", "-created_at")[:k])
    names = {
        card.pk: [people[npc.pk] for npc in card.npcs.all() if npc.pk in people] for card in rows
    }
    return [
        present_card(card, audience, why="entities", because=", ".join(names[card.pk]))
        for card in rows
    ], []


def by_neighbours(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndDegraded:
    """Cards that show what the place and the cast have to do with in the relation graph, the
    nearest first.
    """
    near = direct_neighbors(_entities_of(scene, audience), View(scene.world, audience))[
        :MOST_NEIGHBOURS
    ]
    people = (
        NPC.objects.in_world(scene.world)
        .visible_to(audience)
        .filter(slug__in=[tie.node.slug for tie in near])
    )
    entries = (
        Lore.objects.in_world(scene.world)
        .visible_to(audience)
        .filter(nodes__in=[tie.node.pk for tie in near])
    )
    by_slug, by_pk = {npc.slug: npc.pk for npc in people}, set(entries.values_list("pk", flat=True))
    found: dict[Any, str] = {}
    for tie in near if by_slug or by_pk else ():
        npc, lore = (
            by_slug.get(tie.node.slug),
            tie.node.lore_id if tie.node.lore_id in by_pk else None,
        )
        shows = Q(npcs=npc) if npc else Q()
        shows = shows | Q(lore=lore) | Q(place=lore) if lore else shows
        for card in (
            cards.filter(shows).with_source().order_by("-created_at").distinct()[:k]
            if shows
            else ()
        ):
            found.setdefault(card, fact_sentence(tie.facts[0]))
    return [
        present_card(card, audience, why="neighbours", because=why)
        for card, why in list(found.items())[:k]
    ], []


def by_words(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndDegraded:
    """Cards whose words are near to the scene's: its title, its place, and what happened in it."""
    words = _words_of(scene, audience)
    if not words:
        return [], []
    found = search(
        cards,
        SearchRequest(
            query=words,
            scopes=[str(scene.world_id)],
            hidden=audience.is_gm,
            limit=k,
            language=scene.world.language,
        ),
    )
    rows = cards.with_source().in_bulk([hit.id for hit in found])
    hits = [(rows[hit.id], hit) for hit in found if hit.id in rows]
    return [
        present_card(card, audience, why="words", because=hit.match, score=hit.score)
        for card, hit in hits
    ], list(found.degraded)


STRATEGIES: Sequence[tuple[Why, Callable[[Any, Scene, Audience, int], CardsAndDegraded]]] = (
    ("scene", of_scene),
    ("place", by_place),
    ("entities", by_entities),
    ("neighbours", by_neighbours),
    ("words", by_words),
)


def present_card(
    card: ArtCard,
    audience: Audience,
    *,
    why: Why = "scene",
    because: str = "",
    score: float | None = None,
) -> ArtCardOut:
    """Tell of a card field by field."""
    scene_shown = card.scene and (audience.is_gm or why == "scene")
    return ArtCardOut(
        id=str(card.pk),
        title=card.style or card.external_id,
        image_id=card.external_id,
        scene_id=card.scene.external_id if card.scene and scene_shown else None,
        cdn_url=card.cdn_url,
        style=card.style,
        visual_tags=card.visual_tags,
        updated_at=card.updated_at,
        why=why,
        because=because,
        score=score,
        private=_private(card) if audience.is_gm else None,
    )


def _private(card: ArtCard) -> ArtPrivate:
    return ArtPrivate(
        prompt_text=card.prompt_text,
        entities=card.entities,
        seed=card.seed,
        moderation=card.moderation,
        visibility=card.visibility,
    )


def _visible_place(scene: Scene, audience: Audience) -> Lore | None:
    if scene.place_lore_id is None:
        return None
    place: Lore | None = Lore.objects.filter(pk=scene.place_lore_id).visible_to(audience).first()
    return place


def _cast(scene: Scene, audience: Audience) -> Any:
    episodes = Episode.objects.filter(scene=scene).visible_to(audience).not_retracted()
    return (
        NPC.objects.in_world(scene.world)
        .visible_to(audience)
        .filter(appearances__episode__in=episodes)
        .distinct()
    )


def _entities_of(scene: Scene, audience: Audience) -> set[UUID]:
    """The scene's place and cast as entities of the relation graph."""
    place = _visible_place(scene, audience)
    slugs = list(_cast(scene, audience).values_list("slug", flat=True))
    meant = Q(slug__in=slugs, kind=NodeKind.CHARACTER) | (Q(lore=place) if place else Q(pk=None))
    shown = (
        GraphNode.objects.in_world(scene.world)
        .visible_to(audience)
        .filter(meant, believed_until=None)
    )
    return set(shown.values_list("pk", flat=True))


def _words_of(scene: Scene, audience: Audience) -> str:
    episodes = Episode.objects.filter(scene=scene).visible_to(audience).not_retracted().in_order()
    told_texts = list(episodes.values_list("text", flat=True)[:3])
    place = _visible_place(scene, audience)
    parts = [scene.title, place.title if place else "", *told_texts]
    return " ".join(part for part in parts if part)[:2000]
