"""Events as programs get them: in lists, in streams and by webhooks."""

from worlds.event_log.read import SeenEvent
from worlds.schemas import EventOut


def present_event(seen: SeenEvent, *, with_version: bool) -> EventOut:
    """`with_version` is for game masters: to others it would count the hidden changes."""
    event = seen.event
    return EventOut(
        id=event.pk,
        at=event.at,
        kind=event.kind,
        action=seen.action.value,
        ref=event.ref,
        row=event.row_id,
        version=event.version if with_version else None,
    )
