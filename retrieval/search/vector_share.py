"""Which share of the searched passages has a vector, while the others wait for theirs."""

import re
import threading

from cachetools import TTLCache
from django.db import connections

from retrieval.models import PARKED_AFTER, Passage
from retrieval.search.compiled_rows import CompiledRows

CACHE_SECONDS = 5
SHARE = re.compile(r"vector: (\d+) %")
# An index holds the rows that wait.
IS_ANY_WAITING = """
SELECT EXISTS (SELECT FROM {table} WHERE embedded_rev < rev AND embed_tries < %(tries)s)
"""
# A row whose text was edited keeps its former vector until it gets the new one.
COUNT = """
SELECT count(*), count(*) FILTER (
  WHERE embedded_rev < rev AND embed_tries < %(tries)s AND embedding_model <> %(model)s)
FROM ({rows}) AS searched
"""
COLUMNS = ("embedded_rev", "rev", "embed_tries", "embedding_model")

_tables: TTLCache[tuple[str, str], bool] = TTLCache(100, CACHE_SECONDS)
_shares: TTLCache[tuple[object, ...], int] = TTLCache(2_000, CACHE_SECONDS)
_lock = threading.Lock()


def share_with_vector(rows: CompiledRows, model: str) -> int:
    """Return the percentage of `rows` that have a vector of `model` or can get none; below 100 when
    a single one waits. Counted at most every five seconds, and only while rows of the table wait.

    It counts what the caller may see: hidden passages do not change it."""
    if not is_any_waiting(rows.model, rows.queryset.db):
        return 100
    key = (model, *rows.key)
    with _lock:
        share = _shares.get(key)
    if share is None:
        ((total, waiting),) = rows.fetch(COUNT, COLUMNS, tries=PARKED_AFTER, model=model)
        share = 100 * (total - waiting) // total if total else 100
        with _lock:
            _shares[key] = share
    return share


def is_any_waiting(model: type[Passage], using: str) -> bool:
    table = model._meta.db_table
    with _lock:
        is_any = _tables.get((using, table))
    if is_any is None:
        statement = IS_ANY_WAITING.format(table=connections[using].ops.quote_name(table))
        with connections[using].cursor() as cursor:
            cursor.execute(statement, {"tries": PARKED_AFTER})
            (is_any,) = cursor.fetchone()
        with _lock:
            _tables[using, table] = is_any
    return bool(is_any)


def clear_vector_shares() -> None:
    """Count anew at the next search: after a large load, and between tests."""
    with _lock:
        _tables.clear()
        _shares.clear()


def missing_share(share: int) -> str:
    """What `degraded` says when only `share` percent have a vector; none: the whole leg."""
    return f"vector: {share} % of this world" if share else "vector"


def read_share(part: str) -> int | None:
    """The percentage that a part of `degraded` names."""
    found = SHARE.match(part)
    return int(found[1]) if found else None
