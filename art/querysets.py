"""Which pictures and cards may leave for whom."""

from functools import reduce
from operator import or_
from typing import Any, Self

from django.db import models
from django.db.models import CharField, Exists, OuterRef, Q, Value
from django.db.models.functions import Cast, Concat

from episodes.models import Episode
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from worlds.audiences import (
    NAMES_NO_CHARACTER,
    Audience,
    GuardedQuerySet,
    revealed_to,
    revealed_to_own_party,
)
from worlds.models import Campaign


def in_campaign_of(audience: Audience) -> Q:
    """Canon, and for a party and its characters the overlay of their own campaign."""
    party = audience.party_slug
    own = Q(campaign__parties__slug=party) if party else Q()
    return Q(campaign=None) | own if own else Q(campaign=None)


def showing_picture(rows: Any, *fields: str) -> Any:
    """Those of `rows` whose text in one of `fields` shows the picture of the outer query."""
    reference = Concat(Value("picture:"), Cast(OuterRef("pk"), CharField()))
    shown = [Q(**{f"{field}__contains": reference}) for field in fields]
    return rows.filter(reduce(or_, shown), world=OuterRef("world"))


class PictureQuerySet(GuardedQuerySet):
    def present(self) -> Self:
        return self.filter(deleted_at=None)

    def in_trash(self) -> Self:
        return self.filter(deleted_at__isnull=False)

    def visible_to(self, audience: Audience) -> Self:
        """Whoever may see a place where the picture is shown sees the picture: a gallery, a card, a
        passage, person or episode whose text shows it. Its own visibility opens it to others."""
        if audience.is_gm:
            return self
        uses, cards = self._rows_of("uses"), self._rows_of("cards")
        passages = LorePassage.objects.visible_to(audience).only_published()
        episodes = Episode.objects.visible_to(audience).not_retracted()
        return self.filter(
            Q(pk__in=self.open_to(audience))
            | Exists(uses.filter(picture=OuterRef("pk")).open_to(audience))
            | Exists(cards.filter(picture=OuterRef("pk")).visible_to(audience))
            | Exists(showing_picture(NPC.objects.visible_to(audience), "summary"))
            | Exists(
                passages.filter(
                    in_campaign_of(audience),
                    world=OuterRef("world"),
                    pictures__contains=[OuterRef("pk")],
                )
            )
            | Exists(showing_picture(episodes, "text"))
        )

    def open_to(self, audience: Audience) -> Self:
        """Pictures that `audience` may see wherever they are shown."""
        own: Any = super(PictureQuerySet, self.model._default_manager.all())
        rows: Self = own.visible_to(audience)
        return rows

    def without_uses(self) -> Self:
        """Pictures that no gallery, card or text of an entry, NPC or episode shows."""
        passages = LorePassage.objects.filter(
            world=OuterRef("world"), pictures__contains=[OuterRef("pk")]
        )
        uses = self._rows_of("uses").present()
        return self.exclude(
            Exists(uses.filter(picture=OuterRef("pk")))
            | Exists(self._rows_of("cards").filter(picture=OuterRef("pk")))
            | Exists(passages)
            | Exists(showing_picture(NPC.objects.all(), "summary"))
            | Exists(showing_picture(Episode.objects.all(), "what", "notes"))
        )

    def _rows_of(self, name: str) -> Any:
        model: Any = self.model._meta.get_field(name).related_model
        return model.objects.all()


class PictureUseQuerySet(models.QuerySet[Any]):
    def present(self) -> Self:
        return self.filter(removed_at=None)

    def in_campaign(self, campaign: Campaign | None) -> Self:
        """Those of canon, of NPCs and of the campaign's own entries; None: all."""
        if campaign is None:
            return self
        return self.filter(Q(lore=None) | Q(lore__campaign=None) | Q(lore__campaign=campaign))

    def open_to(self, audience: Audience) -> Self:
        """The uses whose place lets `audience` see the picture."""
        if audience.is_gm:
            return self.present()
        lore = Lore.objects.visible_to(audience).only_published().filter(in_campaign_of(audience))
        npcs = NPC.objects.visible_to(audience)
        return self.present().filter(Q(lore__in=lore) | Q(npc__in=npcs), is_hidden=False)

    def visible_to(self, audience: Audience) -> Self:
        """The uses to list for `audience`, of a thing that it may see."""
        rows = self.present().filter(picture__deleted_at=None)
        if audience.is_gm:
            return rows
        picture: Any = self.model._meta.get_field("picture").related_model
        open_pictures = picture.objects.all().open_to(audience)
        here = rows.filter(pk__in=self.model._default_manager.all().open_to(audience))
        return here | rows.filter(picture__in=open_pictures)


class ArtCardQuerySet(GuardedQuerySet):
    def visible_to(self, audience: Audience) -> Self:
        """Players get approved cards alone, whatever the reveal log says. A party knows the
        pictures of its scenes.
        """
        if audience.is_gm:
            return self
        cards = self.filter(moderation="approved")
        if not audience.party_slug:
            return super(ArtCardQuerySet, cards).visible_to(audience)
        of_party = Q(scene__party__slug=audience.party_slug)
        known_scene = of_party & (
            Q(scene__visibility="public")
            | revealed_to_own_party(audience, "scene__")
            | revealed_to(audience, "scene__")
        )
        # A card for the GM alone stays hidden also when its scene is open to the party.
        own = Q(visibility="revealed", known_to__matches=NAMES_NO_CHARACTER)
        return cards.filter(Q(visibility="public") | (known_scene & own) | revealed_to(audience))

    def in_campaign(self, campaign: Campaign | None) -> Self:
        """The cards of its scenes, and those of no scene; None: all."""
        if campaign is None:
            return self
        return self.filter(Q(scene=None) | Q(scene__campaign=campaign))

    def suggestable(self) -> Self:
        return self.exclude(moderation="rejected")

    def with_source(self) -> Self:
        return self.select_related("scene", "place").defer("embedding", "search_vector")
