"""Delete an episode permanently: text, vector, versions, effects and history. A retraction keeps
all of that.
"""

from collections import Counter

from django.db import transaction

from episodes.followers import followers
from episodes.ingest import retract_episode
from episodes.lookup import find_episode
from episodes.models import Episode
from episodes.recap_models import Recap
from knowledge.graph.models import GraphEdge, SourceKind
from worlds.erasure import permanent_deletion
from worlds.models import Reveal, World


@transaction.atomic
def erase_episode(world: World, reference: str) -> dict[str, int]:
    """Retract the episode, then delete every row that names it. Returns the number of rows deleted
    by model.
    """
    episode = find_episode(world, reference)
    # The retraction first, so that dispositions, reveals and facts are recomputed as if the episode
    # had never been.
    retract_episode(world, episode.external_id, reason="deleted for good")
    # From now on nobody writes rows that refer to it.
    Episode.objects.select_for_update().get(pk=episode.pk)
    for follower in followers():
        follower.follow_deletion(episode)
    rows = [
        GraphEdge.objects.filter(
            world=world, source_kind=SourceKind.EPISODE, source_ref=episode.external_id
        ),
        Reveal.objects.filter(world=world, episode_ref=episode.external_id),
        Recap.objects.filter(sentences__episodes=episode),
        Episode.objects.filter(pk=episode.pk),
    ]
    counts: Counter[str] = Counter()
    with permanent_deletion():
        for queryset in rows:
            counts.update(queryset.delete()[1])
    return {model: count for model, count in sorted(counts.items()) if count}
