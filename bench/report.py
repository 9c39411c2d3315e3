"""Plots of what the benches saved: `python -m bench.report`. `make bench` runs it at the end."""

import json
import os
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.metrics import bootstrap_interval
from bench.quality import REPORTED
from bench.results import QuestionResult, bench_folder, by_set_and_ranker, percentile, read_results

MEASURE = "nDCG@10"


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    from bench.peer_packages import environment_python

    folder = bench_folder()
    plots = {name: plot for name, plot in plots_of(folder).items() if plot["bars"]}
    if not plots:
        print(f"Nothing to draw: {folder} has no results.")
        return
    (folder / "report.json").write_text(json.dumps(plots, indent=1), encoding="utf-8")
    script = Path(__file__).parent / "plots.py"
    subprocess.run([environment_python(), script, folder], check=True)


def plots_of(folder: Path) -> dict[str, Any]:
    """Return the plots of the results that are saved in `folder`."""
    quality, peers = (load_results(folder / f"{name}.jsonl") for name in ("quality", "peers"))
    speed = folder / "peer_speed.json"
    times = json.loads(speed.read_text()) if speed.exists() else {}
    plots = {
        "quality": {"title": "Quality by leg", "unit": MEASURE, "bars": bars_of(quality, REPORTED)},
        "peers": {"title": "Other stores, same vectors", "unit": MEASURE, "bars": bars_of(peers)},
        "speed": {
            "title": "A search among other stores, same vectors",
            "unit": "p50, ms",
            "bars": {name: {"p50": percentile(some, 0.5)} for name, some in times.items()},
        },
    }
    for path in sorted(folder.glob("scale-*.json")):
        plots[path.stem] = scale_plot(json.loads(path.read_text()))
    return plots


def load_results(path: Path) -> list[QuestionResult]:
    return list(read_results(path)) if path.exists() else []


def bars_of(
    results: list[QuestionResult], rankers: tuple[str, ...] | None = None
) -> dict[str, dict[str, list[float]]]:
    """Return mean and 95 % interval of each ranker by set."""
    return {
        dataset: {
            ranker: mean_and_interval([each.measures[MEASURE] for each in rows])
            for ranker, rows in by_ranker.items()
            if rankers is None or ranker in rankers
        }
        for dataset, by_ranker in by_set_and_ranker(results).items()
    }


def mean_and_interval(values: list[float]) -> list[float]:
    return [fmean(values), *bootstrap_interval(values)]


def scale_plot(figures: dict[str, Any]) -> dict[str, Any]:
    moments = ("alone", "filtered", "during", "after")
    bars = {
        moment: {name: figures[moment]["all"][name] for name in ("p50", "p95", "p99")}
        for moment in moments
        if moment in figures
    }
    title = f"{figures['passages']:,} passages in {figures['worlds']:,} worlds"
    return {"title": title, "unit": "ms", "bars": bars}


if __name__ == "__main__":
    main()
