"""The states of a change of either ledger, and the rulings that it can get in each."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from npcs.models import DispositionChange
from retrieval.errors import Conflict

Kind = DispositionChange.Kind


class NotInForce(Conflict):
    code, title = "not_in_force", "The change does not count as it is"


RULED_STATES: dict[str, tuple[str, ...]] = {
    Kind.REVERSAL: ("counts",),
    Kind.RESTORATION: ("reversal", "rejection"),
    Kind.APPROVAL: ("pending",),
    Kind.REJECTION: ("pending",),
    Kind.REOPENING: ("counts", "rejection"),
}
"""The states in which a change can get each ruling."""
STATE_NAMES = {
    "counts": pgettext_lazy("state of a change", "counts"),
    "pending": gettext_lazy("pending"),
    "replaced": gettext_lazy("replaced"),
    Kind.APPROVAL: gettext_lazy("approval"),
    Kind.REJECTION: gettext_lazy("rejection"),
    Kind.RESTORATION: gettext_lazy("restoration"),
    Kind.REVERSAL: gettext_lazy("reversal"),
    Kind.REOPENING: gettext_lazy("reopening"),
}
"""The states of a change and the rulings about it, as they stand in a sentence."""


def state_of(entry: Any) -> str:
    """Return `counts`, `pending`, `reversal`, `rejection` or `replaced` for a row
    `with_ruling()`."""
    if not entry.is_current:
        return "replaced"
    if entry.ruling in (Kind.REVERSAL, Kind.REJECTION):
        return str(entry.ruling)
    is_open = entry.ruling in (None, Kind.REOPENING)
    return "pending" if entry.held and is_open else "counts"


def check_ruling(change: Any, kind: str) -> None:
    """Raise `NotInForce` when the change, read `with_ruling()`, cannot get a ruling of this
    kind."""
    state = state_of(change)
    # What never waited cannot wait again.
    if state not in RULED_STATES[kind] or (kind == Kind.REOPENING and not change.held):
        raise NotInForce(why_no_ruling(change.pk, state, kind))


def why_no_ruling(change: int, state: str, kind: str) -> str:
    """Say why a change in this state cannot get a ruling."""
    names = [_("“%(name)s”") % {"name": STATE_NAMES[each]} for each in RULED_STATES[kind]]
    text = _(
        "Change %(change)s is in the state “%(state)s”; for this (%(kind)s) it must be %(states)s."
    )
    return text % {
        "change": change,
        "state": STATE_NAMES[state],
        "kind": STATE_NAMES[kind],
        "states": _(" or ").join(names),
    }
