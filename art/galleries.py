"""What galleries and lists of pictures show to whom, each a fixed number of statements."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from art.models import Picture, PictureUse
from art.pictures import Thing, uses_of
from knowledge.models import Lore
from worlds.audiences import Audience
from worlds.models import World


@dataclass(frozen=True)
class Gallery:
    """The pictures of one thing that an audience may see, in their order."""

    uses: list[PictureUse]

    @property
    def portrait(self) -> Picture | None:
        return next((use.picture for use in self.uses if use.is_portrait), None)

    @property
    def others(self) -> list[PictureUse]:
        """All but the portrait, which the page shows already."""
        return [use for use in self.uses if not use.is_portrait]


def gallery_of(thing: Thing, audience: Audience) -> Gallery:
    """The pictures of a lore entry or NPC that `audience` may see itself (one statement)."""
    rows = PictureUse.objects.filter(uses_of(thing)).visible_to(audience)
    # A person's entry and NPC may both have the same picture.
    uses = {use.picture_id: use for use in rows.select_related("picture").order_by("-position")}
    return Gallery(sorted(uses.values(), key=lambda use: (use.position, use.pk)))


def portraits_of(things: Iterable[Thing], audience: Audience) -> dict[UUID, Picture]:
    """Return the portraits of `things` that have one, by the id of the thing (one statement)."""
    things = list(things)
    lore = [each.pk for each in things if isinstance(each, Lore)]
    npcs = [each for each in things if not isinstance(each, Lore)]
    biographies = [each.biography_id for each in npcs if each.biography_id]
    if not things:
        return {}
    rows = PictureUse.objects.filter(
        Q(lore__in=[*lore, *biographies])
        | Q(npc__in=[each.pk for each in npcs])
        | Q(npc__biography__in=lore),
        is_portrait=True,
    )
    by_owner = portraits_by_owner(
        rows.visible_to(audience).select_related("picture", "npc").defer("npc__summary")
    )
    own = {each.pk: by_owner.get(each.pk) for each in things}
    for npc in npcs:
        own[npc.pk] = own[npc.pk] or by_owner.get(npc.biography_id)
    return {key: picture for key, picture in own.items() if picture}


def portraits_by_owner(uses: Iterable[PictureUse]) -> Mapping[Any, Picture]:
    """By the ids of the lore entry, the NPC, and the entry that tells of the NPC."""
    by_owner: dict[Any, Picture] = {}
    for use in uses:
        by_owner[use.lore_id or use.npc_id] = use.picture
        if use.npc and use.npc.biography_id:
            by_owner.setdefault(use.npc.biography_id, use.picture)
    return by_owner


def pictures_to_list(world: World, audience: Audience, *, show: str = "", q: str = "") -> Any:
    """Pictures of `world`, latest first; `show`: `unused`, `deleted`, or all; `q`: words of
    description or caption; for game masters of the name of the file, too."""
    rows = Picture.objects.in_world(world).visible_to(audience)
    rows = rows.in_trash() if show == "deleted" and audience.is_gm else rows.present()
    if show == "unused":
        rows = rows.without_uses()
    if q:
        has_words = Q(alt__icontains=q) | Q(caption__icontains=q)
        rows = rows.filter(has_words | Q(name__icontains=q) if audience.is_gm else has_words)
    return rows.order_by("-created_at", "-pk")
