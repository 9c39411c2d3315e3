"""Measure quality and speed: `make bench DATA=FOLDER` or `python -m bench [FOLDER…]`.

First the quality of search, on our own questions and on the evaluation sets of the given folders;
then its latency, as bare SQL, in Python and over HTTP. All data is in scratch databases, which are
kept: only the first run embeds and fills them (some minutes). `bench.quality` and `bench.latency`
have more options.
"""

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders", nargs="*", type=Path, help="Folders of evaluation sets (*.corpus.jsonl)."
    )
    parser.add_argument(
        "--sizes", default="10000", help="Passages to search, as 10000,100000. Default: 10000."
    )
    parser.add_argument(
        "--sample", type=int, default=200, help="Questions of each set, 0 for all. Default: 200."
    )
    parser.add_argument("--no-quality", action="store_true", help="Only latency.")
    parser.add_argument("--no-latency", action="store_true", help="Only quality.")
    options = parser.parse_args()
    if missing := [str(folder) for folder in options.folders if not folder.is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    if not options.no_quality:
        run_module(
            "bench.quality",
            *map(str, options.folders),
            "--questions",
            "--sample",
            str(options.sample),
        )
    if not options.no_latency:
        run_module("bench.latency", "--http", "--sizes", options.sizes)


def run_module(module: str, *arguments: str) -> None:
    """Run a module in a process of its own: each has another embedder and another database."""
    print(f"\n== python -m {module} {' '.join(arguments)}", flush=True)
    if code := subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
