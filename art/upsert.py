"""Take in art cards, and decide which of them may be seen."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from art.models import ArtCard
from art.schemas import ArtCardIn
from episodes.lookup import lore_by_name
from episodes.models import Scene
from knowledge.models import Lore
from npcs.lookup import find_npcs
from npcs.models import NPC
from retrieval.errors import NotFound
from retrieval.indexing import normalize_art
from retrieval.text import guess_language
from worlds.models import World

PICTURE = ("cdn_url", "prompt_text")
"""A card on which one of these changed shows something that nobody has looked at."""
COPIED = ("cdn_url", "prompt_text", "entities", "visual_tags", "style", "seed", "visibility")


@transaction.atomic
def ingest_art(world: World, entry: ArtCardIn) -> tuple[ArtCard, str, list[str]]:
    """Create or change a card by its image id; returns it with what became of it and the entities
    nobody knows. A picture that changed waits for a person again, unless the engine says what it
    is.
    """
    card = (
        ArtCard.objects.select_for_update().filter(world=world, external_id=entry.image_id).first()
    )
    known = card or ArtCard(world=world, external_id=entry.image_id)
    before = None if card is None else _state(known)
    people, lore, unknown = _shown(world, entry)
    _fill(known, world, entry)
    if before == _state(known):
        return known, "unchanged", unknown
    if (
        before
        and any(before[name] != getattr(known, name) for name in PICTURE)
        and entry.moderation is None
    ):
        known.moderation = ArtCard.Moderation.PENDING
    known.version += 0 if card is None else 1
    places = [each for each in lore if each.kind == Lore.Kind.PLACE]
    known.place = places[0] if places else (known.scene.place_lore if known.scene else None)
    known.save(force_insert=card is None)
    known.npcs.set(people)
    known.lore.set(lore)
    return known, "created" if card is None else "changed", unknown


@transaction.atomic
def moderate_card(card: ArtCard, verdict: str, *, by: str, note: str = "") -> ArtCard:
    card.moderation, card.moderated_by, card.moderation_note = verdict, by, note[:400]
    card.moderated_at = timezone.now()
    card.save(
        update_fields=[
            "moderation",
            "moderated_by",
            "moderation_note",
            "moderated_at",
            "updated_at",
        ]
    )
    return card


def find_card(world: World, image_id: str) -> ArtCard:
    card: ArtCard | None = ArtCard.objects.in_world(world).filter(external_id=image_id).first()
    if card is None:
        raise NotFound(f"There is no art card {image_id!r} in this world.")
    return card


def _shown(world: World, entry: ArtCardIn) -> tuple[list[NPC], list[Lore], list[str]]:
    lore = lore_by_name(world, entry.entities)
    people, _missing = find_npcs(world, [name for name in entry.entities if name not in lore])
    slugs = NPC.objects.in_world(world).filter(slug__in=entry.entities)
    everyone = {npc.pk: npc for npc in (*people.values(), *slugs)}
    unknown = [name for name in entry.entities if name not in lore and name not in people]
    return list(everyone.values()), list(lore.values()), unknown


def _fill(card: ArtCard, world: World, entry: ArtCardIn) -> None:
    chunk = normalize_art(entry)
    card.text, card.payload, card.context = (
        chunk.text,
        chunk.payload,
        str(chunk.metadata.pop("context")),
    )
    card.metadata = chunk.metadata
    card.language = guess_language(entry.prompt_text)
    card.scene = (
        Scene.objects.filter(world=world, external_id=entry.scene_id).first()
        if entry.scene_id
        else None
    )
    if entry.moderation:
        card.moderation = entry.moderation
    for name in COPIED:
        setattr(card, name, getattr(entry, name))


def _state(card: ArtCard) -> dict[str, Any]:
    return {name: getattr(card, name) for name in (*COPIED, "scene_id", "moderation", "metadata")}
