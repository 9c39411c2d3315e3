"""The rows of a timeline and the place of a page in it."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from retrieval.errors import Invalid
from worlds.models import Campaign, Party

PAGE = 30
KINDS = {
    "session": _("Sessions"),
    "episode": _("Episodes"),
    "lore": _("Lore"),
    "fact": _("Facts"),
    "reveal": _("Reveals"),
    "disposition": _("Changes of disposition"),
}
FOR_GAME_MASTERS = ("reveal", "disposition")
"""Kinds of events of which players learn nothing here."""


@dataclass(frozen=True)
class TimelineEvent:
    """Something that happened. `rank` orders what happened at the same moment; `key` is the primary
    key of its row. `is_repeated`: another event says the same, so it is not shown."""

    at: float
    rank: int
    key: Any
    kind: str
    title: str
    url: str = ""
    note: str = ""
    label: str = ""
    is_repeated: bool = False

    @property
    def cursor(self) -> str:
        return f"{self.at!r}~{self.rank}~{self.key}"


@dataclass(frozen=True)
class Cursor:
    """The last event of the page before."""

    at: float
    rank: int
    key: Any

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Raises `Invalid` for a text that is no cursor."""
        parts = text.split("~")
        try:
            return cls(float(parts[0]), int(parts[1]), parts[2])
        except (ValueError, IndexError) as error:
            raise not_a_page() from error


@dataclass(frozen=True)
class TimelineFilter:
    """What a page shows. `kinds`: none chosen is all. `until` is the first moment after the
    period."""

    kinds: frozenset[str] = frozenset()
    campaign: Campaign | None = None
    party: Party | None = None
    npc: Any = None
    lore: Any = None
    since: float | None = None
    until: float | None = None
    oldest_first: bool = False
    after: Cursor | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def is_about_one(self) -> bool:
        return self.npc is not None or self.lore is not None

    def shows(self, kind: str) -> bool:
        return not self.kinds or kind in self.kinds

    def is_in_period(self, day: float | None) -> bool:
        if day is None or (self.since is not None and day < self.since):
            return False
        return self.until is None or day < self.until


def page_of_source(
    rows: QuerySet[Any], wanted: TimelineFilter, *, day: str, rank: int
) -> QuerySet[Any]:
    """Return the rows of one source that a page may show: those that follow the page before, by
    `day` and key, in either direction, one more than fit. An index on both answers it."""
    rows = rows.filter(**{f"{day}__isnull": False})
    if wanted.since is not None:
        rows = rows.filter(**{f"{day}__gte": wanted.since})
    if wanted.until is not None:
        rows = rows.filter(**{f"{day}__lt": wanted.until})
    if wanted.after:
        after = replace(wanted.after, key=key_of(rows, wanted.after, rank))
        rows = rows.filter(following(after, wanted.oldest_first, day=day, rank=rank))
    sign = "" if wanted.oldest_first else "-"
    return rows.order_by(f"{sign}{day}", f"{sign}pk")[: PAGE + 1]


def key_of(rows: QuerySet[Any], after: Cursor, rank: int) -> Any:
    """Return the key of a cursor as the rows have theirs. Raises `Invalid` for another kind."""
    if rank != after.rank:
        return after.key
    try:
        return rows.model._meta.pk.to_python(after.key)
    except ValidationError as error:
        raise not_a_page() from error


def not_a_page() -> Invalid:
    return Invalid(_t("This page of the timeline does not exist: begin again."))


def following(after: Cursor, oldest_first: bool, *, day: str, rank: int) -> Q:
    """The condition for what comes after a cursor: later days, and of its day the rest."""
    step = "gt" if oldest_first else "lt"
    beyond = Q(**{f"{day}__{step}": after.at})
    is_later_rank = rank > after.rank if oldest_first else rank < after.rank
    if rank == after.rank:
        return beyond | Q(**{day: after.at, f"pk__{step}": after.key})
    return beyond | Q(**{day: after.at}) if is_later_rank else beyond
