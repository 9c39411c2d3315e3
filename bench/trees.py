"""Fitted trees of scikit-learn as plain numbers."""

from typing import Any

import numpy as np


def as_numbers(trees: Any) -> dict[str, Any]:
    """Return a fitted `GradientBoostingClassifier` as `BoostedTrees` reads it."""
    nodes = max(each[0].tree_.node_count for each in trees.estimators_)
    data: dict[str, Any] = {name: [] for name in ("sign", "threshold", "left", "right", "value")}
    for (each,) in trees.estimators_:
        tree = each.tree_
        own = np.arange(tree.node_count)
        is_leaf = tree.children_left < 0
        columns = {
            "sign": np.where(is_leaf, 0, tree.feature),
            "threshold": np.where(is_leaf, 0.0, tree.threshold).round(5),
            "left": np.where(is_leaf, own, tree.children_left),
            "right": np.where(is_leaf, own, tree.children_right),
            "value": (tree.value[:, 0, 0] * trees.learning_rate).round(5),
        }
        for name, values in columns.items():
            data[name].append([*values.tolist(), *[0] * (nodes - tree.node_count)])
    prior = float(trees.init_.class_prior_[1])
    base = round(float(np.log(prior / (1 - prior))), 5)
    return {"base": base, "depth": trees.max_depth, **data}
