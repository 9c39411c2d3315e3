"""Deleting for good: the one act that may remove entries of append-only tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def permanent_deletion() -> Iterator[None]:
    """Let the transaction delete from append-only tables (their triggers look for this setting).

    For whole things and for good: an NPC, a party, a world. Nothing else may shorten a ledger.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memory37.deletion', 'for good', true)")
        yield
        cursor.execute("SELECT set_config('memory37.deletion', '', true)")
