"""Episodes that are alike: density-based clusters of their vectors (HDBSCAN). What is like nothing stays alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN

from memories.models import MemoryItem
from memories.vectors import Vectors

LEAST = 2


@dataclass(frozen=True)
class EpisodeCluster:
    """Episodes, the most typical first."""

    episodes: Sequence[MemoryItem]


@dataclass(frozen=True)
class EpisodeClusterer:
    least: int = LEAST

    def cluster(
        self, episodes: Sequence[MemoryItem], vectors: Vectors | None
    ) -> list[EpisodeCluster]:
        """Largest first. Without vectors, or with too few episodes to tell, all are one cluster."""
        if vectors is None or len(episodes) <= max(self.least, 3):
            return [EpisodeCluster(list(episodes))] if len(episodes) >= self.least else []
        labels = self._labels(vectors)
        found = [
            self._cluster(episodes, vectors, labels == label)
            for label in sorted(set(labels) - {-1})
        ]
        return sorted(found, key=lambda cluster: -len(cluster.episodes))

    def _labels(self, vectors: Vectors) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        directions = vectors / np.where(lengths == 0, 1, lengths)
        model = HDBSCAN(min_cluster_size=self.least, min_samples=1, copy=True)
        labels: np.ndarray[tuple[int], np.dtype[np.int64]] = model.fit_predict(directions)
        return labels

    def _cluster(
        self, episodes: Sequence[MemoryItem], vectors: Vectors, chosen: Any
    ) -> EpisodeCluster:
        places = np.flatnonzero(chosen)
        nearness = vectors[places] @ vectors[places].mean(axis=0)
        return EpisodeCluster([episodes[place] for place in places[np.argsort(-nearness)]])
