"""Measure the pages of a large world: `EMBEDDER=hashing python -m bench.pages`.

A web server answers them from a scratch database with 5,000 entries and 500 NPCs, which is kept.
Each page is read by a game master, or a superuser for the admin, over one connection; the table
has the median, the slowest, the median as a multiple of that of `/health/live`, and the CPU time of
web server and database for one request, which other work on the machine changes least.
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench.cpu_time import cpu_seconds, database_pids
from bench.scratch import connect

DATABASE = "memory37_bench_pages"
ENTRIES, NPCS, PARTIES, BATCH = 5_000, 500, 3, 500
USER = "bench"
BAR = 150.0
"""Milliseconds that the median of any page may take."""
LIVE = "/health/live"
KINDS = ("place", "faction", "biography", "item", "event", "custom")
PAGES = {
    "world": "",
    "list of lore": "lore/",
    "by folder": "lore/?view=tree&folder=North",
    "by kind, sorted": "lore/?kind=place&sort=-updated",
    "by text": "lore/?text={word}",
    "by tag": "lore/?tag=tag-3",
    "last page": "lore/?page=99999",
    "NPCs": "npcs/",
    "NPC": "npcs/npc-7/",
    "entry": "lore/entry-7/",
    "versions": "lore/entry-7/history/",
    "recently changed": "recent/",
    "drafts": "drafts/",
    "trash": "trash/",
    "inbox": "inbox/",
    "graph": "graph/",
    "party": "parties/party-1/",
    "search": "search/?q={word}+{other}",
    "search of a name": "search/?q={title}",
    "editor names": "editor/complete/?q=ba",
}
ADMIN_PAGES = {
    "admin lore": "knowledge/lore/",
    "admin lore, searched": "knowledge/lore/?q={word}",
    "admin lore, embedding": "knowledge/lore/?embedding=waiting",
    "admin NPCs": "npcs/npc/",
    "admin entities": "knowledge/graphnode/",
    "admin dispositions": "npcs/disposition/",
}


def read_options(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--times", type=int, default=15, help="Requests of each page. Default: 15.")
    parser.add_argument("--only", default="", help="Part of the names of the pages to measure.")
    return parser.parse_args()


def main() -> None:
    options = read_options(__doc__)
    connect(DATABASE)
    from django.contrib.auth.models import User

    from worlds.models import World

    if not World.objects.exists():
        started = time.perf_counter()
        User.objects.create_superuser(USER)
        build_world("bench", entries=ENTRIES, npcs=NPCS)
        print(f"The world was written in {time.perf_counter() - started:.0f} s.")
    keep_up()
    measure(options.times, only=options.only)


# --- the world


def build_world(slug: str, *, entries: int, npcs: int) -> None:
    from worlds.models import Campaign, GameSystem, Party, World

    system, _new = GameSystem.objects.get_or_create(slug="dnd-5e", name="Fifth edition")
    world = World.objects.create(slug=slug, name="Bench", system=system)
    campaign = Campaign.objects.create(world=world, slug="first", name="First")
    for number in range(PARTIES):
        slug, name = f"party-{number}", f"Party {number}"
        Party.objects.create(world=world, campaign=campaign, slug=slug, name=name)
    write_lore(world, entries)
    write_npcs(world, npcs)


def write_lore(world: Any, count: int) -> None:
    from knowledge.entry_store import save_all
    from knowledge.models import LorePassage
    from retrieval.indexing import embed_pending

    entries = list(generated_entries(world, count))
    for start in range(0, len(entries), BATCH):
        save_all(entries[start : start + BATCH])
    embed_pending(LorePassage)


def keep_up() -> None:
    """Do what the worker does every minute, which no worker does for this database."""
    from knowledge.models import LorePassage
    from retrieval.indexing.upkeep import index_vectors, recount_changed

    recount_changed(LorePassage)
    index_vectors(LorePassage)


def generated_entries(world: Any, count: int) -> Iterator[Any]:
    from bench.generated_world import WorldGenerator
    from knowledge.models import Lore

    generator = WorldGenerator()
    for number, passage in enumerate(generator.passages(count)):
        words = passage.text.split()
        visibility = ("public", "gm", "revealed")[number % 3]
        yield Lore(
            world=world,
            slug=f"entry-{number}",
            title=entry_title(words, number),
            body=f"{' '.join(words[2:])}\n\nSee [[entry-{number // 2}]].\n\n"
            f":::secret\n{' '.join(words[:20])}\n:::\n",
            kind=KINDS[number % len(KINDS)],
            tags=[f"tag-{number % 40}"],
            folder=("", "North", "North/Carrow", f"South/{number % 30}")[number % 4],
            status="draft" if number % 10 == 0 else "published",
            visibility=visibility,
            known_to=["party:party-1"] if visibility == "revealed" else [],
            author=f"author-{number % 5}",
        )


def entry_title(words: list[str], number: int) -> str:
    return f"{words[0]} {words[1]} {number}".title()


def write_npcs(world: Any, count: int) -> None:
    from knowledge.graph.models import GraphEdge, GraphNode
    from npcs.dispositions import correct
    from npcs.models import NPC
    from worlds.models import Party

    npcs = [
        NPC(
            world=world,
            slug=f"npc-{number}",
            name=f"Person {number}",
            visibility="public",
            role="Ferryman",
            summary="Rows at night.",
        )
        for number in range(count)
    ]
    NPC.objects.bulk_create(npcs)
    nodes = [GraphNode(world=world, kind="Character", slug=npc.slug, name=npc.name) for npc in npcs]
    GraphNode.objects.bulk_create(nodes)
    GraphEdge.objects.bulk_create(
        GraphEdge(
            world=world,
            src=node,
            dst=nodes[(number * 7 + 1) % count],
            relation_id="KNOWS",
            src_kind=node.kind,
            dst_kind=node.kind,
        )
        for number, node in enumerate(nodes)
    )
    for party in Party.objects.filter(world=world):
        for npc in npcs[::2]:
            correct(npc, party, by=7, reason="A favour.", made_by="bench")


# --- the measurement


def measure(times: int, *, only: str = "") -> None:
    from bench.http_server import BenchServer

    server = BenchServer([], k=1)
    cookie = {"Cookie": f"sessionid={session_key()}"}
    try:
        live = read_times(server, LIVE, {}, times * 4)
        print(f"{'page':26} {'p50 ms':>8} {'max ms':>8} {'× live':>8} {'CPU ms':>8}")
        print(f"{LIVE:26} {live[0]:8.1f} {live[1]:8.1f} {1:8.1f} {live[2]:8.1f}")
        slow = []
        pages = {name: url for name, url in addresses("bench").items() if only in name}
        for name, address in pages.items():
            median, slowest, cpu = read_times(server, address, cookie, times)
            slow += [name] * (median > BAR)
            relative = median / live[0]
            print(f"{name:26} {median:8.1f} {slowest:8.1f} {relative:8.1f} {cpu:8.1f}")
        print(f"Above {BAR:.0f} ms: {', '.join(slow) or 'none'}; load {os.getloadavg()[0]:.0f}")
    finally:
        server.stop()


def addresses(world: str) -> dict[str, str]:
    """The address of each page, with words that the texts of `world` have."""
    from knowledge.models import Lore

    entry = Lore.objects.get(world__slug=world, slug="entry-20")
    words = entry.body.split()
    fill = {"word": words[3], "other": words[9], "title": entry.title.replace(" ", "+")}
    pages = {name: f"/w/{world}/{page}" for name, page in PAGES.items()}
    pages |= {name: f"/admin/{page}" for name, page in ADMIN_PAGES.items()}
    return {name: address.format(**fill) for name, address in pages.items()}


def session_key(username: str = USER) -> str:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    backend = "django.contrib.auth.backends.ModelBackend"
    client.force_login(User.objects.get(username=username), backend=backend)
    return client.cookies["sessionid"].value


def read_times(
    server: Any, address: str, headers: dict[str, str], times: int
) -> tuple[float, float, float]:
    """Return the median time, the longest, and the CPU time of one request, all in milliseconds;
    the first three requests are not counted."""
    durations = []
    pids, cpu = [server.pid, *database_pids()], 0.0
    for number in range(times + 3):
        if number == 3:
            cpu = cpu_seconds(pids)
        started = time.perf_counter()
        status, _body = server.get(address, **headers)
        if status != 200:
            raise RuntimeError(f"{address}: the server answered {status}")
        if number >= 3:
            durations.append((time.perf_counter() - started) * 1000)
    cpu = (cpu_seconds(pids) - cpu) * 1000 / times
    return statistics.median(durations), max(durations), cpu


if __name__ == "__main__":
    main()
