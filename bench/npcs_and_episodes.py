"""Latency of NPCs and episodes: `python -m bench.npcs_and_episodes [--episodes 100000]`.

`npc_profile` and `session_fetch` beside the statements that they send, in one run; the NPC page;
and the time to ingest one more episode in a world of that size.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.scratch import connect

os.environ["EMBEDDER"] = "hashing"

NPCS, PARTIES, ROUNDS, PAIRS = 1_000, 100, 4, 50
Call = Callable[[int], Any]

EPISODES = """
INSERT INTO episodes_episode (
  id, world_id, campaign_id, party_id, external_id, text, what, payload, metadata, context,
  language, version, happened_at, in_world_at, in_world_label, players, npcs, place, flags,
  relations_delta, notes, visibility, known_to, retracted_why, embedding_model, content_hash,
  created_at, updated_at, embed_error)
SELECT gen_random_uuid(), %(world)s, %(campaign)s, (%(parties)s::uuid[])[1 + n %% %(n_parties)s],
  'ep-' || n, body, body, '{}', '{}', 'day ' || n, 'en', 1,
  now() - (%(n)s - n) * interval '1 minute', n / 100.0, 'day ' || n,
  ARRAY['Tobin', 'Ilse'], ARRAY['npc-' || n %% %(n_npcs)s], 'landing', ARRAY['fog'], '[]',
  'A note.', 'revealed', '[]', '', '', '', now(), now(), ''
FROM generate_series(1, %(n)s) AS n,
  LATERAL (SELECT 'In scene ' || n || ' they met number ' || n %% %(n_npcs)s
    || ' and argued about the toll. '
    || repeat('The water rose and nobody slept much that night. ', 8) AS body) AS texts
"""

CHANGES = """
INSERT INTO npcs_dispositionchange (
  npc_id, party_id, kind, axis, delta, reason, held, episode_id, episode_version, made_by,
  happened_at, created_at, in_world_at, in_world_label)
SELECT npcs.id, e.party_id, 'episode', 'trust', CASE WHEN random() < 0.5 THEN -3 ELSE 4 END,
  'Because of ' || e.external_id, false, e.id, 1, '', e.happened_at, now(), e.in_world_at,
  e.in_world_label
FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = e.npcs[1] AND npcs.world_id = e.world_id
ORDER BY e.happened_at
"""

APPEARANCES = """
INSERT INTO npcs_appearance (npc_id, episode_id)
SELECT npcs.id, e.id FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = e.npcs[1] AND npcs.world_id = e.world_id
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000)
    options = parser.parse_args()
    connect(f"memory37_living_{options.episodes}")
    fill_database(options.episodes)
    reads = {"npc_profile": call_npc_profile, "session_fetch": call_session_fetch}
    columns = f"{'sql p50':>12}{'p50':>9}{'p95':>9}{'ratio':>8}"
    print(f"\n{NPCS} NPCs, {PARTIES} parties, {options.episodes} episodes{columns}")
    for name, call in reads.items():
        compare_with_sql(name, call)
    measure_page()
    measure_ingest()


def fill_database(size: int) -> None:
    from django.db import connection

    from episodes.models import Episode
    from npcs.dispositions import recompute_dispositions
    from npcs.models import NPC
    from worlds.erasure import permanent_deletion
    from worlds.models import Campaign, Party, World

    if Episode.objects.count() >= size:
        return
    with permanent_deletion():
        World.objects.all().delete()
    started = time.perf_counter()
    world = World.objects.create(slug="made", name="Made up")
    campaign = Campaign.objects.create(world=world, slug="long", name="Long")
    parties = [
        Party(world=world, campaign=campaign, slug=f"party-{n}", name=f"Party {n}")
        for n in range(PARTIES)
    ]
    Party.objects.bulk_create(parties)
    NPC.objects.bulk_create(
        NPC(
            world=world,
            slug=f"npc-{n}",
            name=f"Person {n}",
            aliases=[f"Number {n}"],
            visibility="public",
        )
        for n in range(NPCS)
    )
    values: dict[str, Any] = {
        "world": world.pk,
        "campaign": campaign.pk,
        "parties": [party.pk for party in parties],
        "n": size,
        "n_parties": PARTIES - 1,
        "n_npcs": NPCS,
    }
    with connection.cursor() as cursor:
        cursor.execute(EPISODES, values)
        cursor.execute(APPEARANCES)
        cursor.execute(CHANGES)
    npcs = list(NPC.objects.values_list("pk", flat=True))
    for party in parties[:PARTIES]:
        recompute_dispositions(party, npcs)
    connection.cursor().execute("VACUUM ANALYZE")
    print(f"  filled in {time.perf_counter() - started:.0f} s", flush=True)


def call_npc_profile(turn: int) -> Any:
    from npcs.tools import ProfileAsk, npc_profile
    from worlds.callers import Caller
    from worlds.models import World

    ask = ProfileAsk(npc_id=f"npc-{turn * 37 % NPCS}", party_id=f"party-{turn % (PARTIES - 1)}")
    return npc_profile(
        ask, Caller.gm(WORLD.get("it") or WORLD.setdefault("it", World.objects.get()))
    )


def call_session_fetch(turn: int) -> Any:
    from episodes.tools import SessionFetch, session_fetch
    from worlds.callers import Caller
    from worlds.models import World

    ask = SessionFetch(party_id=f"party-{turn % (PARTIES - 1)}")
    return session_fetch(
        ask, Caller.gm(WORLD.get("it") or WORLD.setdefault("it", World.objects.get()))
    )


WORLD: dict[str, Any] = {}


def compare_with_sql(name: str, call: Call) -> None:
    import psycopg
    from django.db import connection

    call(0)
    sent = {turn: capture_statements(call, turn) for turn in range(PAIRS)}
    raw = psycopg.connect(connection.connection.info.dsn, autocommit=True, prepare_threshold=0)
    times: dict[str, list[float]] = {"sql": [], "python": []}
    for round_number in range(ROUNDS + 1):
        for turn, statements in sent.items():
            for label, ask in (
                ("sql", lambda s=statements: run_statements(raw, s)),
                ("python", lambda t=turn: call(t)),
            ):
                started = time.perf_counter()
                ask()
                if round_number:
                    times[label].append(1000 * (time.perf_counter() - started))
    bare, ours = statistics.median(times["sql"]), statistics.median(times["python"])
    p95 = statistics.quantiles(times["python"], n=20)[-1]
    counts = sorted({len(statements) for statements in sent.values()})
    figures = f"{bare:18.2f}{ours:9.2f}{p95:9.2f}{ours / bare:8.2f}"
    print(f"  {name:14}{counts!s:>8} statements{figures}", flush=True)


def capture_statements(call: Call, turn: int) -> list[tuple[str, Any]]:
    """Return the statements that the call sends, with their values."""
    from django.db import connection

    sent: list[tuple[str, Any]] = []

    def note(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        sent.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(note):
        call(turn)
    return sent


def run_statements(raw: Any, statements: list[tuple[str, Any]]) -> None:
    for statement, values in statements:
        raw.execute(statement, values).fetchall()


def measure_page() -> None:
    """Measure the NPC page as a game master opens it."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import NoReverseMatch, reverse

    from worlds.models import World

    user, _new = User.objects.get_or_create(
        username="bench", defaults={"is_superuser": True, "is_staff": True}
    )
    client = Client(headers={"host": "localhost"})
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    times = []
    for turn in range(30):
        try:
            address = reverse("npc", args=[World.objects.get().slug, f"npc-{turn}"])
        except NoReverseMatch as missing:
            print(f"  NPC page: {missing}")
            return
        started = time.perf_counter()
        answer = client.get(address)
        times.append(1000 * (time.perf_counter() - started))
        assert answer.status_code == 200, answer.status_code
    p50, p95 = statistics.median(times[3:]), statistics.quantiles(times[3:], n=20)[-1]
    print(f"  NPC page: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


def measure_ingest() -> None:
    from episodes.ingest import ingest_episode
    from episodes.schemas import EpisodeIn
    from worlds.models import World

    world, times = World.objects.get(), []
    for turn in range(40):
        delta = [{"npc": f"npc-{turn}", "delta": 3, "reason": "Because."}]
        body = {
            "summary_id": f"bench-{time.time_ns()}",
            "party_id": f"party-{PARTIES - 1}",
            "what": "They rested.",
        }
        summary = EpisodeIn.model_validate(
            {**body, "relations_delta": delta, "who": {"npcs": [f"npc-{turn}"]}}
        )
        started = time.perf_counter()
        ingest_episode(world, summary)
        times.append(1000 * (time.perf_counter() - started))
    print(f"  ingesting an episode: p50 {statistics.median(times):.1f} ms")


if __name__ == "__main__":
    main()
