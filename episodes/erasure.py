"""Delete an episode for good: text, vector, versions, effects and history. Retracting keeps all that; this does not."""

from django.db import transaction

from episodes.ingest import retract_episode
from episodes.lookup import find_episode
from episodes.models import Episode, Recap
from knowledge.graph.models import GraphEdge, SourceKind
from worlds.erasure import deletion_for_good
from worlds.models import Reveal, World


@transaction.atomic
def erase_episode(world: World, reference: str) -> dict[str, int]:
    """Take it back, then delete every row that speaks of it. Returns how many rows of each kind went."""
    episode = find_episode(world, reference)
    retract_episode(world, episode.external_id, reason="deleted for good")
    facts = GraphEdge.objects.filter(
        world=world, source_kind=SourceKind.EPISODE, source_ref=episode.external_id
    ).delete()
    learned = Reveal.objects.filter(world=world, episode_ref=episode.external_id).delete()
    recaps = Recap.objects.filter(sentences__episodes=episode).delete()
    with deletion_for_good():
        gone = Episode.objects.get(pk=episode.pk).delete()
    counts: dict[str, int] = {}
    for _total, kinds in (facts, learned, recaps, gone):
        for kind, count in kinds.items():
            counts[kind] = counts.get(kind, 0) + count
    return {kind: count for kind, count in sorted(counts.items()) if count}
