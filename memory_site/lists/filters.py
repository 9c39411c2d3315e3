"""The filter and the order of the lore list, as its address names them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self
from urllib.parse import urlencode

from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore, LorePassage
from knowledge.querysets import LoreQuerySet
from worlds.audiences import Visibility
from worlds.name_order import by_name
from worlds.pages import Viewer

CANON = "-"
"""The value of the campaign filter for entries of no campaign, and of the folder for no folder."""
EVERY_CAMPAIGN = "*"
LONGEST = 200
ORDERS = {
    "title": ("title",),
    "kind": ("kind", "custom_kind__name"),
    "folder": ("folder",),
    "status": ("status",),
    "visibility": ("visibility",),
    "campaign": ("campaign__name",),
    "author": ("author",),
    "language": ("language",),
    "updated": ("updated_at",),
}
COLUMNS = [
    *(("title", _("Name")), ("kind", _("Kind")), ("folder", _("Folder"))),
    *(("status", _("Status")), ("visibility", _("Visible to")), ("campaign", _("Campaign"))),
    *(("author", _("Author")), ("updated", _("Changed"))),
]
RARELY_USED = ("folder", "visibility", "campaign", "author", "language")
"""Filters that the form folds away until one of them is set."""
FOR_PLAYERS = ("kind", "tag", "language", "text", "sort")
"""What players filter by: folders, drafts and authors are the game master's."""
ORDERS_FOR_PLAYERS = ("title", "kind", "language")
"""The other orders would tell of folders, of who else knows an entry and of hidden changes."""


@dataclass(frozen=True)
class LoreFilter:
    kind: str = ""
    folder: str = ""
    tag: str = ""
    status: str = ""
    visibility: str = ""
    campaign: str = ""
    author: str = ""
    language: str = ""
    text: str = ""
    sort: str = "title"

    @classmethod
    def from_query(cls, query: Mapping[str, Any], viewer: Viewer) -> Self:
        """Read the parameters of an address; unknown values are left out, as are those that
        the viewer may not filter by."""
        names = [field.name for field in fields(cls)] if viewer.is_gm else FOR_PLAYERS
        values = {name: _clean(query.get(name, "")) for name in names}
        orders = ORDERS if viewer.is_gm else ORDERS_FOR_PLAYERS
        if values["sort"].removeprefix("-") not in orders:
            values["sort"] = "title"
        return cls(**values)

    @property
    def query(self) -> str:
        """The filter as a part of an address, without empty parameters."""
        values = {name: value for name, value in asdict(self).items() if value}
        if values.get("sort") == "title":
            del values["sort"]
        return urlencode(values)

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in asdict(self).items() if name != "sort")

    @property
    def has_rare_choice(self) -> bool:
        return any(getattr(self, name) for name in RARELY_USED)

    def narrow(self, rows: LoreQuerySet, viewer: Viewer) -> LoreQuerySet:
        conditions = Q()
        for name in ("status", "visibility", "author", "language"):
            if value := getattr(self, name):
                conditions &= Q(**{name: value})
        if self.kind:
            conditions &= _kind_condition(self.kind)
        if self.folder:
            conditions &= _folder_condition(self.folder)
        if self.tag:
            conditions &= Q(tags__contains=[self.tag])
        if self.campaign == CANON:
            conditions &= Q(campaign=None)
        elif self.campaign not in ("", EVERY_CAMPAIGN):
            conditions &= Q(campaign__slug=self.campaign)
        if self.text:
            conditions &= _text_condition(self.text, viewer)
        rows = rows.filter(conditions)
        # Without a choice of its own the list shows the campaign that the whole site is shown for.
        return rows if self.campaign else rows.known_in(viewer.campaign, viewer.audience)

    def order(self, rows: LoreQuerySet) -> LoreQuerySet:
        descending = self.sort.startswith("-")
        names = dict.fromkeys((*ORDERS[self.sort.removeprefix("-")], "title", "pk"))
        orders = [by_name(name) if name == "title" else F(name) for name in names]
        return rows.order_by(*(each.desc() if descending else each.asc() for each in orders))


def _clean(text: Any) -> str:
    # PostgreSQL has no NUL in text.
    return str(text).replace("\x00", "").strip()[:LONGEST]


def _kind_condition(kind: str) -> Q:
    base, _colon, own = kind.partition(":")
    return Q(kind="custom", custom_kind__slug=own) if own else Q(kind=base, custom_kind=None)


def _folder_condition(folder: str) -> Q:
    """Entries of the folder and of all below it."""
    if folder == CANON:
        return Q(folder="")
    return Q(folder=folder) | Q(folder__startswith=f"{folder}/")


def _text_condition(text: str, viewer: Viewer) -> Q:
    condition = Q(title__icontains=text) | Q(aliases__icontains=text)
    if viewer.is_gm:
        return condition | Q(body__icontains=text)
    # A body holds secrets, so players look into the passages that they may know.
    passages = LorePassage.objects.visible_to(viewer.audience)
    return condition | Q(Exists(passages.filter(lore=OuterRef("pk"), text__icontains=text)))


def listed_lore(viewer: Viewer) -> LoreQuerySet:
    """Every entry that the viewer may list: game masters also drafts and every campaign's."""
    rows: LoreQuerySet = Lore.objects.in_world(viewer.world).visible_to(viewer.audience)
    if viewer.is_gm:
        return rows
    return rows.only_published().known_in(viewer.campaign, viewer.audience)


def filter_choices(viewer: Viewer) -> dict[str, Any]:
    """What can be chosen in the form: the values that the viewer's own entries have."""
    rows = listed_lore(viewer).order_by()
    # One query for all of them: a world has few combinations.
    names = ("kind", "custom_kind__slug", "custom_kind__name", "language", "author")
    combinations = set(rows.values_list(*names).distinct())
    kinds = {each[:3] for each in combinations}
    labels = dict(Lore.Kind.choices)
    choices: dict[str, Any] = {
        "kinds": sorted(
            (f"custom:{slug}" if slug else kind, name or labels.get(kind, kind))
            for kind, slug, name in kinds
        ),
        "languages": sorted({each[3] for each in combinations}),
        "tags": _tags(rows),
    }
    if viewer.is_gm:
        choices |= {
            "statuses": Lore.Status.choices,
            "visibilities": Visibility.choices,
            "authors": sorted(filter(None, {each[4] for each in combinations})),
            "campaigns": viewer.campaigns,
            "own_kinds": list(LoreKind.objects.filter(world=viewer.world)),
        }
    return choices


def _tags(rows: LoreQuerySet) -> list[str]:
    lists = rows.exclude(tags=[]).values_list("tags", flat=True).distinct()
    return sorted({tag for tags in lists for tag in tags})


@dataclass(frozen=True)
class Folder:
    """A folder of the tree: its depth from 0, and the entries in it and below it."""

    path: str
    name: str
    depth: int
    count: int


def folder_tree(rows: LoreQuerySet) -> tuple[list[Folder], int]:
    """Return the folders in the order of a tree, each after its parent, and the number of entries
    in no folder."""
    counts = dict(rows.order_by().values_list("folder").annotate(count=Count("pk")))
    unfiled = counts.pop("", 0)
    totals: dict[tuple[str, ...], int] = {}
    for path, count in counts.items():
        parts = tuple(path.split("/"))
        for depth in range(1, len(parts) + 1):
            totals[parts[:depth]] = totals.get(parts[:depth], 0) + count
    folders = [
        Folder("/".join(parts), parts[-1], len(parts) - 1, count)
        for parts, count in sorted(totals.items())
    ]
    return folders, unfiled
