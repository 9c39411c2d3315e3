"""Which cards may leave for whom."""

from typing import Self

from django.db.models import Q

from worlds.audiences import Audience, GuardedQuerySet


class ArtCardQuerySet(GuardedQuerySet):
    def visible_to(self, audience: Audience) -> Self:
        """Players get approved cards alone, whatever the reveal log says. A party knows the
        pictures of its scenes.
        """
        if audience.is_gm:
            return self
        cards = self.filter(moderation="approved")
        if audience.kind != "party":
            return super(ArtCardQuerySet, cards).visible_to(audience)
        own = Q(scene__party__slug=audience.slug, scene__visibility__in=["public", "revealed"])
        revealed_to = Q(known_to__contains=[str(audience)])
        # A card for the GM alone stays hidden also when its scene is open to the party.
        return cards.filter(Q(visibility="public") | Q(own | revealed_to, visibility="revealed"))

    def suggestable(self) -> Self:
        return self.exclude(moderation="rejected")

    def with_source(self) -> Self:
        return self.select_related("scene", "place").defer("embedding", "search_vector")
