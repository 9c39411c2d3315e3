"""Read an NPC's profile from its tables: a fixed handful of statements, whatever the size of the
world.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from episodes.models import Episode
from knowledge.graph.adjacency import Neighbor, direct_neighbors
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphNode
from knowledge.graph.protocol import View
from knowledge.models import Lore
from npcs.dispositions import decayed_score, state_of
from npcs.models import NPC, Disposition, DispositionChange
from npcs.schemas import (
    Apparent,
    Direction,
    DispositionOut,
    Influence,
    KnownSubject,
    NPCProfile,
    NPCStatic,
    RelatedEntity,
)
from npcs.score import FoldedScore, ScoreChange, fold, label_of
from worlds.audiences import Audience, Visibility
from worlds.models import Party, World
from worlds.reveals import guarded_models

MOST_INFLUENCES = 20
MOST_KNOWN = 30
MOST_RELATIONS = 8
STEADY = 0.5
"""A trend of less than half a point is none."""


def profile_for_players(npc: NPC, audience: Audience, party: Party | None) -> NPCProfile:
    """Only what is listed here leaves; secrets that the audience learned of, and what its own
    episodes let it see.
    """
    linked = [pk for pk in (npc.faction_lore_id, npc.home_lore_id) if pk]
    seen = set(Lore.objects.filter(pk__in=linked).visible_to(audience).values_list("pk", flat=True))
    secrets = [secret.text for secret in npc.secrets.visible_to(audience)]
    static = NPCStatic(
        name=npc.name,
        aliases=npc.aliases,
        role=npc.role,
        description=npc.summary,
        faction=npc.faction if _shows_faction(npc, seen) else "",
        home=npc.home if npc.home_lore_id is None or npc.home_lore_id in seen else "",
        secrets=secrets,
    )
    profile = _profile(npc, static)
    profile.apparent = apparent_disposition(npc, party, audience) if party else None
    return profile


def strongest_relations(world: World, slug: str, audience: Audience) -> list[RelatedEntity]:
    """What the NPC has to do with whom now, as far as `audience` may know."""
    shown = (
        GraphNode.objects.in_world(world)
        .visible_to(audience)
        .filter(slug=slug, believed_until=None)
    )
    near = direct_neighbors(set(shown.values_list("pk", flat=True)), View(world, audience))
    return [_related(tie) for tie in near[:MOST_RELATIONS]]


def _related(tie: Neighbor) -> RelatedEntity:
    fact = tie.facts[0]
    return RelatedEntity(says=fact_sentence(fact), other=tie.node.slug, since=fact.since)


def present_disposition(row: Disposition, today: float | None = None) -> DispositionOut:
    score = decayed_score(row.score, row.npc, as_of=row.in_world_at, today=today)
    return DispositionOut(
        party_id=row.party.slug,
        party=row.party.name,
        score=round(score, 1),
        label=label_of(score),
        trend=round(row.trend, 1),
        direction=direction_of(row.trend),
        axes=row.axes,
        changes=row.changes,
        pending=row.pending,
        last_reason=row.last_change.reason if row.last_change else "",
    )


def initial_disposition(npc: NPC, party: Party) -> DispositionOut:
    """What `npc` thinks of a party that it has not met."""
    return DispositionOut(
        party_id=party.slug,
        party=party.name,
        score=float(npc.base),
        label=label_of(npc.base),
        trend=0,
        direction="steady",
        axes={},
        changes=0,
        pending=0,
    )


def influences_on(
    npc: NPC, party: Party | None = None, *, most: int = MOST_INFLUENCES + 1
) -> list[Influence]:
    """The changes that shaped what `npc` thinks, latest first, also those that wait or were taken
    back.
    """
    entries: Any = (
        DispositionChange.objects.filter(npc=npc).changes().with_ruling().filter(is_current=True)
    )
    if party:
        entries = entries.filter(party=party)
    entries = entries.select_related("party").annotate_episode().order_by("-happened_at", "-id")
    return [present_influence(entry) for entry in entries[:most]]


def present_influence(entry: Any) -> Influence:
    """Tell of an entry read `with_ruling()` and `annotate_episode()`."""
    return Influence(
        change=entry.pk,
        party_id=entry.party.slug,
        summary_id=entry.summary_id,
        delta=entry.delta,
        axis=entry.axis,
        reason=entry.reason,
        state=state_of(entry),
        made_by=entry.made_by,
        in_world_at=entry.in_world_at,
        in_world_label=entry.in_world_label,
        happened_at=entry.happened_at,
    )


def apparent_disposition(npc: NPC, party: Party, audience: Audience) -> Apparent:
    """Fold only what happened in episodes that `audience` knows: no corrections, nothing held, no
    hidden episode.
    """
    known = Episode.objects.filter(party=party).visible_to(audience)
    entries: Any = (
        DispositionChange.objects.filter(npc=npc, party=party, episode__in=known)
        .in_force()
        .in_order()
    )
    told = list(entries.annotate_episode())
    standing: FoldedScore = fold([ScoreChange(each.delta, each.axis) for each in told])
    return Apparent(
        party_id=party.slug,
        label=label_of(standing.score),
        direction=direction_of(standing.trend),
        summary_ids=list(dict.fromkeys(each.summary_id for each in told))[-MOST_INFLUENCES:],
    )


def present_reveals(log: Any, *, most: int = MOST_KNOWN) -> list[KnownSubject]:
    """Tell of the standing entries of a reveal log, latest first, with what each thing is called."""
    entries = list(log.filter(undone_at=None).order_by("-created_at")[:most])
    titles = titles_of([(entry.subject_kind, entry.subject_id) for entry in entries])
    return [
        KnownSubject(
            kind=entry.subject_kind,
            id=str(entry.subject_id),
            title=titles.get((entry.subject_kind, entry.subject_id), ""),
            note=entry.note,
            summary_id=entry.episode_ref,
            in_world_label=entry.in_world_label,
        )
        for entry in entries
    ]


def titles_of(subjects: Sequence[tuple[str, UUID]]) -> dict[tuple[str, UUID], str]:
    """What revealed things are called; one statement for each kind of them."""
    wanted: dict[str, list[UUID]] = defaultdict(list)
    for kind, subject in subjects:
        wanted[kind].append(subject)
    return {
        (kind, row.pk): str(row)
        for kind, ids in wanted.items()
        if kind in guarded_models()
        for row in guarded_models()[kind]._default_manager.filter(pk__in=ids)
    }


def direction_of(trend: float) -> Direction:
    if abs(trend) < STEADY:
        return "steady"
    return "rising" if trend > 0 else "falling"


def _profile(npc: NPC, static: NPCStatic) -> NPCProfile:
    return NPCProfile(
        id=str(npc.pk), npc_id=npc.slug, title=npc.name, static=static, updated_at=npc.updated_at
    )


def _shows_faction(npc: NPC, seen: set[Any]) -> bool:
    return npc.faction_visibility == Visibility.PUBLIC and (
        npc.faction_lore_id is None or npc.faction_lore_id in seen
    )
