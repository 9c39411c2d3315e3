"""A database with a million generated passages, written by COPY in several processes."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import numpy as np

from bench.passage_counts import PART
from bench.scratch import connect

if TYPE_CHECKING:
    from bench.scaled_world import ScaledWorld

SERVER_SETTINGS = {
    "shared_buffers": "4GB",
    "effective_cache_size": "14GB",
    "maintenance_work_mem": "5GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "30min",
}
FILLED = "world-0"
"""The world that is made last; it is empty."""


@cache
def generated_world() -> "ScaledWorld":
    from django.conf import settings

    from bench.scaled_world import ScaledWorld, load_real_vectors

    return ScaledWorld(load_real_vectors(settings.VAR_DIR / "bench" / "real_vectors.npy"))


def tune_server(processes: int) -> None:
    """Give the embedded server the memory of a machine of 20 GB, and start it anew. So many
    `processes` build an index."""
    from django.db import connection
    from django.db.backends.postgresql.base import DatabaseWrapper

    from memory_site.embedded.server import CHECK_SECONDS, EmbeddedServer

    with connection.cursor() as cursor:
        settings = {**SERVER_SETTINGS, "max_parallel_maintenance_workers": str(processes - 1)}
        for name, value in settings.items():
            cursor.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        cursor.execute("SHOW data_directory")
        folder = Path(cursor.fetchone()[0]).parent
    connection.close()
    cast(DatabaseWrapper, connection).close_pool()
    EmbeddedServer(folder).stop()
    time.sleep(2 * CHECK_SECONDS)  # then the next connection notices it, and starts the server


def fill_database(
    passage_count: int, world_count: int, *, processes: int = 1, vector_index: bool = True
) -> dict[str, float]:
    """Fill the database, unless it is filled; return the seconds of each step."""
    from django.db import connection

    from bench.scaled_world import ScaledEmbedder
    from knowledge.models import Lore, LorePassage
    from retrieval.indexing import count_words, passage_indexes
    from worlds.models import World

    if World.objects.filter(slug=FILLED).exists():
        return {}
    Lore.with_trash.all().delete()
    World.objects.all().delete()
    passage_indexes.drop_word_indexes(LorePassage, connection)
    passage_indexes.drop_vector_indexes(LorePassage)
    name = str(connection.settings_dict["NAME"])
    generated_world()  # makes the file of real vectors, before the processes all try to
    worlds = [World(slug=f"world-{n + 1}", name=f"World {n + 1}") for n in range(world_count)]

    def copy_all() -> None:
        numbers = range(passage_count // PART)
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for number in pool.map(copy_part, numbers, [name] * len(numbers)):
                print(f"    part {number + 1} of {len(numbers)}", flush=True)

    steps: dict[str, Callable[[], Any]] = {
        "worlds": lambda: World.objects.bulk_create(worlds, batch_size=1000),
        "passages": copy_all,
        "word indexes": lambda: passage_indexes.create_word_indexes(LorePassage, connection),
        "vector index": lambda: passage_indexes.create_vector_index(
            LorePassage, embedder=ScaledEmbedder.name, dims=ScaledEmbedder.dims
        ),
        "word counts": lambda: count_words(LorePassage),
        "vacuum": lambda: connection.cursor().execute("VACUUM ANALYZE"),
    }
    if not vector_index:
        del steps["vector index"]
    seconds = {}
    for step, function in steps.items():
        started = time.perf_counter()
        function()
        seconds[step] = time.perf_counter() - started
        print(f"  {step}: {seconds[step]:.0f} s", flush=True)
    World.objects.create(slug=FILLED, name="World 0")
    return seconds


def copy_part(number: int, database: str) -> int:
    """Write one part of the passages with their entries, spread evenly over the worlds. Runs in a
    process of its own."""
    from django.apps import apps
    from django.db import connection

    if not apps.ready:
        connect(database, migrate=False)
    from worlds.models import World

    worlds = [world.pk for world in World.objects.exclude(slug=FILLED).order_by("pk")]
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    write_part(number, worlds)
    return number


def write_part(number: int, worlds: Sequence[UUID], *, batch: int = 2_000) -> None:
    from pgvector import HalfVector
    from psycopg.types.json import Jsonb

    from bench.generated_world import copy_rows as copy_instances
    from bench.scaled_world import PASSAGES_PER_ENTRY, ScaledEmbedder
    from knowledge.models import Lore, LorePassage
    from retrieval.copied_rows import copy_rows
    from retrieval.models import uuid7
    from retrieval.text import name_keys

    generated = generated_world()
    part = generated.part(number)
    titles = np.random.default_rng([5, number]).integers(
        500, len(generated.lexicon), size=(PART // PASSAGES_PER_ENTRY, 2)
    )
    empty = Jsonb({})
    nobody = Jsonb([])
    shared: dict[str, Any] = {"visibility": "public", "language": "en", "known_to": nobody}
    entries, passages = [], []
    for first in range(0, PART, PASSAGES_PER_ENTRY):
        place = number * PART + first
        world, entry = worlds[place // PASSAGES_PER_ENTRY % len(worlds)], uuid7()
        title = generated.text(titles[first // PASSAGES_PER_ENTRY]).title()
        names = {"slug": f"entry-{place}", "title": title, "name_keys": name_keys(title)}
        entries.append(
            Lore(id=entry, world_id=world, **names, visibility="public", status="published")
        )
        for position in range(PASSAGES_PER_ENTRY):
            at = first + position
            text, vector = generated.text(part.words[at]), HalfVector(part.vectors[at])
            ward = Jsonb({"kind": "custom", "ward": (place + position) % 100})
            passages.append((part.ids[at], world, entry, position, title, text, ward, vector))
    copy_instances(Lore, iter(entries))
    columns = ["id", "world", "lore", "position", "context", "text", "metadata", "embedding"]
    for start in range(0, PART, batch):
        copy_rows(
            LorePassage,
            columns,
            passages[start : start + batch],
            **shared,
            published=True,
            payload=empty,
            revealed_to=nobody,
            embedding_model=ScaledEmbedder.name,
            embedded_rev=1,
        )
