"""The latest changes of lore, rules and NPCs, from their history. What one import or one bulk
change wrote is one line with a count: it has one author and one reason, and was written at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy

from knowledge.models import Lore, Rule
from npcs.models import NPC
from worlds.models import ImportRun, World

AT_ONCE = timedelta(minutes=5)
"""How far apart the changes of one import or bulk change may be."""
FEWEST = 5
"""Changes from which on they are one line."""
MOST_ROUNDS = 60
"""Reads of a history. Each gives a line at least, so a page needs no more."""
COMMON = ("history_date", "history_user__username", "history_change_reason", "history_type", "id")


@dataclass(frozen=True)
class History:
    """The changes of a world since a moment and before another one; with `reason` those that were
    made for that reason, each of them alone."""

    world: World
    before: datetime | None = None
    since: datetime | None = None
    reason: str = ""

    def versions(self, model: Any) -> "QuerySet[Any]":
        """The newest versions first, of rows that are not in the trash."""
        live = model.objects.filter(world=self.world)
        conditions = Q(world=self.world, id__in=live.values("pk"))
        if self.before:
            conditions &= Q(history_date__lt=self.before)
        if self.reason:
            conditions &= Q(history_change_reason=self.reason)
        if self.since:
            conditions &= Q(history_date__gte=self.since)
        rows: QuerySet[Any] = model.history.filter(conditions)
        return rows.order_by(F("history_date").desc(), "-history_id")


@dataclass(frozen=True)
class RecentChange:
    """A change of one row, or of `count` rows since `since`. `url` leads to what was changed, or to
    the import; `diff_url` to the difference, or to the list of these changes. `codes` and `ref` are
    what the API calls the kinds and the one row."""

    at: datetime
    since: datetime
    kind: str | Promise
    title: str
    url: str
    diff_url: str
    who: str
    reason: str
    is_new: bool = False
    count: int = 1
    codes: tuple[str, ...] = ()
    ref: str = ""


@dataclass
class ChangeGroup:
    """Changes of one model by one author for one reason within `AT_ONCE`, newest first. `unread`
    are those that were counted and not read."""

    changes: list[RecentChange] = field(default_factory=list)
    unread: int = 0
    unread_since: datetime | None = None

    @property
    def since(self) -> datetime:
        return self.unread_since or self.changes[-1].at

    @property
    def count(self) -> int:
        return len(self.changes) + self.unread

    def has(self, change: RecentChange) -> bool:
        first = self.changes[0]
        same = (first.who, first.reason) == (change.who, change.reason)
        return bool(change.reason) and same and first.at - change.at < AT_ONCE


def read_changes(history: History, *, most: int) -> list[RecentChange]:
    """Return the newest changes, bulk changes as one each."""
    if history.reason:
        alone = (
            change
            for model, present in PRESENTERS.items()
            for change in present(history.world, history.versions(model)[:most])
        )
        return sorted(alone, key=lambda change: change.at, reverse=True)[:most]
    groups = [group for model in PRESENTERS for group in read_groups(history, model, most=most)]
    lines = [line for bulk in bulks_of(groups) for line in lines_of(history.world, bulk)]
    return sorted(lines, key=lambda line: line.at, reverse=True)[:most]


def read_groups(history: History, model: Any, *, most: int) -> list[ChangeGroup]:
    """Return the newest groups of one model. Of a large group most rows are counted and not read,
    so that an import costs as little as an edit."""
    groups: list[ChangeGroup] = []
    rows, before = history.versions(model), history.before
    for _round in range(MOST_ROUNDS):
        unseen = rows.filter(history_date__lt=before) if before else rows
        changes = list(PRESENTERS[model](history.world, unseen[:most]))
        for change in changes:
            group = next((each for each in reversed(groups) if each.has(change)), None)
            if group is None:
                groups.append(group := ChangeGroup())
            group.changes.append(change)
        if len(changes) < most or sum(map(lines_in, groups)) >= most:
            break
        before = changes[-1].at
        largest = max(groups, key=lambda each: len(each.changes))
        rows = count_rest(rows, before, largest)
    return groups


def lines_in(group: ChangeGroup) -> int:
    return 1 if group.count >= FEWEST else group.count


def count_rest(rows: "QuerySet[Any]", before: datetime, group: ChangeGroup) -> "QuerySet[Any]":
    """Count the changes of `group` before a moment, and return `rows` without them."""
    first = group.changes[0]
    if len(group.changes) < FEWEST:
        return rows
    same = Q(history_change_reason=first.reason, history_date__gt=first.at - AT_ONCE)
    same &= Q(history_user__username=first.who) if first.who else Q(history_user=None)
    rest = rows.filter(same, history_date__lt=before).order_by()
    counts = rest.aggregate(count=Count("history_id"), since=Min("history_date"))
    group.unread, group.unread_since = counts["count"], counts["since"]
    # Without ~Q: it would drop rows without a reason, for which the comparison is unknown.
    others = ~Q(pk__in=rest.values("pk"))
    return rows.filter(others) if group.unread else rows


def bulks_of(groups: Iterable[ChangeGroup]) -> list[list[ChangeGroup]]:
    """Put together what one import wrote of several models."""
    bulks: list[list[ChangeGroup]] = []
    for group in groups:
        same = (bulk for bulk in bulks if is_same_bulk(bulk[0], group))
        if bulk := next(same, None):
            bulk.append(group)
        else:
            bulks.append([group])
    return bulks


def is_same_bulk(one: ChangeGroup, other: ChangeGroup) -> bool:
    newest, oldest = sorted((one, other), key=lambda group: group.changes[0].at, reverse=True)
    first, second = newest.changes[0], oldest.changes[0]
    same = (first.who, first.reason) == (second.who, second.reason)
    return bool(first.reason) and same and newest.since - second.at < AT_ONCE


def lines_of(world: World, bulk: list[ChangeGroup]) -> Iterator[RecentChange]:
    """Yield one line for a bulk change, or each change of a few."""
    count = sum(group.count for group in bulk)
    if count < FEWEST:
        for group in bulk:
            yield from group.changes
        return
    newest = max((group.changes[0] for group in bulk), key=lambda change: change.at)
    since = min(group.since for group in bulk)
    kinds = dict.fromkeys(str(group.changes[0].kind) for group in bulk)
    upper = newest.at + timedelta(microseconds=1)
    asked = {"reason": newest.reason, "since": since.isoformat(), "before": upper.isoformat()}
    yield RecentChange(
        at=newest.at,
        since=since,
        kind=", ".join(kinds),
        title="",
        url=import_url(world, newest.at),
        diff_url=f"{reverse('recent', args=[world.slug])}?{urlencode(asked)}",
        who=newest.who,
        reason=newest.reason,
        is_new=all(change.is_new for group in bulk for change in group.changes),
        count=count,
        codes=tuple(dict.fromkeys(code for group in bulk for code in group.changes[0].codes)),
    )


def import_url(world: World, at: datetime) -> str:
    """Return the address of the import that was writing at a moment, empty if none was."""
    runs = ImportRun.objects.filter(world=world)
    # A run on the command line has no start of its own, and is recorded after its rows.
    writing = Q(started_at__lte=at, finished_at__gte=at) | Q(
        started_at=None, created_at__gte=at, created_at__lt=at + AT_ONCE
    )
    run = runs.filter(writing | Q(undone_at__gte=at, undone_at__lt=at + AT_ONCE)).first()
    return reverse("import-run", args=[world.slug, run.pk]) if run else ""


# --- one function a model


def lore_changes(world: World, rows: "QuerySet[Any]") -> Iterator[RecentChange]:
    for *common, title, slug, campaign in rows.values_list(
        *COMMON, "title", "slug", "campaign__slug"
    ):
        suffix = f"?campaign={campaign}" if campaign else "?canon"
        yield change_of(
            common,
            kind=gettext_lazy("Lore"),
            code="lore",
            ref=slug,
            title=title,
            url=reverse("lore-entry", args=[world.slug, slug]),
            diff_url=reverse("lore-history", args=[world.slug, slug]) + suffix,
        )


def rule_changes(_world: World, rows: "QuerySet[Any]") -> Iterator[RecentChange]:
    for *common, title, key in rows.values_list(*COMMON, "title", "key"):
        yield change_of(common, kind=gettext_lazy("Rule"), code="rule", ref=key, title=title)


def npc_changes(world: World, rows: "QuerySet[Any]") -> Iterator[RecentChange]:
    for *common, name, slug in rows.values_list(*COMMON, "name", "slug"):
        yield change_of(
            common,
            kind=gettext_lazy("NPC"),
            code="npc",
            ref=slug,
            title=name,
            url=reverse("npc", args=[world.slug, slug]),
            diff_url=reverse("npc-history", args=[world.slug, slug]),
        )


PRESENTERS: Mapping[Any, Callable[[World, "QuerySet[Any]"], Iterator[RecentChange]]] = {
    Lore: lore_changes,
    Rule: rule_changes,
    NPC: npc_changes,
}


def change_of(
    common: list[Any],
    *,
    kind: Promise | str,
    code: str,
    ref: str,
    title: str,
    url: str = "",
    diff_url: str = "",
) -> RecentChange:
    at, who, reason, type_of_change, _id = common
    return RecentChange(
        at=at,
        since=at,
        kind=kind,
        title=title,
        url=url,
        diff_url=diff_url,
        who=who or "",
        reason=reason or "",
        is_new=type_of_change == "+",
        codes=(code,),
        ref=ref,
    )
