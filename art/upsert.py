"""Create, update and moderate art cards."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from art.models import ArtCard, Picture
from art.schemas import ArtCardIn
from episodes.lookup import lore_by_name
from episodes.models import Scene
from knowledge.models import Lore
from npcs.lookup import find_npcs
from npcs.models import NPC
from retrieval.errors import NotFound
from retrieval.indexing import normalize_art
from retrieval.text import guess_language
from worlds.models import Campaign, World
from worlds.versions import require_version

PICTURE = ("cdn_url", "picture_id", "prompt_text")
"""When one of these fields changes, the card shows something that nobody has moderated."""
COPIED = ("cdn_url", "prompt_text", "entities", "visual_tags", "style", "seed", "visibility")
"""Fields that are the same in `ArtCardIn` and in the row."""


@transaction.atomic
def ingest_art(
    world: World,
    entry: ArtCardIn,
    *,
    expected_version: int | None = None,
    campaign: Campaign | None = None,
) -> tuple[ArtCard, str, list[str]]:
    """Create or update a card by its image id.

    Returns it with `created`, `changed` or `unchanged` and the entities that match nothing. A
    changed picture is pending again, unless `entry` says how it is moderated. Raises `StaleVersion`
    when another version than the expected one is stored. With `campaign`, to which the caller's key
    is bound, scenes of others are not found, and `NotFound` is raised for a card of one.
    """
    rows = ArtCard.objects.select_for_update().filter(world=world, external_id=entry.image_id)
    old = rows.first()
    if old and campaign:
        find_card(world, entry.image_id, campaign=campaign)
    require_version(old, expected_version)
    card = old or ArtCard(world=world, external_id=entry.image_id)
    before = versioned_fields(card) if old else None
    npcs, lore, unknown = find_entities(world, entry.entities)
    copy_fields(entry, card, campaign)
    if before == versioned_fields(card):
        return card, "unchanged", unknown
    is_new_picture = before and any(before[name] != getattr(card, name) for name in PICTURE)
    if is_new_picture and entry.moderation is None:
        card.moderation = ArtCard.Moderation.PENDING
    card.version += 1 if old else 0
    # A place that the card shows says more than the place of its scene.
    places = [each for each in lore if each.kind == Lore.Kind.PLACE]
    card.place = places[0] if places else (card.scene.place_lore if card.scene else None)
    card.save(force_insert=old is None)
    card.npcs.set(npcs)
    card.lore.set(lore)
    return card, "changed" if old else "created", unknown


@transaction.atomic
def moderate_card(card: ArtCard, verdict: str, *, by: str, note: str = "") -> ArtCard:
    card.moderation, card.moderated_by, card.moderation_note = verdict, by, note[:400]
    card.moderated_at = timezone.now()
    # Only these, so that moderation does not overwrite what an engine sends at the same moment.
    fields = ["moderation", "moderated_by", "moderation_note", "moderated_at", "updated_at"]
    card.save(update_fields=fields)
    return card


def find_card(world: World, image_id: str, *, campaign: Campaign | None = None) -> ArtCard:
    rows = ArtCard.objects.in_world(world).in_campaign(campaign)
    card: ArtCard | None = rows.filter(external_id=image_id).first()
    if card is None:
        raise NotFound(
            _("There is no art card %(image_id)r in this world.") % {"image_id": image_id}
        )
    return card


def find_entities(world: World, names: list[str]) -> tuple[list[NPC], list[Lore], list[str]]:
    """Return the NPCs and the lore entries that `names` mean, and the names that mean neither."""
    lore = lore_by_name(world, names)
    npcs, _missing = find_npcs(world, [name for name in names if name not in lore])
    # An NPC with a biography has the slug of its lore entry: then the picture shows both.
    same_slug = NPC.objects.in_world(world).filter(slug__in=names)
    by_id = {npc.pk: npc for npc in (*npcs.values(), *same_slug)}
    unknown = [name for name in names if name not in lore and name not in npcs]
    return list(by_id.values()), list(lore.values()), unknown


def copy_fields(entry: ArtCardIn, card: ArtCard, campaign: Campaign | None) -> None:
    chunk = normalize_art(entry)
    card.text, card.payload = chunk.text, chunk.payload
    card.context = str(chunk.metadata.pop("context"))
    card.metadata = chunk.metadata
    card.language = guess_language(entry.prompt_text)
    scenes = Scene.objects.in_campaign(campaign)
    scenes = scenes.filter(world=card.world_id, external_id=entry.scene_id)
    card.scene = scenes.first() if entry.scene_id else None
    if entry.moderation:
        card.moderation = entry.moderation
    card.picture = find_picture(card.world, entry.picture_id)
    for name in COPIED:
        setattr(card, name, getattr(entry, name))


def find_picture(world: World, picture_id: UUID | None) -> Picture | None:
    if picture_id is None:
        return None
    picture: Picture | None = (
        Picture.objects.in_world(world).present().filter(pk=picture_id).first()
    )
    if picture is None:
        raise NotFound(
            _("There is no picture %(picture_id)s in this world: upload it first.")
            % {"picture_id": picture_id}
        )
    return picture


def versioned_fields(card: ArtCard) -> dict[str, Any]:
    """The fields whose change makes a new version."""
    return {
        name: getattr(card, name)
        for name in (*COPIED, "scene_id", "picture_id", "moderation", "metadata")
    }
