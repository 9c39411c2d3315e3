"""Many tables play at once: throughput, times, errors and memory of one web process.

`python -m bench.tables --tables 200 --seconds 120` starts a site on a database of its own (web,
worker, scheduler, the hashing embedder), and lets each table send a call, wait for the
answer and think for a while, again and again. `--think 0` finds out what happens beyond saturation:
answers 429 and 503 must name `Retry-After`, and no other call may fail.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.upgrade import ROOT, WORLD, Version, ended
from memory_site.process_supervisor import free_port

PARTY = {"party_id": "lanternbearers"}
MIX: list[tuple[int, str, str, Any]] = [
    (35, "POST", "tools/lore_search", {"query": "who moors at the pier of {word}"}),
    (15, "POST", "tools/rules_lookup", {"term": "{word}"}),
    (15, "POST", "tools/npc_profile", {"npc_id": "mira-voss", **PARTY}),
    (10, "POST", "tools/session_fetch", {**PARTY, "query": "{word} at the quay"}),
    (5, "POST", "tools/lore_assert", {"fact": "Mira Voss is in the {word}"}),
    (5, "POST", "memory/search", {"query": "rope of {word}"}),
    (5, "GET", "world/npcs", None),
    (4, "PUT", "world/lore", {"title": "Pier {number}", "body": "Boats of {word} moor here."}),
    (3, "POST", "memory", {"contents": "Captain {number} prefers {word}."}),
    (3, "POST", "world/episodes", {"summary_id": "{number}", "what": "They saw {word}.", **PARTY}),
]
"""Weight, method, path and body of each kind of call."""
WORDS = ("hemp", "salt", "eel", "lantern", "tar", "fog", "bell", "oar", "toll", "grapple", "prone")
BACK_PRESSURE = (429, 503)


@dataclass
class Run:
    url: str
    key: str
    think: float
    over: float
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    failures: list[str] = field(default_factory=list)

    async def table(self, number: int) -> None:
        dice = random.Random(number)
        headers = {"Authorization": f"Bearer {self.key}"}
        # Nothing is encrypted here: reading certificates would take the clients' time.
        async with httpx2.AsyncClient(
            base_url=self.url, headers=headers, timeout=60, verify=False
        ) as client:
            await asyncio.sleep(dice.random() * (self.think + 1))
            for turn in range(1_000_000):
                if time.monotonic() > self.over:
                    return
                chosen = dice.choices(MIX, [weight for weight, *_call in MIX])[0]
                values = {"word": dice.choice(WORDS), "number": f"{number}-{turn}"}
                await self.send(client, chosen, values)
                await asyncio.sleep(dice.expovariate(1 / self.think) if self.think else 0)

    async def send(
        self, client: httpx2.AsyncClient, call: tuple[int, str, str, Any], values: dict[str, str]
    ) -> None:
        _weight, method, path, body = call
        filled = {name: text.format(**values) for name, text in (body or {}).items()}
        began = time.monotonic()
        try:
            answer = await client.request(method, f"/api/v1/{path}", json=filled or None)
        except httpx2.HTTPError as problem:
            self.statuses[0] += 1
            self.failures.append(f"{path}: {problem!r}")
            return
        self.statuses[answer.status_code] += 1
        if answer.status_code in BACK_PRESSURE and answer.headers.get("Retry-After"):
            return
        if answer.status_code >= 400:
            self.failures.append(f"{path}: {answer.status_code} {answer.text[:200]}")
            return
        self.times[path].append(time.monotonic() - began)


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def play(run: Run, tables: int, pid: int) -> list[int]:
    """Let all tables play; return the memory of the process every five seconds, in bytes."""
    playing = asyncio.gather(*(run.table(number) for number in range(tables)))
    sizes = []
    while not playing.done():
        sizes.append(resident_bytes(pid))
        await asyncio.wait([playing], timeout=5)
    await playing
    return sizes


def quantile(times: Sequence[float], share: float) -> float:
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def print_report(run: Run, sizes: Sequence[int], seconds: float) -> None:
    every = [each for times in run.times.values() for each in times]
    print(f"{sum(run.statuses.values()) / seconds:.1f} calls a second, {dict(run.statuses)}")
    for name, times in [*sorted(run.times.items()), ("all", every)]:
        numbers = [quantile(times, share) for share in (0.5, 0.95, 0.99)] if times else []
        print(f"{name}: {len(times)} calls, p50, p95, p99 (ms): {[round(n) for n in numbers]}")
    print("memory of the web process (MB):", [size // 1_000_000 for size in sizes])
    print(f"{len(run.failures)} failures", *run.failures[:10], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--think", type=float, default=10, help="Seconds, on average.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as var, ExitStack() as stack:
        site, port = Version("site", ROOT, Path(var)), free_port(0)
        site.run("manage.py", "migrate", "--verbosity", "0")
        key = site.run("manage.py", "shell", "--verbosity", "0", "-c", WORLD).split()[-1]
        web = stack.enter_context(ended(site.serve(port)))
        for name in ("worker", "beat"):
            stack.enter_context(ended(site.start(name, 0)))
        over = time.monotonic() + options.seconds
        run = Run(f"http://127.0.0.1:{port}", key, options.think, over)
        sizes = asyncio.run(play(run, options.tables, web.pid))
    print_report(run, sizes, options.seconds)


if __name__ == "__main__":
    main()
