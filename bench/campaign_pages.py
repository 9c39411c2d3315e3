"""Measure the pages of a table: `EMBEDDER=hashing python -m bench.campaign_pages`.

A web server answers them from a scratch database, which is kept: one world with 1,000 NPCs, 100,000
episodes and 20 parties, and a small one. Each page is read by a game master, the players' pages by
a player. The table has the median, the slowest, the CPU time of web server and database for one
request, and the number of SQL statements in the large world and in the small one.
"""

import os
import time
from typing import Any

from bench.campaign_world import Size, write_campaign
from bench.pages import read_options
from bench.scratch import connect

DATABASE = "memory37_bench_campaign"
LARGE, SMALL = Size(1_000, 100_000, 20), Size(60, 400, 4)
WORLDS = {"large": LARGE, "small": SMALL}
BAR = 150.0
"""Milliseconds that the median of any page may take."""
PARTY = "parties/party-1"
PAGES = {
    "overview": "",
    "Prepare": f"{PARTY}/prepare/",
    "Prepare, what is unknown": f"{PARTY}/prepare/unknown/",
    "Play": f"{PARTY}/play/",
    "Play, a person asked for": f"{PARTY}/play/?q={{npc}}",
    "Play, a place asked for": f"{PARTY}/play/?q={{title}}",
    "Play, a rule asked for": f"{PARTY}/play/?q=grappled",
    "Play, a question": f"{PARTY}/play/?q=who+argued+about+the+toll",
    "Play, the scene alone": f"{PARTY}/play/scene/",
    "party": f"{PARTY}/",
    "timeline": "timeline/",
    "timeline, oldest first": "timeline/?order=oldest",
    "timeline of a party": "timeline/?party=party-1",
    "timeline of an NPC": "timeline/?about={npc}",
    "timeline of a place": "timeline/?about={title}",
    "timeline of a year": "timeline/?from=1918-01-01&to=1918-12-31&sky=1",
    "timeline of dispositions": "timeline/?kind=disposition",
    "NPCs": "npcs/",
    **{
        f"NPCs by {sort}": f"npcs/?sort={sort}&party=party-1"
        for sort in ("worst", "best", "seen", "unseen", "faction", "home")
    },
    "NPCs, hostile": "npcs/?party=party-1&label=hostile",
    "NPCs of a faction": "npcs/?faction={faction}",
    "NPCs of a home": "npcs/?home={title}",
    "NPCs of the last session": "npcs/?seen=session",
    "NPCs never seen": "npcs/?seen=never",
    "NPCs seen by a party": "npcs/?seen=ever&party=party-1",
    "NPCs by text": "npcs/?text={npc}",
    "NPC": "npcs/npc-7/",
    "NPC, what mentions it": "npcs/npc-7/mentions/",
    "NPC and a party": "npcs/npc-7/?party=party-1",
    "graph": "graph/",
    "graph of one relation": "graph/?relation=KNOWS",
    "graph around an NPC": "graph/?around=npc-7",
    "graph, three steps": "graph/?around=npc-7&depth=3",
    "graph as of a day": "graph/?at=1917-06-01",
    "inbox": "inbox/",
    "sessions": "sessions/",
    "sessions, last page": "sessions/?page=9999",
    "session": "sessions/s-1-3/",
    "recap of a session": "sessions/s-1-3/recap/",
    "After": "sessions/s-1-3/after/",
    "episode": "episodes/ep-101/",
    "search": "search/?q={npc}",
    "recently changed": "recent/",
}
PLAYERS_PAGES = {
    "player: new": "new/",
    "player: what we know": "known/",
    "player: last page": "known/?page=999",
    "player: places": "known/?show=places",
    "player: secrets": "known/?show=secrets",
    "player: our story": "story/",
    "player: handouts": "handouts/",
    "player: NPCs": "npcs/",
    "player: NPCs last seen": "npcs/?sort=seen",
    "player: NPC": "npcs/npc-7/",
    "player: timeline": "timeline/",
    "player: timeline of an NPC": "timeline/?about={npc}",
    "player: graph": "graph/",
    "player: sessions": "sessions/",
    "player: session": "sessions/s-1-2/",
}


def main() -> None:
    options = read_options(__doc__)
    connect(DATABASE)
    fill_database()
    measure(options.times, only=options.only)


def fill_database() -> None:
    from django.db import connection

    from bench.pages import keep_up
    from worlds.models import World

    if World.objects.count() == len(WORLDS):
        return
    started = time.perf_counter()
    load_rules()
    for slug, size in WORLDS.items():
        add_readers(write_campaign(slug, size))
    keep_up()
    embed_episodes()
    connection.cursor().execute("VACUUM ANALYZE")
    print(f"The worlds were written in {time.perf_counter() - started:.0f} s.", flush=True)


def load_rules() -> None:
    from django.core.management import call_command

    from knowledge.models import RulePassage
    from retrieval.indexing import embed_pending

    call_command("import_srd", verbosity=0)
    embed_pending(RulePassage)


def embed_episodes() -> None:
    """Give the episodes words and vectors, as the worker does: it takes some minutes."""
    from episodes.models import Episode
    from retrieval.indexing import embed_pending
    from retrieval.indexing.upkeep import index_vectors, recount_changed

    recount_changed(Episode)
    embed_pending(Episode)
    index_vectors(Episode)


def add_readers(world: Any) -> None:
    """The game master and the player who read the pages."""
    from django.contrib.auth.models import User

    from worlds.models import Membership, Party

    game_master, _new = User.objects.get_or_create(username="gm")
    player, _new = User.objects.get_or_create(username="player")
    Membership.objects.create(user=game_master, world=world, role="gm")
    party = Party.objects.get(world=world, slug="party-1")
    Membership.objects.create(user=player, world=world, role="player", party=party)


# --- the measurement


def measure(times: int, *, only: str = "") -> None:
    from bench.http_server import BenchServer
    from bench.pages import read_times, session_key

    server = BenchServer([], k=1)
    head = f"{'page':28} {'p50 ms':>8} {'max ms':>8} {'CPU ms':>8} {'SQL':>5} {'small':>6}"
    print(head, flush=True)
    slow, uneven = [], []
    try:
        for reader, pages in (("gm", PAGES), ("player", PLAYERS_PAGES)):
            cookie = {"Cookie": f"sessionid={session_key(reader)}"}
            for name, page in pages.items():
                if only not in name:
                    continue
                counts = {world: count_statements(reader, world, page) for world in WORLDS}
                times_of_page = read_times(server, address("large", page), cookie, times)
                figures = " ".join(f"{each:8.1f}" for each in times_of_page)
                print(f"{name:28} {figures} {counts['large']:5} {counts['small']:6}", flush=True)
                slow += [name] * (times_of_page[0] > BAR)
                uneven += [name] * (counts["large"] > counts["small"])
    finally:
        server.stop()
    print(f"Above {BAR:.0f} ms: {', '.join(slow) or 'none'}; load {os.getloadavg()[0]:.0f}")
    print(f"More statements in the large world: {', '.join(uneven) or 'none'}")


def address(world: str, page: str) -> str:
    """The address of a page, with names that the world has."""
    from npcs.models import NPC

    npc = NPC.objects.get(world__slug=world, slug="npc-7")
    names = {"npc": npc.name, "title": npc.home, "faction": npc.faction}
    fill = {name: value.replace(" ", "+") for name, value in names.items()}
    return f"/w/{world}/{page.format(**fill)}"


def count_statements(reader: str, world: str, page: str) -> int:
    """Return how many statements the second request of a page sends: the first fills caches."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "localhost"})
    backend = "django.contrib.auth.backends.ModelBackend"
    client.force_login(User.objects.get(username=reader), backend=backend)
    client.get(address(world, page))
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address(world, page))
    if response.status_code != 200:
        raise RuntimeError(f"{address(world, page)}: the site answered {response.status_code}")
    return len(queries)


if __name__ == "__main__":
    main()
