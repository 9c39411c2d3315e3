"""Parts of an NPC's profile: dispositions, influences, relations, and the whole one for players."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from episodes.models import Episode
from knowledge.graph.adjacency import direct_neighbors
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphNode
from knowledge.graph.protocol import View
from knowledge.models import Lore
from npcs.dispositions import half_life_of, state_of
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
from npcs.score import ScoreChange, decay, decay_axes, fold, label_of
from worlds.audiences import Audience, Visibility
from worlds.models import Party, World
from worlds.reveals import models_with_visibility

MOST_INFLUENCES = 20
MOST_KNOWN = 30
MOST_RELATIONS = 8
STEADY = 0.5
"""A trend of fewer points than this is shown as steady."""


def profile_for_players(npc: NPC, audience: Audience, party: Party | None) -> NPCProfile:
    """Return only the fields listed here, with the secrets that the audience has learned."""
    lore_ids = [pk for pk in (npc.faction_lore_id, npc.home_lore_id) if pk]
    lore = Lore.objects.filter(pk__in=lore_ids).visible_to(audience)
    # None is among them: a home that is no lore entry is plain text and as open as the NPC.
    visible = {None, *lore.values_list("pk", flat=True)}
    # Membership may be secret although the faction is known, so both must be visible.
    is_faction_shown = (
        npc.faction_visibility == Visibility.PUBLIC and npc.faction_lore_id in visible
    )
    return NPCProfile(
        id=str(npc.pk),
        npc_id=npc.slug,
        title=npc.name,
        static=NPCStatic(
            name=npc.name,
            aliases=npc.aliases,
            role=npc.role,
            description=npc.summary,
            faction=npc.faction if is_faction_shown else "",
            home=npc.home if npc.home_lore_id in visible else "",
            secrets=[secret.text for secret in npc.secrets.visible_to(audience)],
        ),
        apparent=apparent_disposition(npc, party, audience) if party else None,
        updated_at=npc.updated_at,
    )


def strongest_relations(world: World, npc: str, audience: Audience) -> list[RelatedEntity]:
    """Return the NPC's present relations that `audience` may know, most facts first."""
    nodes = GraphNode.objects.in_world(world).visible_to(audience)
    ids = set(nodes.filter(slug=npc, believed_until=None).values_list("pk", flat=True))
    neighbors = direct_neighbors(ids, View(world, audience))[:MOST_RELATIONS]
    strongest = [(each.node.slug, each.facts[0]) for each in neighbors]
    return [
        RelatedEntity(says=fact_sentence(fact), other=slug, since=fact.since)
        for slug, fact in strongest
    ]


def build_disposition(
    *,
    party_id: str,
    party: str,
    score: float,
    trend: float = 0.0,
    axes: dict[str, float] | None = None,
    changes: int = 0,
    pending: int = 0,
    last_reason: str = "",
    in_world_at: float | None = None,
    today: float | None = None,
    base: float = 0.0,
    half_life: float | None = None,
) -> DispositionOut:
    """Return the disposition of the day `today`, which the party has reached. `score` and `axes`
    are those of the last change, on the day `in_world_at`: what has passed since is decayed here,
    so that time alone needs no write."""
    days = 0.0 if in_world_at is None or today is None else today - in_world_at
    score = decay(score, base=base, days=days, half_life=half_life)
    axes = decay_axes(axes or {}, days=days, half_life=half_life)
    return DispositionOut(
        party_id=party_id,
        party=party,
        score=round(score, 1),
        label=label_of(score),
        trend=round(trend, 1),
        direction=direction_of(trend),
        axes={axis: round(value, 4) for axis, value in axes.items()},
        changes=changes,
        pending=pending,
        last_reason=last_reason,
    )


def present_disposition(row: Disposition, *, today: float | None) -> DispositionOut:
    """Return the disposition on `today`, the day its party has reached (`days_reached`)."""
    return build_disposition(
        party_id=row.party.slug,
        party=row.party.name,
        score=row.score,
        trend=row.trend,
        axes=row.axes,
        changes=row.changes,
        pending=row.pending,
        last_reason=row.last_change.reason if row.last_change else "",
        in_world_at=row.in_world_at,
        today=today,
        base=float(row.npc.base),
        half_life=half_life_of(row.npc),
    )


def initial_disposition(npc: NPC, party: Party) -> DispositionOut:
    """What `npc` thinks of a party that it has not met."""
    return build_disposition(party_id=party.slug, party=party.name, score=float(npc.base))


def influences_on(npc: NPC, party: Party | None, *, most: int) -> list[Influence]:
    """Return the changes of what `npc` thinks, latest first, also those that do not count."""
    entries: Any = DispositionChange.objects.filter(npc=npc).changes().with_ruling()
    entries = entries.filter(is_current=True, **({"party": party} if party else {}))
    entries = entries.select_related("party").annotate_episode().order_by("-happened_at", "-id")
    return [present_influence(entry) for entry in entries[:most]]


def present_influence(entry: Any) -> Influence:
    """Return a ledger row that was read `with_ruling()` and `annotate_episode()`."""
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
    """Fold only the changes in episodes that `audience` knows: no corrections, nothing held."""
    return apparent_dispositions([npc], party, audience)[0]


def apparent_dispositions(npcs: Sequence[NPC], party: Party, audience: Audience) -> list[Apparent]:
    """Return the apparent disposition of each NPC, in their order, with one query."""
    episodes = Episode.objects.filter(party=party).visible_to(audience)
    ledger = DispositionChange.objects.filter(npc__in=npcs, party=party, episode__in=episodes)
    entries: dict[UUID, list[Any]] = defaultdict(list)
    for entry in ledger.in_force().in_order().annotate_episode():
        entries[entry.npc_id].append(entry)
    return [_apparent(party, entries[npc.pk]) for npc in npcs]


def _apparent(party: Party, entries: Sequence[Any]) -> Apparent:
    # From 0 and without decay, because players know neither the NPC's base nor its half-life.
    total = fold([ScoreChange(each.delta, each.axis) for each in entries])
    return Apparent(
        party_id=party.slug,
        label=label_of(total.score),
        direction=direction_of(total.trend),
        summary_ids=list(dict.fromkeys(each.summary_id for each in entries))[-MOST_INFLUENCES:],
    )


def present_reveals(log: Any) -> list[KnownSubject]:
    """Return the valid entries of a reveal log, latest first, each with the title of its
    subject."""
    entries = list(log.filter(undone_at=None).order_by("-created_at")[:MOST_KNOWN])
    titles = titles_of([(entry.subject_kind, entry.subject_id) for entry in entries])
    return [
        KnownSubject(
            kind=entry.subject_kind,
            id=str(entry.subject_id),
            title=titles[entry.subject_kind, entry.subject_id],
            note=entry.note,
            summary_id=entry.episode_ref,
            in_world_label=entry.in_world_label,
        )
        for entry in entries
        # A row without a title is in the trash, or was deleted.
        if (entry.subject_kind, entry.subject_id) in titles
    ]


def titles_of(subjects: Sequence[tuple[str, UUID]]) -> dict[tuple[str, UUID], str]:
    """Return the titles of revealed rows by kind and id, with one query for each kind."""
    ids_by_kind: dict[str, list[UUID]] = defaultdict(list)
    for kind, subject in subjects:
        ids_by_kind[kind].append(subject)
    return {
        (kind, row.pk): str(row)
        for kind, ids in ids_by_kind.items()
        if kind in models_with_visibility()
        for row in models_with_visibility()[kind]._default_manager.filter(pk__in=ids)
    }


def direction_of(trend: float) -> Direction:
    if abs(trend) < STEADY:
        return "steady"
    return "rising" if trend > 0 else "falling"
