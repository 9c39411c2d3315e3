"""Whoever writes enough builds the vector index, a plain script too, and the search uses it."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.haema import Memory
from memories.ledger import vector_indexes
from memories.vectors import client_statement, nearest_memories
from tests.memories.fakes import Echo, Vectors

TEXTS = [f"Ferry number {n} is moored at pier {n}." for n in range(60)]


def plan_of(memory: Memory, dims: int) -> str:
    """Return the plan of the search for the nearest memories, for a table that is worth an index:
    the planner would read one of sixty rows as a whole."""
    values = {"vectors": [str([1.0] * dims)], "k": 3}
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_bitmapscan = off")
        cursor.execute("SET enable_sort = off")
        statement = client_statement(memory.namespace, dims=dims)
        cursor.execute("EXPLAIN " + statement.as_string(cursor.cursor), values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET ALL")
    return plan


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("dims", [7, 2100])
def test_enough_client_vectors_get_the_index_of_their_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dims: int
) -> None:
    monkeypatch.setattr(vector_indexes, "ROWS_WORTH_AN_INDEX", len(TEXTS))
    memory = Memory(tmp_path, dims, Vectors(), Echo())
    memory.add(TEXTS[:-1])
    assert not vector_indexes.has_index(f"memory_client_vectors_{dims}")
    memory.add(TEXTS)
    assert vector_indexes.has_index(f"memory_client_vectors_{dims}")
    assert f"memory_client_vectors_{dims}" in plan_of(memory, dims)
    query = Vectors().embed_query([TEXTS[8]], dims)
    nearest = nearest_memories(memory.namespace, query, k=3)[0]
    assert (nearest[0].text, len(nearest)) == (TEXTS[8], 3)
    assert nearest[0].score == pytest.approx(1, abs=1e-3)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_client", [True, False])
def test_the_planner_knows_how_large_a_grown_namespace_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_client: bool
) -> None:
    monkeypatch.setattr(vector_indexes, "ROWS_WORTH_AN_INDEX", len(TEXTS))
    memory = Memory(tmp_path, 7, Vectors(), Echo()) if has_client else Memory(tmp_path)
    assert count_analyses(memory, TEXTS) == 1
    table = "memories_clientvector" if has_client else "memories_memoryitem"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT most_common_vals::text FROM pg_stats WHERE attname = 'namespace_id'"
            " AND tablename = %s",
            [table],
        )
        (known,) = cursor.fetchone() or ("",)
    assert str(memory.namespace.pk) in known
    # Less than twice as many are near enough to what the planner expects.
    assert count_analyses(memory, [f"Lamp {n} of tower {n} is out." for n in range(55)]) == 0


def count_analyses(memory: Memory, texts: list[str]) -> int:
    with CaptureQueriesContext(connection) as queries:
        memory.add(texts)
    return sum("ANALYZE (SKIP_LOCKED)" in str(query["sql"]) for query in queries)
