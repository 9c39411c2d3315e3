"""Plots of the benches' results: `python bench/plots.py FOLDER`.

Runs in the benches' own environment (requirements-bench.txt). Reads `report.json` of the folder,
`{name: {title, unit, bars: {group: {label: value or [value, low, high]}}}}`, and writes `name.svg`.
"""

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    folder = Path(sys.argv[1])
    for name, plot in json.loads((folder / "report.json").read_text(encoding="utf-8")).items():
        draw_bars(folder / f"{name}.svg", plot)
        print(folder / f"{name}.svg")


def draw_bars(path: Path, plot: dict[str, Any]) -> None:
    """Draw a group of horizontal bars for each group, with intervals where they are given."""
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(label for bars in plot["bars"].values() for label in bars))
    height = 0.8 / len(labels)
    figure = Figure(figsize=(8, 0.6 + 0.28 * len(labels) * len(plot["bars"])), layout="constrained")
    axes = figure.subplots()
    for number, label in enumerate(labels):
        for place, bars in enumerate(plot["bars"].values()):
            if label not in bars:
                continue
            value, low, high = as_interval(bars[label])
            axes.barh(
                place + number * height,
                value,
                height,
                xerr=[[value - low], [high - value]],
                color=f"C{number}",
                label=label if place == 0 else "_",
                error_kw={"elinewidth": 0.8},
            )
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(plot["bars"]))], plot["bars"])
    axes.invert_yaxis()
    axes.set_xlabel(plot["unit"])
    axes.set_title(plot["title"])
    if len(labels) > 1:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


def as_interval(value: Any) -> tuple[float, float, float]:
    if isinstance(value, list):
        mean, low, high = value
        return mean, low, high
    return value, value, value


if __name__ == "__main__":
    main()
