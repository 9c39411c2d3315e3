"""Parts of an NPC's profile: dispositions, influences, relations, and the whole one for players."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, Func, OuterRef, Q, UUIDField

from episodes.models import Episode
from episodes.sql import fetch_rows
from knowledge.graph.adjacency import neighbors_of_slug
from knowledge.graph.labels import fact_sentence
from knowledge.graph.protocol import View
from knowledge.link_models import Link
from knowledge.models import Lore, LorePassage, Rule
from npcs.change_states import state_of
from npcs.dispositions import half_life_of
from npcs.family import relatives_in
from npcs.models import NPC, Disposition, DispositionChange, Secret
from npcs.profile_schemas import KnownRelative, NPCProfile, NPCStatic, RelatedEntity
from npcs.schemas import (
    Apparent,
    ChangedDisposition,
    Direction,
    DispositionOut,
    Influence,
    KnownSubject,
)
from npcs.score import ScoreChange, decay, decay_axes, feelings_of, fold, label_of
from retrieval.text import without_secrets
from worlds.audiences import GM, NAMES_NO_CHARACTER, Audience, Guarded
from worlds.models import Campaign, Party, World
from worlds.reveals import in_campaign, models_with_visibility

MOST_INFLUENCES = 20
MOST_KNOWN = 30
MOST_RELATIONS = 8
PLAYERS_PROFILE = Path(__file__).parent / "sql" / "players_profile.sql"
STEADY = 0.5
"""A trend of fewer points than this is shown as steady."""


def profile_for_players(npc: NPC, audience: Audience, party: Party | None) -> NPCProfile:
    """Return what `audience` may know of an NPC. Raises `NPC.DoesNotExist` when that is nothing."""
    campaign = party.campaign_id if party else None
    slug = party.slug if party else None
    profile = read_players_profile(npc.world_id, audience, npc.slug, slug, campaign=campaign)
    if profile is None:
        raise NPC.DoesNotExist(f"{audience} does not know {npc.slug}.")
    return profile


def read_players_profile(
    world: UUID, audience: Audience, npc: str, party: str | None, *, campaign: UUID | None = None
) -> NPCProfile | None:
    """Return the profile of the NPC with this slug, with the secrets that `audience` has learned
    and, of the party with this slug, what can be told from the episodes that it knows. None when
    there is no such NPC for `audience`, or no such party. Only the fields listed here are shown."""
    values = {
        "world": world,
        "npc": npc,
        "party": party,
        "campaign": campaign,
        "gm": audience.is_gm,
        "audience": audience.known_path,
        "own_party": audience.party_slug,
        "names_no_character": NAMES_NO_CHARACTER,
    }
    rows = fetch_rows(PLAYERS_PROFILE, values)
    if not rows or (party and not rows[0]["party"]):
        return None
    row = rows[0]
    return NPCProfile(
        id=str(row["id"]),
        npc_id=row["slug"],
        title=row["name"],
        static=NPCStatic(
            name=row["name"],
            aliases=row["aliases"],
            role=row["role"],
            description=without_secrets(row["summary"]),
            faction=row["faction"],
            home=row["home"],
            secrets=json.loads(row["secrets"]),
        ),
        apparent=_apparent(party, changes_of(row)) if party else None,
    )


def changes_of(row: dict[str, Any]) -> list["KnownChange"]:
    changes = json.loads(row["changes"])
    return [KnownChange(each["delta"], each["axis"], each["summary_id"]) for each in changes]


class KnownChange(NamedTuple):
    """What a party may learn of a change of a disposition from an episode that it knows."""

    delta: int
    axis: str
    summary_id: str


def add_relations(profile: NPCProfile, world: World, audience: Audience) -> None:
    """Add the NPC's present relations that `audience` may know, most facts first. One statement,
    where the graph is not read from Neo4j."""
    neighbors = neighbors_of_slug(profile.npc_id, View(world, audience))
    strongest = [(each.node.slug, each.facts[0]) for each in neighbors.nearest[:MOST_RELATIONS]]
    profile.relations = [
        RelatedEntity(says=fact_sentence(fact), other=slug, since=fact.since)
        for slug, fact in strongest
    ]
    facts = [fact for near in neighbors.nearest for fact in near.facts]
    profile.static.family = [
        KnownRelative(relation=kinship, npc_id=other.slug, name=other.name)
        for kinship, other in relatives_in(facts, profile.npc_id)
    ]
    profile.degraded = neighbors.degraded


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
    trend = decay(trend, base=0.0, days=days, half_life=half_life)
    return DispositionOut(
        party_id=party_id,
        party=party,
        score=round(score, 1),
        label=label_of(score),
        feelings=feelings_of(axes, changes=changes).value,
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


def influences_on(
    npc: NPC, party: Party | None, *, most: int, campaign: Campaign | None = None
) -> list[Influence]:
    """Return the changes of what `npc` thinks of the party, of the parties of `campaign` or of all,
    latest first, also those that do not count."""
    entries: Any = DispositionChange.objects.filter(npc=npc).changes().with_ruling()
    entries = entries.filter(is_current=True, **({"party": party} if party else {}))
    if campaign:
        entries = entries.filter(party__campaign=campaign)
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
        caused_by=entry.cause_id,
        caused_as=entry.rule,
        in_world_at=entry.in_world_at,
        in_world_label=entry.in_world_label,
        happened_at=entry.happened_at,
    )


def present_change(entry: Any) -> ChangedDisposition:
    """Return the same with the NPC, read with `select_related("npc")`."""
    return ChangedDisposition(**present_influence(entry).model_dump(), npc_id=entry.npc.slug)


def changes_known_to(party: Party, audience: Audience) -> Any:
    """The changes towards `party` that count, of the episodes that `audience` may know; for players
    those of NPCs whom the open text of the episode names, because who else was there is not theirs
    to know."""
    episodes = Episode.objects.of_party(party).visible_to(audience)
    changes = DispositionChange.objects.filter(party=party, episode__in=episodes).in_force()
    if audience.is_gm:
        return changes
    npc = Func(
        OuterRef("npc"), template="ARRAY[%(expressions)s]", output_field=ArrayField(UUIDField())
    )
    named = Link.objects.filter(source_kind="episode", source_id=OuterRef("episode"), secret=False)
    return changes.filter(Exists(named.filter(targets__contains=npc)))


def apparent_dispositions(npcs: Sequence[UUID], party: Party, audience: Audience) -> list[Apparent]:
    """Return the apparent disposition of each NPC, by their ids and in their order, with one query.
    It folds only the changes that `audience` may know of: no corrections, nothing held."""
    ledger = changes_known_to(party, audience).filter(npc__in=npcs)
    entries: dict[UUID, list[Any]] = defaultdict(list)
    for entry in ledger.in_order().annotate_episode():
        entries[entry.npc_id].append(entry)
    return [_apparent(party.slug, entries[npc]) for npc in npcs]


def _apparent(party: str, entries: Sequence[Any]) -> Apparent:
    # From 0 and without decay, because players know neither the NPC's base nor its half-life.
    total = fold([ScoreChange(each.delta, each.axis) for each in entries])
    return Apparent(
        party_id=party,
        label=label_of(total.score),
        feelings=feelings_of(total.axes, changes=len(entries)).value,
        direction=direction_of(total.trend),
        summary_ids=list(dict.fromkeys(each.summary_id for each in entries))[-MOST_INFLUENCES:],
    )


def present_reveals(
    log: Any, audience: Audience = GM, *, campaign: Campaign | None = None
) -> list[KnownSubject]:
    """Return the latest valid entries of a reveal log, latest first, each with the title of its
    subject. Players of `campaign` are not told of what they do not find: a draft, a secret of a
    hidden NPC, an episode of others, an entry of another campaign."""
    entries = log.filter(undone_at=None).order_by("-created_at", "-pk")
    if audience.is_gm:
        entries = entries[:MOST_KNOWN]
    entries = list(entries)
    subjects = [(entry.subject_kind, entry.subject_id) for entry in entries]
    titles = titles_of(subjects, audience, campaign=campaign)
    episodes = rows_found(Episode, audience, campaign).filter(
        world__in={entry.world_id for entry in entries},
        external_id__in={entry.episode_ref for entry in entries},
    )
    known = set(episodes.values_list("external_id", flat=True))
    found = [
        KnownSubject(
            kind=entry.subject_kind,
            id=str(entry.subject_id),
            title=titles[entry.subject_kind, entry.subject_id],
            # A remark among game masters, as the reason of a correction is.
            note=entry.note if audience.is_gm else "",
            summary_id=entry.episode_ref if entry.episode_ref in known else "",
            in_world_label=entry.in_world_label,
        )
        for entry in entries
        # A row without a title is in the trash, or was deleted.
        if (entry.subject_kind, entry.subject_id) in titles
    ]
    # Cut here, so that what players do not find takes no place.
    return found[:MOST_KNOWN]


def titles_of(
    subjects: Sequence[tuple[str, UUID]],
    audience: Audience = GM,
    *,
    campaign: Campaign | None = None,
) -> dict[tuple[str, UUID], str]:
    """Return the titles of those revealed rows that `audience` finds, by kind and id, with one
    query for each kind."""
    ids_by_kind: dict[str, list[UUID]] = defaultdict(list)
    for kind, subject in subjects:
        ids_by_kind[kind].append(subject)
    return {
        (kind, row.pk): str(row)
        for kind, ids in ids_by_kind.items()
        if kind in models_with_visibility()
        for row in rows_found(models_with_visibility()[kind], audience, campaign).filter(pk__in=ids)
    }


def rows_found(model: type[Guarded], audience: Audience, campaign: Campaign | None) -> Any:
    """The rows of a kind that `audience` can open in its campaign: a revealed row alone is not
    enough."""
    manager: Any = model._default_manager
    rows = manager.visible_to(audience)
    if audience.is_gm:
        return in_campaign(rows, campaign)
    if model is Secret:
        return rows.filter(npc__in=NPC.objects.visible_to(audience))
    if model is Episode:
        return rows.not_retracted()
    if model is LorePassage:
        return rows.filter(lore__in=rows_found(Lore, audience, campaign))
    if model in (Lore, Rule):
        rows = rows.filter(Q(campaign=None) | Q(campaign=campaign))
    return rows.only_published() if model is Lore else rows


def direction_of(trend: float) -> Direction:
    if abs(trend) < STEADY:
        return "steady"
    return "rising" if trend > 0 else "falling"
