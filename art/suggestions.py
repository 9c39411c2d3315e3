"""Choose pictures for a scene: its own cards, else cards found by place, by the NPCs shown, by
graph neighbors, or by words.
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
from worlds.models import Campaign

MOST_NEIGHBORS = 10

CardsAndLegs = tuple[list[ArtCardOut], list[str]]


def suggest_cards(
    scene: Scene, audience: Audience, *, k: int, campaign: Campaign | None = None
) -> ArtSuggestion:
    """Return up to `k` cards for `scene`, all found by the first strategy that finds any; with
    `campaign` none of another campaign."""
    cards = ArtCard.objects.in_world(scene.world).in_campaign(campaign).visible_to(audience)
    cards = cards.suggestable()
    degraded: list[str] = []
    for why, find_cards in STRATEGIES:
        hits, failed = find_cards(cards, scene, audience, k)
        degraded += failed
        if hits:
            return ArtSuggestion(
                scene_id=scene.external_id, basis=why, cards=hits, degraded=degraded
            )
    return ArtSuggestion(scene_id=scene.external_id, basis=None, cards=[], degraded=degraded)


def of_scene(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndLegs:
    """Cards attached to the scene, approved ones first."""
    own = cards.filter(scene=scene).with_source().order_by("moderation", "-created_at")
    return [present_card(card, audience, why="scene", because=str(scene)) for card in own[:k]], []


def by_place(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndLegs:
    """Cards that show the place of the scene, or belong to other scenes there."""
    place = visible_place(scene, audience)
    if place is None:
        return [], []
    there = cards.filter(Q(place=place) | Q(scene__place_lore=place) | Q(lore=place)).distinct()
    rows = there.with_source().order_by("-created_at", "-pk")[:k]
    return [present_card(card, audience, why="place", because=place.title) for card in rows], []


def by_entities(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndLegs:
    """Cards that show NPCs of the scene, those with the most of them first."""
    names = {npc.pk: npc.name for npc in cast_of(scene, audience)}
    in_scene = Q(npcs__in=list(names))
    # Counted in the database, because the cards with the most are needed and not all of them.
    matches = cards.filter(in_scene).annotate(matching=Count("npcs", filter=in_scene))
    rows = matches.with_source().order_by("-matching", "-created_at")[:k]
    return [
        present_card(
            card,
            audience,
            why="entities",
            because=", ".join(names[npc.pk] for npc in card.npcs.all() if npc.pk in names),
        )
        for card in rows
    ], []


def by_neighbours(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndLegs:
    """Cards that show direct graph neighbors of the scene's place and NPCs, the nearest first."""
    view = View(scene.world, audience)
    adjacent = direct_neighbors(graph_ids_of(scene, audience), view)
    neighbors = adjacent.nearest[:MOST_NEIGHBORS]
    slugs, nodes = [each.node.slug for each in neighbors], [each.node.pk for each in neighbors]
    npcs = NPC.objects.in_world(scene.world).visible_to(audience).filter(slug__in=slugs)
    npc_ids = dict(npcs.values_list("slug", "pk"))
    lore = readable_lore(scene, audience).filter(nodes__in=nodes)
    lore_ids = set(lore.values_list("pk", flat=True))
    # Neighbors and facts were filtered by audience, but the NPC or lore entry behind a node has an
    # audience of its own: a node alone does not make its card visible.
    reasons: dict[ArtCard, str] = {}
    for each in neighbors:
        shows = Q()
        if each.node.slug in npc_ids:
            shows |= Q(npcs=npc_ids[each.node.slug])
        if each.node.lore_id in lore_ids:
            shows |= Q(lore=each.node.lore_id) | Q(place=each.node.lore_id)
        if not shows:  # an empty condition would match every card
            continue
        rows = cards.filter(shows).with_source().order_by("-created_at", "-pk").distinct()[:k]
        for card in rows:
            reasons.setdefault(card, fact_sentence(each.facts[0]))
    return [
        present_card(card, audience, why="neighbours", because=reason)
        for card, reason in list(reasons.items())[:k]
    ], adjacent.degraded


def by_words(cards: Any, scene: Scene, audience: Audience, k: int) -> CardsAndLegs:
    """Cards that match the words of the scene: its title, its place and its first episodes."""
    episodes = visible_episodes(scene, audience).in_order()
    place = visible_place(scene, audience)
    parts = [
        scene.title,
        place.title if place else "",
        *episodes.values_list("text", flat=True)[:3],
    ]
    # The first 2,000 characters hold enough words to choose a picture by.
    query = " ".join(part for part in parts if part)[:2000]
    if not query:
        return [], []
    request = SearchRequest(
        query=query,
        limit=k,
        scopes=[str(scene.world_id)],
        hidden=audience.is_gm,
        language=scene.world.language,
    )
    hits = search(cards, request)
    rows = cards.with_source().in_bulk([hit.id for hit in hits])
    return [
        present_card(rows[hit.id], audience, why="words", because=hit.match, score=hit.score)
        for hit in hits
        if hit.id in rows
    ], list(hits.degraded)


STRATEGIES: Sequence[tuple[Why, Callable[[Any, Scene, Audience, int], CardsAndLegs]]] = (
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
    """Return the fields that `audience` may read."""
    private = ArtPrivate(
        prompt_text=card.prompt_text,
        entities=card.entities,
        seed=card.seed,
        moderation=card.moderation,
        visibility=card.visibility,
    )
    # Players asked for one scene; the id of another scene is not theirs to learn.
    is_scene_shown = card.scene and (audience.is_gm or why == "scene")
    return ArtCardOut(
        id=str(card.pk),
        title=card.style or card.external_id,
        image_id=card.external_id,
        scene_id=card.scene.external_id if card.scene and is_scene_shown else None,
        cdn_url=card.cdn_url,
        picture_id=str(card.picture_id) if card.picture_id else None,
        style=card.style,
        visual_tags=card.visual_tags,
        updated_at=card.updated_at if audience.is_gm else None,
        why=why,
        because=because,
        score=score,
        private=private if audience.is_gm else None,
    )


def visible_place(scene: Scene, audience: Audience) -> Lore | None:
    if scene.place_lore_id is None:
        return None
    place: Lore | None = readable_lore(scene, audience).filter(pk=scene.place_lore_id).first()
    return place


def readable_lore(scene: Scene, audience: Audience) -> Any:
    """The entries of the scene's world that `audience` may read: of drafts, the players know
    nothing."""
    entries = Lore.objects.in_world(scene.world).visible_to(audience)
    return entries if audience.is_gm else entries.only_published()


def visible_episodes(scene: Scene, audience: Audience) -> Any:
    return Episode.objects.filter(scene=scene).visible_to(audience).not_retracted()


def cast_of(scene: Scene, audience: Audience) -> Any:
    """The NPCs who appear in the visible episodes of the scene."""
    npcs = NPC.objects.in_world(scene.world).visible_to(audience)
    episodes = visible_episodes(scene, audience)
    return npcs.filter(appearances__episode__in=episodes).distinct()


def graph_ids_of(scene: Scene, audience: Audience) -> set[UUID]:
    """Return the ids of the graph nodes of the scene's place and NPCs."""
    place = visible_place(scene, audience)
    slugs = list(cast_of(scene, audience).values_list("slug", flat=True))
    # The node with an NPC's slug may be of another kind, and only a character is the NPC.
    entities = Q(slug__in=slugs, kind=NodeKind.CHARACTER)
    if place:
        entities |= Q(lore=place)
    nodes = GraphNode.objects.in_world(scene.world).visible_to(audience)
    return set(nodes.filter(entities, believed_until=None).values_list("pk", flat=True))
