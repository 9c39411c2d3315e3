"""The view through which a caller reads the graph, as of a world day and a real time."""

from datetime import datetime

from knowledge.graph.protocol import View
from retrieval.errors import Forbidden
from worlds.callers import Caller
from worlds.world_calendar import world_day_of


def view_at(caller: Caller, day: float | str | None, believed_at: datetime | None) -> View:
    """Return what `caller` may know on the world day or date `day`, as it was believed at a real
    time. Raises `Forbidden` when players ask for a past belief: a game master may have retracted
    a fact because players were not to know it."""
    if believed_at and not caller.audience.is_gm:
        raise Forbidden(
            "Only a game master can read what was believed earlier: leave out `believed_at`."
        )
    return View(caller.world, caller.audience, world_day_of(caller.world, day), believed_at)
