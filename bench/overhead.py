"""The time that key, audience, rate limit and audit add to a tool: `python -m bench.overhead
[--calls 300]`.

"bare" calls the tool's function; "full" verifies the key, counts the call, narrows the audience and
audits the answer (`toolbox.call_tool`). Both alternate in one process, so that the load of the
machine affects both alike. On a busy machine the p10 is the least disturbed figure.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
os.environ.setdefault("EMBEDDER", "hashing")

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from knowledge.entry_store import save_entry  # noqa: E402
from knowledge.models import Lore  # noqa: E402
from memory_site import toolbox  # noqa: E402
from worlds import keys  # noqa: E402
from worlds.callers import Caller  # noqa: E402
from worlds.models import World  # noqa: E402

BAR = 2.0
ASK = {"query": "ferry", "k": 3}


def elapsed_ms(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def measure(calls: int) -> tuple[list[float], list[float]]:
    """Return the times of bare and of full calls, in milliseconds."""
    world, _new = World.objects.get_or_create(slug="bench-overhead", defaults={"name": "Bench"})
    save_entry(
        Lore(
            world=world,
            slug="ferry",
            title="Ferry",
            body="A ferry.",
            status="published",
            visibility="public",
        )
    )
    _key, text = keys.create_key(world, name="bench", audience="gm", calls_per_minute=1_000_000)
    tool = toolbox.find_tool("lore_search")
    caller = Caller.with_key(keys.verify(text)).as_audience("public")

    def bare() -> Any:
        return tool.function(tool.request_model.model_validate(ASK), caller).model_dump(
            mode="json", by_alias=True
        )

    def full() -> Any:
        asking = Caller.with_key(keys.verify(text), request_id="bench")
        return toolbox.call_tool(
            "lore_search", {**ASK, "as": "public"}, asking, via="bench"
        ).as_json()

    try:
        for _ in range(20):
            bare(), full()
        times = [(elapsed_ms(bare), elapsed_ms(full)) for _ in range(calls)]
    finally:
        world.delete()
    return [one for one, _other in times], [other for _one, other in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    call_command("migrate", verbosity=0)
    bare, full = measure(parser.parse_args().calls)
    added = statistics.median(full) - statistics.median(bare)
    tenths = [statistics.quantiles(times, n=10)[0] for times in (bare, full)]
    print(f"bare p50 {statistics.median(bare):.2f} ms, full {statistics.median(full):.2f} ms")
    difference = tenths[1] - tenths[0]
    print(f"bare p10 {tenths[0]:.2f} ms, full {tenths[1]:.2f} ms: added {difference:.2f} ms")
    print(f"added at p50: {added:.2f} ms (bar {BAR} ms): {'ok' if added <= BAR else 'OVER'}")


if __name__ == "__main__":
    main()
