"""Measure a rename: `EMBEDDER=hashing python -m bench.renames`.

A world of 1,000 entries, in a scratch database, has an entry that 200 others mention. It is renamed
again and again; each time every text that mentions it is rewritten, with history and passages.
Vectors are not counted: the worker adds them afterwards.
"""

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

from bench.cpu_time import cpu_seconds, database_pids
from bench.scratch import connect

DATABASE = "memory37_bench_renames"
ENTRIES, MENTIONS, BATCH = 1_000, 200, 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    connect(DATABASE)
    from knowledge.entry_store import save_all
    from knowledge.links import rename_everywhere
    from worlds.models import GameSystem, World

    World.objects.all().delete()
    system, _is_new = GameSystem.objects.get_or_create(slug="dnd-5e", name="Fifth edition")
    world = World.objects.create(slug="bench", name="Bench", system=system)
    entries = list(entries_with_mentions(world))
    for start in range(0, ENTRIES, BATCH):
        save_all(entries[start : start + BATCH])
    for number in range(options.times):
        pids = [os.getpid(), *database_pids()]
        started, cpu = time.perf_counter(), cpu_seconds(pids)
        report = rename_everywhere(entries[0], f"Grey Abbey {number}")
        seconds, cpu = time.perf_counter() - started, cpu_seconds(pids) - cpu
        assert report.mentions == MENTIONS
        print(f"{report.texts} texts: {seconds:.1f} s, CPU {cpu:.1f} s")
    print(f"load {os.getloadavg()[0]:.0f}")


def entries_with_mentions(world: Any) -> Iterator[Any]:
    from bench.generated_world import WorldGenerator
    from knowledge.models import Lore

    for number, passage in enumerate(WorldGenerator().passages(ENTRIES)):
        mention = "See [[Grey Abbey]]." if 1 <= number <= MENTIONS else ""
        yield Lore(
            world=world,
            slug=f"entry-{number}",
            title=f"Entry {number}" if number else "Grey Abbey",
            body=f"{passage.text}\n\n{mention} [[Entry {number // 2}]]",
            status="published",
        )


if __name__ == "__main__":
    main()
