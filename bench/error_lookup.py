"""Looking up an error among many bug patterns of one namespace: `python -m bench.error_lookup
[--patterns 100000] [--lookups 20]`.

Prints the p50 of `match_bug_pattern`, that of its statement, and the size of the trigram indexes
that it reads.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.scratch import connect

ERRORS = ("KeyError", "ValueError", "TimeoutError", "ConnectionError", "IntegrityError")
WORDS = 4000
FILL = """
INSERT INTO memories_memoryitem ({columns})
SELECT {values} FROM memories_memoryitem template,
  unnest(%s::uuid[], %s::text[], %s::text[]) AS new(id, text, payload)
WHERE template.id = %s
"""
SIZES = """
SELECT relname, pg_relation_size(oid) / 1048576.0 FROM pg_class
WHERE relname IN ('memory_record_text_trigrams', 'memory_record_error_trigrams') ORDER BY relname
"""


def messages(count: int) -> list[tuple[str, str]]:
    """Return types and messages of errors, of words that are the rarer the later they come."""
    chance = random.Random(7)
    words = [
        f"{chance.choice('bcdfghklmnprst')}{n:x}{chance.choice('aeiou')}" for n in range(WORDS)
    ]
    weights = [1 / (n + 1) for n in range(WORDS)]
    return [
        (chance.choice(ERRORS), " ".join(chance.choices(words, weights, k=chance.randint(4, 12))))
        for _ in range(count)
    ]


def fill(store: Any, errors: list[tuple[str, str]]) -> None:
    """Store a bug pattern for each error: the first by the manager, the others as its copies."""
    import orjson
    from django.db import connection

    from memories.coding_agent import SemanticMemoryManager
    from memories.models import MemoryItem
    from retrieval.models import uuid7

    first = SemanticMemoryManager(store).add_bug_pattern(*errors[0], solution="Try again.")
    payload = MemoryItem.objects.get(pk=first.id).payload
    new = {"id": "new.id", "text": "new.text", "payload": "new.payload::jsonb"}
    names = [
        str(field.column)
        for field in MemoryItem._meta.concrete_fields
        if not getattr(field, "generated", False) and field.column != "rev"
    ]
    quoted = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(new.get(name, f'template."{name}"') for name in names)
    with connection.cursor() as cursor:
        rows = [
            (
                uuid7(),
                f"{kind}: {message}",
                orjson.dumps(payload | {"error_type": kind, "error_message": message}).decode(),
            )
            for kind, message in errors[1:]
        ]
        columns = [list(column) for column in zip(*rows, strict=True)]
        cursor.execute(FILL.format(columns=quoted, values=values), [*columns, first.id])
        cursor.execute("ANALYZE memories_memoryitem")


def p50(call: Callable[[tuple[str, str]], Any], errors: list[tuple[str, str]]) -> float:
    """Return milliseconds."""
    times = []
    for error in errors:
        begun = time.perf_counter()
        call(error)
        times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patterns", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=20)
    options = parser.parse_args()
    connect("memory37_error_lookup_bench")
    from django.db import connection

    from bench.memory import empty_namespace
    from memories.coding_agent import SemanticMemoryManager
    from memories.coding_agent.stores import PostgresMemoryStore
    from memories.states import Bucket

    errors = messages(options.patterns)
    namespace = empty_namespace("error-lookup", "en")
    store = PostgresMemoryStore(namespace)
    begun = time.perf_counter()
    fill(store, errors)
    print(f"{options.patterns} patterns stored in {time.perf_counter() - begun:.0f} s")
    asked = random.Random(8).sample(errors, options.lookups)
    semantic = SemanticMemoryManager(store)
    print(f"match_bug_pattern: p50 {p50(lambda e: semantic.match_bug_pattern(*e), asked):.0f} ms")

    def look_up(error: tuple[str, str]) -> None:
        store.find_like(": ".join(error), bucket=Bucket.FACT, kind="bug_pattern")

    print(f"its statement: p50 {p50(look_up, asked):.0f} ms")
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        for name, megabytes in cursor.fetchall():
            print(f"{name}: {megabytes:.1f} MB")


if __name__ == "__main__":
    main()
