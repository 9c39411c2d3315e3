"""Fitted trees and logistic sums of scikit-learn as plain numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Boosting:
    """How trees are boosted; `sample`, `features`: the shares of rows and signs that each sees."""

    trees: int
    depth: int
    rate: float
    sample: float = 0.6
    features: float = 0.3
    leaf: int = 20

    def fit(
        self, table: Any, labels: Any, weights: Any, *, order: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Boost regression trees to the logistic loss, without the Newton step, which would break
        `order`: for each sign 1 where more of it must not lower the probability, -1 where it must
        not raise it, else 0."""
        from sklearn.tree import DecisionTreeRegressor

        base = float(
            np.log(np.average(labels, weights=weights) / np.average(1 - labels, weights=weights))
        )
        sums, chance, trees = np.full(len(labels), base), np.random.RandomState(0), []
        for number in range(self.trees):
            chosen = chance.rand(len(labels)) < self.sample
            tree = DecisionTreeRegressor(
                max_depth=self.depth,
                max_features=self.features,
                min_samples_leaf=self.leaf,
                monotonic_cst=order,
                random_state=number,
            )
            rest = labels - 1 / (1 + np.exp(-sums))
            tree.fit(table[chosen], rest[chosen], weights[chosen])
            sums += self.rate * tree.predict(table)
            trees.append(tree.tree_)
        return trees_as_numbers(trees, base=base, rate=self.rate, depth=self.depth)


def logistic_sum(
    rows: Sequence[dict[str, float]], labels: Sequence[bool], weights: Sequence[float]
) -> dict[str, Any]:
    """Return a fitted `LogisticSum` as plain numbers."""
    from sklearn.linear_model import LogisticRegression

    names = [*rows[0]] if rows else []
    if not names:
        return {"bias": 0.0, "weights": {"trees": 1.0}}
    table = np.array([[row[name] for name in names] for row in rows])
    scale = len(weights) / sum(weights)
    model = LogisticRegression(C=1.0).fit(table, labels, np.array(weights) * scale)
    fitted = zip(names, model.coef_[0], strict=True)
    return {
        "bias": round(float(model.intercept_[0]), 4),
        "weights": {name: round(float(value), 4) for name, value in fitted},
    }
