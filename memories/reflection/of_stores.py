"""Reflection on what a write pipeline stored: on a namespace or a `Memory` as the worker does it,
on another store at once, without a claim, because nobody else reflects on it."""

from collections.abc import Sequence
from typing import Any, Protocol, cast
from uuid import UUID

from memories.buckets.memory_stores import HasNamespace, namespace_of
from memories.ingest.reconstruction import StructuredModel
from memories.models import Namespace
from memories.reflection.clusters import EpisodeClusterer
from memories.reflection.insights import ReflectionGenerator
from memories.reflection.run import run_reflection
from memories.reflection.triggers import Triggers, start_reflection
from memories.vectors import SiteSource, VectorSource


class EpisodeStore(Protocol):
    """A store that is no namespace. Its episodes and insights have an `id`, a `text` and an
    `importance`."""

    def episodes(self) -> Sequence[Any]: ...

    def insights(self) -> Sequence[tuple[UUID, frozenset[UUID]]]:
        """The insights in use, each with the episodes that it rests on."""

    def add_insight(self, text: str, importance: float, episodes: Sequence[UUID]) -> UUID: ...

    def remove(self, memory_id: UUID) -> bool: ...


def reflect(
    store: Namespace | HasNamespace | EpisodeStore,
    *,
    model: StructuredModel | None = None,
    vectors: VectorSource | None = None,
) -> list[UUID]:
    """Return the ids of new insights: one for each cluster of similar episodes that no insight
    rests on yet. A new insight takes the place of those on fewer of its episodes. For a namespace
    `Triggers` decide whether a reflection is due, and `model` and `vectors` are those of the site.
    """
    if namespace := namespace_of(store):
        reflection = start_reflection(namespace, Triggers())
        return (run_reflection(reflection) or []) if reflection else []
    return _reflect_on_records(cast(EpisodeStore, store), model, vectors or SiteSource())


def _reflect_on_records(
    store: EpisodeStore, model: StructuredModel | None, vectors: VectorSource
) -> list[UUID]:
    episodes = list(store.episodes())
    texts = [episode.text for episode in episodes]
    generator, known, written = ReflectionGenerator(model), store.insights(), []
    for cluster in EpisodeClusterer().cluster(
        episodes, vectors.of_documents(texts) if texts else None
    ):
        ids = frozenset(episode.id for episode in cluster)
        if any(ids <= rests_on for _insight, rests_on in known):
            continue
        draft = generator.generate(cluster)
        written.append(store.add_insight(draft.text, draft.importance, sorted(ids)))
        for insight, rests_on in known:
            if rests_on <= ids:
                store.remove(insight)
    return written
