"""The list of NPCs: narrowed and sorted by what they think of a party, by faction, home, and when
they were last seen."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Q, Subquery
from django.utils.translation import gettext_lazy as _

from episodes.models import Episode, Session
from episodes.titles import names_of_places
from knowledge.models import Lore
from npcs.dispositions import days_reached, score_on
from npcs.models import NPC, Disposition
from npcs.page_queries import AnyDisposition, disposition_table
from npcs.profiles import apparent_dispositions
from npcs.score import Label, label_of
from npcs.sightings import Sighting, latest_sightings
from worlds.audiences import Audience, Visibility
from worlds.models import Party
from worlds.name_order import by_name
from worlds.pages import Viewer

NPCS_PER_PAGE = 40
MOST_COLUMNS = 3
"""The list shows the dispositions towards so many parties, unless one is chosen."""
LONGEST = 200
SORTS = {
    "name": _("Name"),
    "worst": _("Most hostile first"),
    "best": _("Most devoted first"),
    "seen": _("Last seen first"),
    "unseen": _("Longest unseen first"),
    "faction": _("Faction"),
    "home": _("Home"),
}
SEEN = {"session": _("in the last session"), "ever": _("at least once"), "never": _("never")}
NO_VALUE = "-"
"""Chosen for NPCs without a faction or home."""
LABELS = list(Label)
SCORED = ("npc", "score", "in_world_at")


class ComparedNPC(NamedTuple):
    """The columns of an NPC by which the list is narrowed and sorted. There may be thousands, and
    a whole `NPC` of each takes several times as long."""

    pk: UUID
    name: str
    faction: str
    faction_lore_id: UUID | None
    faction_visibility: str
    home: str
    home_lore_id: UUID | None
    base: float
    half_life: float | None


@dataclass(frozen=True)
class NPCFilter:
    """What the address of the list names; all are slugs, words or keys of `SORTS` and `SEEN`."""

    text: str = ""
    party: str = ""
    label: str = ""
    faction: str = ""
    home: str = ""
    seen: str = ""
    sort: str = "name"

    @classmethod
    def from_query(cls, query: Mapping[str, Any], viewer: Viewer) -> Self:
        """Read the parameters of an address; unknown values are left out. A filter by disposition
        means the first party when none is named."""
        values = {
            field.name: str(query.get(field.name, "")).replace("\x00", "").strip()[:LONGEST]
            for field in fields(cls)
        }
        slugs = [party.slug for party in viewer.parties]
        known: dict[str, Collection[str]] = {
            "party": slugs,
            "label": LABELS,
            "seen": SEEN,
            "sort": SORTS,
        }
        for name, allowed in known.items():
            if values[name] not in allowed:
                values[name] = ""
        needs_party = values["label"] or values["sort"] in ("worst", "best")
        if needs_party and not values["party"]:
            values["party"] = next(iter(slugs), "")
        return cls(**{**values, "sort": values["sort"] or "name"})

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in asdict(self).items() if name != "sort")

    def with_label(self, label: str) -> str:
        """This filter with another disposition, as a part of an address."""
        values = {**asdict(self), "label": label}
        return urlencode({name: value for name, value in values.items() if value})


@dataclass(frozen=True)
class LastSeen:
    """The latest episode in which an NPC appeared, of those that the viewer may know."""

    ref: str
    place: str
    in_world_label: str


@dataclass(frozen=True)
class ListedNPC:
    npc: NPC
    dispositions: list[AnyDisposition]
    faction: str
    home: str
    last_seen: LastSeen | None


class NPCList:
    """The NPCs that `viewer` may know, narrowed by a filter. Each property is a fixed number of
    statements, however many NPCs there are."""

    def __init__(self, viewer: Viewer, npc_filter: NPCFilter) -> None:
        self.viewer, self.filter = viewer, npc_filter
        self.audience: Audience = viewer.audience

    @cached_property
    def party(self) -> Party | None:
        return self.viewer.party(self.filter.party)

    @cached_property
    def columns(self) -> list[Party]:
        """The parties whose dispositions are shown."""
        return [self.party] if self.party else self.viewer.parties[:MOST_COLUMNS]

    @cached_property
    def visible_npcs(self) -> Any:
        """All NPCs that the viewer may know, as rows."""
        return NPC.objects.in_world(self.viewer.world).visible_to(self.audience)

    @cached_property
    def known_npcs(self) -> list[ComparedNPC]:
        """The same, by name, with no more than what they are narrowed and sorted by: a page shows
        a few."""
        rows = self.visible_npcs.order_by(by_name("name"), "pk").values_list(*ComparedNPC._fields)
        return list(starmap(ComparedNPC, rows))

    @cached_property
    def matching(self) -> list[ComparedNPC]:
        """The NPCs that fit all of the filter but the disposition, by name."""
        rows = self._only_with_text(self.known_npcs)
        wanted = {"faction": self.filter.faction, "home": self.filter.home}
        rows = self._only_seen(rows) if self.filter.seen else rows
        return [
            npc
            for npc in rows
            if all(
                not value or (self.fields_of(npc)[name] or NO_VALUE) == value
                for name, value in wanted.items()
            )
        ]

    def _only_with_text(self, npcs: list[ComparedNPC]) -> list[ComparedNPC]:
        text = self.filter.text
        if not text:
            return npcs
        has_text = Q(name__icontains=text) | Q(aliases__icontains=text) | Q(role__icontains=text)
        ids = set(self.visible_npcs.filter(has_text).values_list("pk", flat=True))
        return [npc for npc in npcs if npc.pk in ids]

    def _only_seen(self, npcs: list[ComparedNPC]) -> list[ComparedNPC]:
        """Return the NPCs that were seen as the filter says."""
        if self.filter.seen == "session":
            latest = Subquery(self._latest_session().values("pk")[:1])
            ids = (npc.pk for npc in npcs)
            sightings = self._sightings(ids, self._episodes.filter(session=latest))
        else:
            sightings = self.all_sightings
        return [npc for npc in npcs if (npc.pk in sightings) != (self.filter.seen == "never")]

    def _latest_session(self) -> Any:
        """The latest session, with an episode that the viewer may know."""
        sessions = Session.objects.in_world(self.viewer.world).visible_to(self.audience)
        return sessions.filter(pk__in=self.seen_episodes.values("session")).latest_first()

    @cached_property
    def _episodes(self) -> Any:
        """The episodes by which an NPC counts as seen: by the chosen party, else by anybody; also
        those that the viewer may not know."""
        rows = Episode.objects.not_retracted()
        return rows.filter(party=self.party) if self.party else rows

    @cached_property
    def seen_episodes(self) -> Any:
        """Those of them that the viewer may know."""
        return self._episodes.in_world(self.viewer.world).visible_to(self.audience)

    def _sightings(self, npcs: Iterable[UUID], episodes: Any) -> dict[UUID, Sighting]:
        return latest_sightings(set(npcs), episodes, self.audience, world=self.viewer.world)

    @cached_property
    def _visible_lore(self) -> set[UUID]:
        """The factions and homes in the lore that the viewer may know of."""
        ids = {
            pk for npc in self.known_npcs for pk in (npc.faction_lore_id, npc.home_lore_id) if pk
        }
        rows = Lore.objects.filter(pk__in=ids).visible_to(self.audience)
        return set(rows.values_list("pk", flat=True))

    def fields_of(self, npc: NPC | ComparedNPC) -> dict[str, str]:
        """Return the `faction` and the `home` of `npc` that the viewer may know, else ""."""
        if self.audience.is_gm:
            return {"faction": npc.faction, "home": npc.home}
        is_member_known = npc.faction_visibility == Visibility.PUBLIC
        return {
            "faction": npc.faction
            if is_member_known and self._may_know_lore(npc.faction_lore_id)
            else "",
            "home": npc.home if self._may_know_lore(npc.home_lore_id) else "",
        }

    def _may_know_lore(self, pk: UUID | None) -> bool:
        return pk is None or pk in self._visible_lore

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """The factions and homes of all NPCs that the viewer may know."""
        values = [self.fields_of(npc) for npc in self.known_npcs]
        return {
            name: sorted({each[name] for each in values} - {""}, key=str.casefold)
            for name in ("faction", "home")
        }

    @cached_property
    def scores(self) -> dict[UUID, float]:
        """What each matching NPC thinks of the chosen party today, from -100 to 100.

        Players know a word, not a number: theirs are whole steps from 0 for *hostile*.
        """
        if self.party is None:
            return {}
        if not self.audience.is_gm:
            ids = [npc.pk for npc in self.matching]
            apparent = apparent_dispositions(ids, self.party, self.audience)
            return {
                pk: float(LABELS.index(Label(each.label)))
                for pk, each in zip(ids, apparent, strict=True)
            }
        today = days_reached([self.party])[self.party.pk]
        rows = Disposition.objects.filter(party=self.party, npc__in=self.visible_npcs.values("pk"))
        stored = {npc: (score, day) for npc, score, day in rows.values_list(*SCORED)}
        return {npc.pk: score_on(today, npc, stored.get(npc.pk)) for npc in self.matching}

    def label_of(self, npc: ComparedNPC) -> Label:
        score = self.scores[npc.pk]
        return label_of(score) if self.audience.is_gm else LABELS[int(score)]

    @cached_property
    def counts(self) -> list[tuple[Label, int]]:
        """How many of the matching NPCs think so of the chosen party, the most hostile first."""
        counts = Counter(self.label_of(npc) for npc in self.matching) if self.party else Counter()
        return [(label, counts[label]) for label in LABELS if counts[label]]

    @cached_property
    def sorted_npcs(self) -> list[ComparedNPC]:
        """The NPCs that fit the filter, in its order; those without a value come last."""
        label, sort = self.filter.label, self.filter.sort
        npcs = [npc for npc in self.matching if not label or self.label_of(npc) == label]
        if sort in ("worst", "best") and self.party:
            return sorted(npcs, key=lambda npc: self.scores[npc.pk], reverse=sort == "best")
        if sort in ("faction", "home"):
            values = {npc.pk: self.fields_of(npc)[sort] for npc in npcs}
            return sorted(npcs, key=lambda npc: (not values[npc.pk], values[npc.pk].casefold()))
        if sort in ("seen", "unseen"):
            sightings = self.all_sightings
            seen = [npc for npc in npcs if npc.pk in sightings]
            seen.sort(key=lambda npc: sightings[npc.pk].happened_at, reverse=sort == "seen")
            return [*seen, *(npc for npc in npcs if npc.pk not in sightings)]
        return npcs

    @cached_property
    def all_sightings(self) -> dict[UUID, Sighting]:
        """Where each NPC that the viewer may know was seen last."""
        return self._sightings((npc.pk for npc in self.known_npcs), self._episodes)

    def page(self, number: str | None) -> Any:
        """Return the page `number` of `ListedNPC`."""
        page: Any = Paginator(self.sorted_npcs, NPCS_PER_PAGE).get_page(number)
        rows = self.visible_npcs.in_bulk([npc.pk for npc in page.object_list])
        npcs = [rows[npc.pk] for npc in page.object_list if npc.pk in rows]
        last_seen = self._last_seen(npcs)
        page.object_list = [
            ListedNPC(npc, dispositions, **self.fields_of(npc), last_seen=last_seen.get(npc.pk))
            for npc, dispositions in disposition_table(npcs, self.columns, self.audience)
        ]
        return page

    def _last_seen(self, npcs: Sequence[NPC]) -> dict[UUID, LastSeen]:
        if self.filter.sort in ("seen", "unseen") or self.filter.seen in ("ever", "never"):
            own = [npc.pk for npc in npcs if npc.pk in self.all_sightings]
            sightings = {pk: self.all_sightings[pk] for pk in own}
        else:
            sightings = self._sightings((npc.pk for npc in npcs), self._episodes)
        ids = {sighting.episode for sighting in sightings.values()}
        episodes = Episode.objects.with_source().in_bulk(list(ids))
        titles = names_of_places(self.viewer.world, episodes.values(), self.audience)
        return {
            npc: LastSeen(
                episode.external_id,
                titles.get(episode.place, episode.place),
                episode.in_world_label,
            )
            for npc, sighting in sightings.items()
            if (episode := episodes.get(sighting.episode))
        }
