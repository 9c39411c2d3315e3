"""The themes of a reflection: clusters of its episodes together with the earlier ones that are like
them, and the insights that a theme revises."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memories.ingest.model_add import Models
from memories.models import InsightSource, MemoryItem, Reflection, Succession
from memories.querysets import MemoryQuerySet
from memories.reflection.clusters import EpisodeClusterer
from memories.states import Bucket, LinkKind, State
from memories.vectors import nearest_memories

AT_ONCE = 500
"""New episodes that are clustered together; more are read part by part."""
NEAREST = 20
"""Nearest memories of each new episode among which earlier ones are looked for."""


@dataclass
class Theme:
    """Episodes of one cluster, most typical first, and the active insights that rest on some."""

    episodes: list[MemoryItem]
    revised_ids: list[UUID] = field(default_factory=list)


def find_themes(reflection: Reflection, models: Models) -> list[Theme]:
    """Return the themes with a new episode that no insight rests on yet. A theme that comes back
    once in each reflection is found by its earlier episodes."""
    new = episodes_of(reflection).filter(
        timestamp_ms__gt=reflection.after_ms, timestamp_ms__lte=reflection.until_ms
    )
    ids = list(new.order_by("timestamp_ms").values_list("pk", flat=True))
    clusters: list[list[MemoryItem]] = []
    for start in range(0, len(ids), AT_ONCE):
        clusters += clusters_with(reflection, models, ids[start : start + AT_ONCE])
    themes = (with_insights(cluster) for cluster in join_overlapping(clusters))
    return [theme for theme in themes if theme is not None]


def episodes_of(reflection: Reflection) -> MemoryQuerySet:
    rows = MemoryItem.objects.of(reflection.namespace).active().filter(bucket=Bucket.EPISODIC)
    return rows.without_index_columns()


def clusters_with(
    reflection: Reflection, models: Models, ids: Sequence[UUID]
) -> list[list[MemoryItem]]:
    """Return the clusters of these episodes and of earlier ones like them."""
    new = list(episodes_of(reflection).filter(pk__in=ids))
    vectors = models.vectors.of_documents([episode.text for episode in new])
    near = nearest_memories(reflection.namespace, vectors, k=NEAREST)
    near_ids = {one.id for memories in near for one in memories} - set(ids)
    until = reflection.until_ms
    earlier = list(episodes_of(reflection).filter(pk__in=near_ids, timestamp_ms__lte=until))
    episodes = [*new, *earlier]
    vectors = models.vectors.of_documents([episode.text for episode in episodes])
    clusters = EpisodeClusterer().cluster(episodes, vectors)
    return [each for each in clusters if any(episode.pk in set(ids) for episode in each)]


def join_overlapping(clusters: Iterable[Sequence[MemoryItem]]) -> list[list[MemoryItem]]:
    """Join the clusters of different parts that have an episode in common."""
    joined: list[dict[UUID, MemoryItem]] = []
    for cluster in clusters:
        by_id = {episode.pk: episode for episode in cluster}
        for other in [one for one in joined if one.keys() & by_id.keys()]:
            joined.remove(other)
            by_id = other | by_id
        joined.append(by_id)
    return [list(by_id.values()) for by_id in joined]


def with_insights(cluster: Sequence[MemoryItem]) -> Theme | None:
    """Return the theme of a cluster with the episodes of the insights that it revises; None if one
    of them rests on all of it already."""
    ids = {episode.pk for episode in cluster}
    # Also what was merged into one of them, because it said the same.
    merges = Succession.objects.filter(newer__in=ids, kind=LinkKind.MERGED, in_effect=True)
    known_ids = ids.union(merges.values_list("older_id", flat=True))
    sources = InsightSource.objects.filter(
        insight__memory__state=State.ACTIVE, insight__sources__episode__in=known_ids
    ).select_related("episode")
    by_insight: dict[UUID, dict[UUID, MemoryItem]] = {}
    for source in sources.distinct():
        by_insight.setdefault(source.insight_id, {})[source.episode_id] = source.episode
    if any(ids <= episodes.keys() for episodes in by_insight.values()):
        return None
    older = {pk: one for episodes in by_insight.values() for pk, one in episodes.items()}
    others = [one for pk, one in older.items() if pk not in ids and one.state == State.ACTIVE]
    return Theme([*cluster, *others], list(by_insight))
