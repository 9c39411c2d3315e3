"""Facts by the real time at which they were believed and by the world day on which they hold."""

from datetime import datetime
from typing import Self

from django.db.models import Exists, OuterRef, Q

from worlds.audiences import Audience, GuardedQuerySet, Visibility, revealed_to


def is_believed_at(moment: datetime | None) -> Q:
    """The condition that a row was believed at this real time; None: that it is believed now."""
    if moment is None:
        return Q(believed_until=None)
    ends_later = Q(believed_until=None) | Q(believed_until__gt=moment)
    return ends_later & Q(believed_from__lte=moment)


class FactQuerySet(GuardedQuerySet):
    def believed_now(self) -> Self:
        return self.filter(believed_until=None)

    def believed_at(self, moment: datetime | None) -> Self:
        """Narrow to what was believed at this real time; None: to what is believed now."""
        return self.filter(is_believed_at(moment))

    def valid_on(self, day: float | None) -> Self:
        """Narrow to what is valid on a world day; None: to what has no known end."""
        if day is None:
            return self.filter(until=None)
        return self.filter(Q(since=None) | Q(since__lte=day), Q(until=None) | Q(until__gt=day))


class EdgeQuerySet(FactQuerySet):
    """Facts between entities. An end that follows from another fact is known to whoever knows that
    one; for others the row from before the end stands (`GraphEdge.stands_for`)."""

    def known_to(self, audience: Audience, moment: datetime | None = None) -> Self:
        """Narrow to what `audience` believes at this real time; None: now. `sql.EDGE_VISIBLE` is
        the same condition."""
        if audience.is_gm:
            return self.believed_at(moment)
        knows_end = Q(was_ended=False) | Exists(self._enders_known_to(audience))
        believed = is_believed_at(moment) & knows_end
        stands_in = Q(stands_for__isnull=False) & ~knows_end
        return self.visible_to(audience).filter(believed | stands_in)

    def _enders_known_to(self, audience: Audience) -> Self:
        known = Q()
        for prefix in ("", "src__", "dst__"):
            public = Q(**{f"{prefix}visibility": Visibility.PUBLIC})
            known &= public | revealed_to(audience, prefix)
        enders: Self = self.model._default_manager.filter(known, pk=OuterRef("ended_by"))
        return enders
