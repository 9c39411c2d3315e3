"""When a player was last in a world: what is new is new since then."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from worlds.models import Membership, World

VISIT_ENDS_AFTER = timedelta(minutes=30)
"""A pause as long as this ends a visit. News stay on the page until the visit is over."""
WRITE_EVERY = timedelta(minutes=1)


def note_visit(user: Any, world: World) -> datetime | None:
    """Record that the member `user` is here; return when the visit before this one ended, None at
    the first. One query, and a write at most once a minute."""
    rows = Membership.objects.filter(user=user, world=world)
    member = rows.only("seen_at", "new_since").first()
    if member is None:
        return None
    now = timezone.now()
    pause = now - member.seen_at if member.seen_at else None
    if pause is None or pause > WRITE_EVERY:
        if pause and pause > VISIT_ENDS_AFTER:
            member.new_since = member.seen_at
        rows.update(seen_at=now, new_since=member.new_since)
    return member.new_since
