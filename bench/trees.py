"""Fitted trees of scikit-learn as plain numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def as_numbers(trees: Any) -> dict[str, Any]:
    """Return a fitted `GradientBoostingClassifier` as `BoostedTrees` reads it."""
    prior = float(trees.init_.class_prior_[1])
    base = float(np.log(prior / (1 - prior)))
    fitted = [each.tree_ for (each,) in trees.estimators_]
    return trees_as_numbers(fitted, base=base, rate=trees.learning_rate, depth=trees.max_depth)


def trees_as_numbers(
    trees: Sequence[Any], *, base: float, rate: float, depth: int
) -> dict[str, Any]:
    """Return regression trees as `BoostedTrees` reads them; each counts `rate`."""
    nodes = max(tree.node_count for tree in trees)
    data: dict[str, Any] = {name: [] for name in ("sign", "threshold", "left", "right", "value")}
    for tree in trees:
        own = np.arange(tree.node_count)
        is_leaf = tree.children_left < 0
        columns = {
            "sign": np.where(is_leaf, 0, tree.feature),
            "threshold": np.where(is_leaf, 0.0, tree.threshold).round(5),
            "left": np.where(is_leaf, own, tree.children_left),
            "right": np.where(is_leaf, own, tree.children_right),
            "value": (tree.value[:, 0, 0] * rate).round(5),
        }
        for name, values in columns.items():
            data[name].append([*values.tolist(), *[0] * (nodes - tree.node_count)])
    return {"base": round(base, 5), "depth": depth, **data}
