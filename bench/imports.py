"""Measure an import: `EMBEDDER=hashing python -m bench.imports [--notes 5000]`.

A vault of Obsidian notes (folders, front matter, links, secret callouts; every tenth note is a
character, who becomes an NPC with an entity) is imported into an empty world of a scratch database,
as the worker imports an upload. Vectors are not counted: the worker adds them afterwards.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from bench.cpu_time import cpu_seconds, database_pids
from bench.scratch import connect

DATABASE = "memory37_bench_imports"
FOLDERS = ("Characters", "Places", "Places/North", "Factions", "History")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=5_000)
    options = parser.parse_args()
    connect(DATABASE)
    from memory_site.imports.direct import import_path
    from memory_site.imports.options import ImportOptions
    from worlds.models import GameSystem, World

    World.objects.all().delete()
    system, _is_new = GameSystem.objects.get_or_create(slug="dnd-5e", name="Fifth edition")
    world = World.objects.create(slug="bench", name="Bench", system=system)
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), options.notes)
        load, pids = os.getloadavg()[0], [os.getpid(), *database_pids()]
        started, cpu = time.perf_counter(), cpu_seconds(pids)
        report = import_path(world, Path(folder), ImportOptions(format="obsidian"), dry_run=False)
        seconds, cpu = time.perf_counter() - started, cpu_seconds(pids) - cpu
    print(f"{options.notes} notes: {seconds:.0f} s, CPU of worker and database {cpu:.0f} s")
    print(f"  load {load:.0f} to {os.getloadavg()[0]:.0f}")
    for kind, counts in report.counts().items():
        print(f"  {kind}: {counts}")


def write_vault(folder: Path, count: int) -> None:
    from bench.generated_world import WorldGenerator

    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, passage in enumerate(WorldGenerator().passages(count)):
        kind = "character" if number % 10 == 0 else "place"
        note = folder / FOLDERS[number % len(FOLDERS)] / f"Note {number}.md"
        note.write_text(
            f"---\ntype: {kind}\ntags: [tag-{number % 40}]\naliases: [Other {number}]\n---\n"
            f"{passage.text}\n\nSee [[Note {number // 2}]] and [[Other {number // 3}]].\n\n"
            f"> [!secret]\n> {passage.text[:120]}\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
