"""What `npc_profile` costs a party beside the game master: `python -m bench.profile_audiences`.

Both ask the same questions in turns, in one run, so the ratio holds on a busy machine. The world
has NPCs with secrets, a faction and a home in the lore, relations and dispositions.
"""

import argparse
import os
import statistics
import time
from collections import defaultdict
from typing import Any

from bench.scratch import connect

os.environ["EMBEDDER"] = "hashing"

BAR = 1.5
EPISODES, FACTS = 200, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--npcs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    connect(f"memory37_profiles_{options.npcs}")
    world = fill_database(options.npcs)
    times, counts = measure(world, options.npcs, options.rounds)
    for name in ("gm", "party"):
        p50, p95 = statistics.median(times[name]), statistics.quantiles(times[name], n=20)[-1]
        seen = sorted(counts[name])
        print(f"{name:6} {seen!s:>10} statements   p50 {p50:6.2f} ms   p95 {p95:6.2f} ms")
    ratio = statistics.median(times["party"]) / statistics.median(times["gm"])
    statements = max(counts["party"]) / max(counts["gm"])
    verdict = "met" if max(ratio, statements) <= BAR else "missed"
    print(f"party / gm: time {ratio:.2f}, statements {statements:.2f} (bar {BAR}: {verdict})")


def fill_database(npcs: int) -> Any:
    from django.db import connection, transaction

    from knowledge.graph.models import GraphNode
    from npcs.models import NPC
    from worlds.models import World

    world = World.objects.filter(slug="profiles").first()
    if world is None:
        with transaction.atomic():
            world = World.objects.create(slug="profiles", name="Profiles")
            add_people(world, npcs)
            add_story(world, list(NPC.objects.filter(world=world)))
            add_relations(world, list(GraphNode.objects.filter(world=world).order_by("slug")))
        connection.cursor().execute("VACUUM ANALYZE")
    return world


def add_people(world: Any, count: int) -> None:
    from knowledge.graph.models import GraphNode
    from knowledge.models import Lore
    from npcs.models import NPC, Secret

    places = ("guild", "faction"), ("home", "place")
    entries = [
        Lore.objects.create(
            world=world,
            slug=slug,
            title=slug.title(),
            kind=kind,
            status="published",
            visibility="public",
            body=f"The {slug}.",
        )
        for slug, kind in places
    ]
    people = NPC.objects.bulk_create(
        NPC(
            world=world,
            slug=f"npc-{n}",
            name=f"Person {n}",
            visibility="public",
            faction="Guild",
            faction_lore=entries[0],
            home="Home",
            home_lore=entries[1],
        )
        for n in range(count)
    )
    Secret.objects.bulk_create(
        Secret(world=world, npc=npc, position=n, text=f"Secret {n}.", visibility=visibility)
        for npc in people
        for n, visibility in enumerate(("gm", "public"), 1)
    )
    GraphNode.objects.bulk_create(
        GraphNode(world=world, slug=npc.slug, name=npc.name, kind="Character", visibility="public")
        for npc in people
    )


def add_story(world: Any, people: list[Any]) -> None:
    from django.utils import timezone

    from episodes.models import Episode
    from npcs.dispositions import recompute_dispositions
    from npcs.models import DispositionChange
    from worlds.models import Campaign, Party

    campaign = Campaign.objects.create(world=world, slug="long", name="Long")
    party = Party.objects.create(world=world, campaign=campaign, slug="gulls", name="Gulls")
    episodes = Episode.objects.bulk_create(
        Episode(
            world=world,
            campaign=campaign,
            party=party,
            external_id=f"ep-{n}",
            what=f"Scene {n}.",
            text=f"Scene {n}.",
            visibility="revealed",
            happened_at=timezone.now(),
            in_world_at=n,
        )
        for n in range(EPISODES)
    )
    DispositionChange.objects.bulk_create(
        DispositionChange(
            npc=npc,
            party=party,
            kind="episode",
            axis="affection",
            delta=n % 7 + 1,
            reason="R.",
            episode=episodes[(n * 31 + i) % EPISODES],
            episode_version=1,
            happened_at=timezone.now(),
        )
        for i, npc in enumerate(people)
        for n in range(12)
    )
    recompute_dispositions(party, [npc.pk for npc in people])


def add_relations(world: Any, nodes: list[Any]) -> None:
    from knowledge.graph.models import GraphEdge

    GraphEdge.objects.bulk_create(
        GraphEdge(
            world=world,
            src=node,
            dst=nodes[(n + step * 17) % len(nodes)],
            relation_id="KNOWS",
            src_kind="Character",
            dst_kind="Character",
            visibility="public",
        )
        for n, node in enumerate(nodes)
        for step in range(1, FACTS + 1)
    )


def measure(
    world: Any, npcs: int, rounds: int
) -> tuple[dict[str, list[float]], dict[str, set[int]]]:
    """Ask for each NPC as both audiences in turns; the first round only warms up."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from npcs.tools import ProfileAsk, npc_profile
    from worlds.callers import Caller

    gm = Caller.gm(world)
    callers = {"gm": gm, "party": gm.as_party("gulls")}
    times: dict[str, list[float]] = defaultdict(list)
    counts: dict[str, set[int]] = defaultdict(set)
    for round_number in range(rounds + 1):
        for n in range(0, npcs, 3):
            ask = ProfileAsk(npc_id=f"npc-{n}", party_id="gulls")
            for name, caller in callers.items():
                started = time.perf_counter()
                npc_profile(ask, caller)
                if round_number:
                    times[name].append(1000 * (time.perf_counter() - started))
    for name, caller in callers.items():
        with CaptureQueriesContext(connection) as sent:
            npc_profile(ask, caller)
        counts[name].add(len(sent))
    return times, counts


if __name__ == "__main__":
    main()
