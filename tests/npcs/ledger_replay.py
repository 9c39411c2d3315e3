"""A second, simple implementation of dispositions, for tests to compare with: replay the ledger."""

from collections import defaultdict

from episodes.models import Episode
from npcs.models import DispositionChange
from worlds.models import Party

COUNTS_AFTER = {"approval": True, "restoration": True, "rejection": False, "reversal": False}


def replay(party: Party) -> dict[str, float]:
    """Return the score of every NPC in the ledger of `party`."""
    current_versions = {
        episode.pk: episode.version
        for episode in Episode.objects.filter(party=party)
        if not episode.retracted_at
    }
    counts: dict[int, bool] = {}
    changes: dict[int, DispositionChange] = {}
    for entry in DispositionChange.objects.filter(party=party).select_related("npc").order_by("id"):
        if entry.about_id is None:
            changes[entry.id], counts[entry.id] = entry, not entry.held
        else:
            counts[entry.about_id] = COUNTS_AFTER[entry.kind]
    scores: dict[str, float] = defaultdict(float)
    for entry in sorted(changes.values(), key=lambda change: (change.happened_at, change.id)):
        is_replaced = (
            entry.episode_id is not None
            and current_versions.get(entry.episode_id) != entry.episode_version
        )
        before = scores[entry.npc.slug]
        if counts[entry.id] and not is_replaced and entry.axis != "fear":
            scores[entry.npc.slug] = max(-100, min(100, before + entry.delta))
    return dict(scores)
