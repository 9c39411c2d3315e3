"""Where the events of a timeline come from. Each source is one query, which holds the audience."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from episodes.models import Episode, Mention, Session
from episodes.titles import annotate_title, title_of
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import FREE_RELATION, SCENE, SourceKind
from knowledge.graph.protocol import View
from knowledge.link_models import Link
from knowledge.views import lore_of
from memory_site.timeline.events import TimelineEvent, TimelineFilter, page_of_source
from npcs.models import LARGE_CHANGE, Appearance, DispositionChange
from worlds.audiences import parties_and_members
from worlds.models import Party, Reveal
from worlds.pages import Viewer
from worlds.reveals import models_with_visibility

OF_SCENES = Q(
    source_kind=SourceKind.EPISODE, source_ref__endswith=SCENE, edited_by="", relation=FREE_RELATION
)
"""Facts that episodes state by who was there, as long as nobody has made something else of them."""
Source = Callable[[Viewer, TimelineFilter, int], Iterator[TimelineEvent]]


def of_party(rows: Any, wanted: TimelineFilter) -> Any:
    """Narrow rows with a campaign and a party to those that are chosen."""
    if wanted.campaign:
        rows = rows.filter(campaign=wanted.campaign)
    return rows.filter(party=wanted.party) if wanted.party else rows


def episodes_of_party(viewer: Viewer, wanted: TimelineFilter) -> Any:
    rows = Episode.objects.in_world(viewer.world).visible_to(viewer.audience).not_retracted()
    return of_party(rows, wanted)


def episodes(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    rows = episodes_of_party(viewer, wanted)
    if wanted.is_about_one:
        rows = rows.filter(episodes_about(viewer, wanted))
    for row in page_of_source(rows.with_source(), wanted, day="in_world_at", rank=rank):
        yield TimelineEvent(
            row.in_world_at,
            rank,
            row.pk,
            "episode",
            title_of(row, viewer.audience),
            reverse("episode", args=[viewer.world.slug, row.external_id]),
            row.party.name,
            row.in_world_label,
        )


def episodes_about(viewer: Viewer, wanted: TimelineFilter) -> Q:
    """The episodes with the chosen person or place; for players those whose open text names it."""
    named = Q(pk__in=[])
    if wanted.lore:
        mentions = Mention.objects.filter(lore=wanted.lore)
        mentions = mentions if viewer.is_gm else mentions.filter(secret=False)
        named |= Q(pk__in=mentions.values("episode_id"))
    if wanted.npc and viewer.is_gm:
        appearances = Appearance.objects.filter(npc=wanted.npc)
        named |= Q(pk__in=appearances.values("episode_id"))
    elif wanted.npc:
        links = Link.objects.filter(world=viewer.world, source_kind="episode", secret=False)
        links = links.filter(targets__contains=[wanted.npc.pk])
        named |= Q(pk__in=links.values("source_id"))
    return named


def sessions(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    if wanted.is_about_one:
        return
    rows = Session.objects.in_world(viewer.world).visible_to(viewer.audience)
    rows = of_party(rows, wanted).select_related("party", "campaign")
    found = list(page_of_source(rows, wanted, day="in_world_at", rank=rank))
    repeated = repeated_by_episodes(found, viewer, wanted) if wanted.shows("episode") else set()
    for row in found:
        yield TimelineEvent(
            row.in_world_at,
            rank,
            row.pk,
            "session",
            str(row),
            reverse("session", args=[viewer.world.slug, row.external_id]),
            row.party.name if row.party else row.campaign.name,
            row.in_world_label,
            is_repeated=row.pk in repeated,
        )


def repeated_by_episodes(
    sessions: list[Session], viewer: Viewer, wanted: TimelineFilter
) -> set[UUID]:
    """Return the sessions that say no more than their only episode, which is on the timeline, too,
    and has the same title. One query."""
    rows = annotate_title(episodes_of_party(viewer, wanted), viewer.audience)
    rows = rows.filter(session__in=sessions).values_list("session", "shown_title", "in_world_at")
    own: dict[UUID, list[tuple[str, float | None]]] = {session.pk: [] for session in sessions}
    for session, title, day in rows:
        own[session].append((title, day))
    return {
        session.pk
        for session in sessions
        for title, day in own[session.pk][:1]
        if len(own[session.pk]) == 1 and title == str(session) and wanted.is_in_period(day)
    }


def lore(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    if wanted.party:
        return
    rows: Any = lore_of(viewer)
    rows = rows.only_published()
    if wanted.campaign:
        rows = rows.filter(Q(campaign=None) | Q(campaign=wanted.campaign))
    if wanted.is_about_one:
        rows = rows.filter(pk=wanted.lore.pk if wanted.lore else wanted.npc.biography_id)
    rows = rows.defer("body", "extra")
    for row in page_of_source(rows, wanted, day="in_world_at", rank=rank):
        until = viewer.when(row, until=True)
        yield TimelineEvent(
            row.in_world_at,
            rank,
            row.pk,
            "lore",
            row.title,
            reverse("lore-entry", args=[viewer.world.slug, row.slug]),
            _("until %(day)s") % {"day": until} if until else "",
            row.in_world_label,
        )


def facts(
    viewer: Viewer, wanted: TimelineFilter, rank: int, *, day: str
) -> Iterator[TimelineEvent]:
    if wanted.party:
        return
    view = View(viewer.world, viewer.audience)
    # That of who met whom the timeline says by the episode itself.
    rows: Any = view.facts().exclude(OF_SCENES)
    if wanted.npc or wanted.lore:
        # First the few entities: in one statement PostgreSQL joins all entities with all.
        chosen = Q(slug=wanted.npc.slug) if wanted.npc else Q()
        chosen |= Q(lore=wanted.lore) if wanted.lore else Q()
        nodes = list(view.entities().filter(chosen).values_list("pk", flat=True))
        rows = rows.filter(Q(src__in=nodes) | Q(dst__in=nodes))
    graph = reverse("graph", args=[viewer.world.slug])
    for row in page_of_source(rows, wanted, day=day, rank=rank):
        yield TimelineEvent(
            getattr(row, day),
            rank,
            row.pk,
            "fact",
            fact_sentence(row),
            f"{graph}?around={row.src.slug}",
            _("begins") if day == "since" else _("ends"),
        )


def facts_that_begin(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    return facts(viewer, wanted, rank, day="since")


def facts_that_end(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    return facts(viewer, wanted, rank, day="until")


def reveals(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    """Who learned of what. For game masters: a player's own reveals are on the party's page."""
    rows = Reveal.objects.filter(world=viewer.world, undone_at=None)
    if wanted.party:
        rows = rows.filter(audience__in=parties_and_members([wanted.party]))
    elif wanted.campaign:
        parties = Party.objects.filter(campaign=wanted.campaign)
        rows = rows.filter(audience__in=parties_and_members(parties))
    if wanted.is_about_one:
        subjects = [row.pk for row in (wanted.npc, wanted.lore) if row]
        rows = rows.filter(subject_id__in=subjects)
    found = list(page_of_source(rows, wanted, day="in_world_at", rank=rank))
    subjects_by_key = subjects_of(viewer, found)
    audiences = dict(viewer.party_choices) if found else {}
    for row in found:
        subject = subjects_by_key.get((row.subject_kind, row.subject_id), _("in the trash"))
        yield TimelineEvent(
            row.in_world_at or 0.0,
            rank,
            row.pk,
            "reveal",
            _("%(who)s: %(what)s") % {"who": name_of(row.audience, audiences), "what": subject},
            episode_address(viewer, row.episode_ref),
            _("learned"),
            row.in_world_label,
        )


def name_of(audience: str, names: dict[str, str]) -> str:
    return names.get(audience) or audience.partition(":")[2]


def subjects_of(viewer: Viewer, rows: Iterable[Reveal]) -> dict[tuple[str, Any], str]:
    """Return the names of what was revealed, in one query a kind."""
    by_kind: dict[str, set[Any]] = {}
    for row in rows:
        by_kind.setdefault(row.subject_kind, set()).add(row.subject_id)
    names = {}
    for kind, keys in by_kind.items():
        model = models_with_visibility().get(kind)
        if model is None:
            continue
        rows_of_kind: Any = model._default_manager.filter(world=viewer.world)
        if kind == "lorepassage":
            rows_of_kind = rows_of_kind.select_related("lore")
        for pk, subject in rows_of_kind.in_bulk(keys).items():
            # A passage would show all names of its entry.
            names[kind, pk] = str(subject.lore if kind == "lorepassage" else subject)
    return names


def episode_address(viewer: Viewer, ref: str) -> str:
    return reverse("episode", args=[viewer.world.slug, ref]) if ref else ""


def dispositions(viewer: Viewer, wanted: TimelineFilter, rank: int) -> Iterator[TimelineEvent]:
    """Large changes of mind that count."""
    rows = DispositionChange.objects.in_world(viewer.world).in_force()
    rows = rows.filter(LARGE_CHANGE)
    if wanted.party:
        rows = rows.filter(party=wanted.party)
    if wanted.campaign:
        rows = rows.filter(party__campaign=wanted.campaign)
    if wanted.is_about_one:
        rows = rows.filter(npc=wanted.npc)
    rows = rows.annotate_episode().select_related("npc", "party")
    for row in page_of_source(rows, wanted, day="in_world_at", rank=rank):
        npc = reverse("npc", args=[viewer.world.slug, row.npc.slug])
        yield TimelineEvent(
            row.in_world_at,
            rank,
            row.pk,
            "disposition",
            f"{row.npc.name} → {row.party.name}: {row.delta:+d}",
            f"{npc}?party={row.party.slug}#change-{row.pk}",
            row.reason,
            row.in_world_label,
        )


SOURCES: tuple[tuple[str, Source], ...] = (
    ("session", sessions),
    ("episode", episodes),
    ("lore", lore),
    ("fact", facts_that_begin),
    ("fact", facts_that_end),
    ("reveal", reveals),
    ("disposition", dispositions),
)
"""In the order of what happened at the same moment."""
