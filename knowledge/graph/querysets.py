"""Facts by the real time at which they were believed and by the world day on which they hold."""

from datetime import datetime
from typing import Self

from django.db.models import Q

from worlds.audiences import GuardedQuerySet


class FactQuerySet(GuardedQuerySet):
    def believed_now(self) -> Self:
        return self.filter(believed_until=None)

    def believed_at(self, moment: datetime | None) -> Self:
        """Narrow to what was believed at this real time; None: to what is believed now."""
        if moment is None:
            return self.believed_now()
        ends_later = Q(believed_until=None) | Q(believed_until__gt=moment)
        return self.filter(ends_later, believed_from__lte=moment)

    def valid_on(self, day: float | None) -> Self:
        """Narrow to what is valid on a world day; None: to what has no known end."""
        if day is None:
            return self.filter(until=None)
        return self.filter(Q(since=None) | Q(since__lte=day), Q(until=None) | Q(until__gt=day))
