"""Measure everything: `make bench DATA=FOLDER` or `python -m bench [FOLDER…]`.

Prints a table for each area and saves what it is made of in `var/bench`: quality by set and leg
with 95 % intervals (our own questions, and the evaluation sets of the given folders), latency as
bare SQL, in Python and over HTTP, scale, and the stores of other projects on the same vectors. At
the end the plots are drawn (SVG). All data is in scratch databases, which are kept: only the first
run embeds and fills them. The modules (`bench.quality`, `bench.latency`, `bench.scale`,
`bench.peer_packages`) have more options.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from bench.passage_counts import passage_count

AREAS = ("quality", "latency", "scale", "peers")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders", nargs="*", type=Path, help="Folders of evaluation sets (*.corpus.jsonl)."
    )
    parser.add_argument(
        "--sizes", default="10000", help="Passages for latency, as 10000,100000. Default: 10000."
    )
    parser.add_argument(
        "--sample", type=int, default=200, help="Questions of each set, 0 for all. Default: 200."
    )
    parser.add_argument(
        "--passages",
        type=passage_count,
        default=100_000,
        help="Passages for scale, a multiple of 10000. Default: 100000.",
    )
    parser.add_argument(
        "--peer-passages", type=int, default=20_000, help="Passages for the speed of peers."
    )
    parser.add_argument("--areas", nargs="*", choices=AREAS, default=AREAS, help="Only these.")
    options = parser.parse_args()
    if missing := [str(folder) for folder in options.folders if not folder.is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    folders, sample = [*map(str, options.folders)], ["--sample", str(options.sample)]
    sizes = ["--passages", str(options.peer_passages)]
    arguments_by_area = {
        "quality": ["bench.quality", *folders, "--questions", *sample],
        "latency": ["bench.latency", "--http", "--sizes", options.sizes],
        "scale": ["bench.scale", "--passages", str(options.passages)],
        "peers": ["bench.peer_packages", *folders, *sample, *sizes],
    }
    for area in options.areas:
        run_module(*arguments_by_area[area])
    run_module("bench.report")


def run_module(module: str, *arguments: str) -> None:
    """Run a module in a process of its own: each has another embedder and another database."""
    print(f"\n== python -m {module} {' '.join(arguments)}", flush=True)
    if code := subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
