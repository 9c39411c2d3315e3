"""A second, simple implementation of dispositions, for tests to compare with: replay the ledger."""

from collections import defaultdict
from math import exp
from typing import Any

from episodes.models import Episode
from npcs.models import DispositionChange, DispositionRules, OpinionChange
from worlds.models import Party

COUNTS_AFTER = {"approval": True, "restoration": True, "rejection": False, "reversal": False}


def replay(party: Party) -> dict[str, float]:
    """Return the score of every NPC in the ledger of `party`."""
    changes, counts = replay_dispositions(party)
    soft = is_soft(party)
    scores: dict[str, float] = defaultdict(float)
    for entry in sorted(changes.values(), key=lambda change: (change.happened_at, change.id)):
        before = scores[entry.npc.slug]
        if counts[entry.id] and entry.axis != "fear":
            is_soft_here = soft and entry.kind != "correction"
            scores[entry.npc.slug] = after_step(before, entry.delta, soft=is_soft_here)
    return {npc: round(score, 4) for npc, score in scores.items()}


def replay_standings(party: Party) -> dict[str, float]:
    """Return the standing of `party` with every faction in its ledger."""
    _changes, counts_of_cause = replay_dispositions(party)
    changes: dict[int, OpinionChange] = {}
    counts: dict[int, bool] = {}
    for entry in OpinionChange.objects.filter(party=party).select_related("faction").order_by("id"):
        if entry.about_id is None:
            changes[entry.id], counts[entry.id] = entry, not entry.held
        else:
            counts[entry.about_id] = COUNTS_AFTER[entry.kind]
    scores: dict[str, float] = defaultdict(float)
    for entry in sorted(changes.values(), key=lambda change: (change.happened_at, change.id)):
        has_cause = entry.cause_id is None or counts_of_cause[entry.cause_id]
        if counts[entry.id] and has_cause:
            assert entry.faction
            before, is_soft_here = scores[entry.faction.slug], is_soft(party)
            is_soft_here = is_soft_here and entry.kind != "correction"
            scores[entry.faction.slug] = after_step(before, entry.delta, soft=is_soft_here)
    return {faction: round(score, 4) for faction, score in scores.items()}


def replay_opinions(party: Party) -> dict[tuple[str, str], float]:
    """Return what every NPC of the world thinks of every other of whom the ledger tells."""
    versions = current_versions(party)
    changes: dict[int, OpinionChange] = {}
    allowed: dict[int, bool] = {}
    rows = OpinionChange.objects.filter(world=party.world_id, npc__isnull=False).order_by("id")
    for entry in rows.select_related("npc", "other"):
        if entry.about_id is None:
            changes[entry.id], allowed[entry.id] = entry, not entry.held
        else:
            allowed[entry.about_id] = COUNTS_AFTER[entry.kind]
    scores: dict[tuple[str, str], float] = defaultdict(float)
    for entry in sorted(changes.values(), key=lambda change: (change.happened_at, change.id)):
        assert entry.npc
        assert entry.other
        is_current = versions.get(entry.episode_id, -1) == entry.episode_version
        if allowed[entry.id] and is_current and not entry.other.deleted_at:
            pair = entry.npc.slug, entry.other.slug
            soft = is_soft(party) and entry.kind != "correction"
            scores[pair] = after_step(scores[pair], entry.delta, soft=soft)
    return {pair: round(score, 4) for pair, score in scores.items()}


def current_versions(party: Party) -> dict[Any, int | None]:
    """Return the versions of the episodes of `party` that are not retracted, by id; None → None,
    for what no episode tells."""
    told = {
        each.pk: each.version for each in Episode.objects.filter(party=party, retracted_at=None)
    }
    return {None: None, **told}


def replay_dispositions(party: Party) -> tuple[dict[int, Any], dict[int, bool]]:
    """Return the changes of the ledger by id, and which of them count."""
    versions = current_versions(party)
    counts: dict[int, bool] = {}
    changes: dict[int, DispositionChange] = {}
    for entry in DispositionChange.objects.filter(party=party).select_related("npc").order_by("id"):
        if entry.about_id is None:
            changes[entry.id], counts[entry.id] = entry, not entry.held
        else:
            counts[entry.about_id] = COUNTS_AFTER[entry.kind]
    for entry in changes.values():
        if entry.episode_id and versions.get(entry.episode_id) != entry.episode_version:
            counts[entry.id] = False
    for entry in changes.values():
        # A cause is no consequence, so one look is enough.
        if entry.cause_id and not counts[entry.cause_id]:
            counts[entry.id] = False
    return changes, counts


def is_soft(party: Party) -> bool:
    return DispositionRules.objects.filter(world=party.world_id, soft_ends=True).exists()


def after_step(score: float, by: float, *, soft: bool) -> float:
    """Return the score after a step; with soft ends what leads outward beyond 50 is shrunk."""
    if not soft:
        return max(-100.0, min(100.0, score + by))
    side = 1.0 if by > 0 else -1.0
    place, left = side * score, abs(by)
    in_full = min(left, max(0.0, 50.0 - place))
    place, left = place + in_full, left - in_full
    return side * (100.0 - (100.0 - place) * exp(-left / 50.0)) if left else side * place
