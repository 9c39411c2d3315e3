"""Clusters of similar episodes: all pairs of a cluster are similar on the average. What is like
nothing is in none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import AgglomerativeClustering

from memories.models import MemoryItem
from memories.similarity.compare import overlap
from memories.similarity.resolve import unit_rows
from memories.vectors import Vectors

MIN_COSINE, MIN_OVERLAP = 0.6, 0.3
"""Least mean similarity of two parts that become one cluster: by the vectors, and by the words
where there are no vectors."""


@dataclass(frozen=True)
class EpisodeClusterer:
    min_size: int = 2
    min_cosine: float = MIN_COSINE

    def cluster(
        self, episodes: Sequence[MemoryItem], vectors: Vectors | None
    ) -> list[list[MemoryItem]]:
        """Return the clusters, largest first; in each the most typical episode comes first."""
        if len(episodes) < max(self.min_size, 2):
            return []
        if vectors is None:
            similarities, least = overlaps([one.text for one in episodes]), MIN_OVERLAP
        else:
            units = unit_rows(vectors)
            similarities, least = units @ units.T, self.min_cosine
        model = AgglomerativeClustering(
            n_clusters=None, distance_threshold=1 - least, metric="precomputed", linkage="average"
        )
        labels = model.fit_predict(np.clip(1 - similarities, 0, None))
        clusters = []
        for label in sorted(set(labels)):
            positions = np.flatnonzero(labels == label)
            if len(positions) >= self.min_size:
                typicality = similarities[np.ix_(positions, positions)].mean(axis=0)
                order = positions[np.argsort(-typicality, kind="stable")]
                clusters.append([episodes[at] for at in order])
        return sorted(clusters, key=len, reverse=True)


def overlaps(texts: Sequence[str]) -> Vectors:
    """Return the overlap of the words of each pair, of shape (texts, texts)."""
    table = np.eye(len(texts), dtype=np.float32)
    for row, one in enumerate(texts):
        for column, other in enumerate(texts[:row]):
            table[row, column] = table[column, row] = overlap(one, other)
    return table
