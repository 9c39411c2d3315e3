"""Which cards may leave for whom."""

from typing import Self

from worlds.audiences import Audience, GuardedQuerySet


class ArtCardQuerySet(GuardedQuerySet):
    def visible_to(self, audience: Audience) -> Self:
        """Players get approved cards alone, whatever the reveal log says."""
        seen = super().visible_to(audience)
        return seen if audience.is_gm else seen.filter(moderation="approved")

    def suggestable(self) -> Self:
        return self.exclude(moderation="rejected")

    def with_source(self) -> Self:
        return self.select_related("scene", "place").defer("embedding", "search_vector")
