"""Clusters of similar episodes, by density (HDBSCAN); outliers are in none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import HDBSCAN

from memories.models import MemoryItem
from memories.vectors import Vectors


@dataclass(frozen=True)
class EpisodeClusterer:
    min_size: int = 2

    def cluster(
        self, episodes: Sequence[MemoryItem], vectors: Vectors | None
    ) -> list[list[MemoryItem]]:
        """Return the clusters, largest first; in each the most typical episode comes first."""
        # Density says nothing about two or three points, and there is none without vectors.
        if vectors is None or len(episodes) <= max(self.min_size, 3):
            return [list(episodes)] if len(episodes) >= self.min_size else []
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        # Euclidean distance of unit vectors orders pairs as cosine does.
        directions = vectors / np.where(lengths == 0, 1, lengths)
        model = HDBSCAN(min_cluster_size=self.min_size, min_samples=1, copy=True)
        labels = model.fit_predict(directions)
        clusters = []
        for label in sorted(set(labels) - {-1}):
            positions = np.flatnonzero(labels == label)
            typicality = vectors[positions] @ vectors[positions].mean(axis=0)
            clusters.append([episodes[at] for at in positions[np.argsort(-typicality)]])
        return sorted(clusters, key=len, reverse=True)
