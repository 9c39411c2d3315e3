"""Bring in what HAEMA stored in a folder: the rows of its `latest.sqlite3`. (`core.md` is read where it lies.)"""

import contextlib
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction

from memories import core
from memories.ledger import state_changes
from memories.models import Evidence, MemoryItem, Namespace, Observation
from memories.states import ROWS_AT_ONCE, Maker, State
from memories.storable import flaw
from retrieval.models import uuid7

LATEST = "latest.sqlite3"
ROWS = "SELECT id, document, timestamp_ms, deleted FROM latest_memories ORDER BY timestamp_ms"
BATCH = 256


@dataclass(frozen=True)
class HaemaRow:
    id: UUID
    text: str
    timestamp_ms: int
    deleted: bool

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.timestamp_ms / 1000, tz=UTC)


def read_rows(folder: Path) -> list[HaemaRow]:
    """Return the rows, oldest first; raise ValueError when the file is not HAEMA's."""
    file = folder / LATEST
    if not file.exists():
        return []
    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        ) as database:
            rows = database.execute(ROWS).fetchall()
    except sqlite3.Error as error:
        raise ValueError(
            f"{file} cannot be read as HAEMA's index of latest memories: {error}"
        ) from error
    found = [
        HaemaRow(_id(row[0]), str(row[1]), int(row[2]), bool(row[3])) for row in rows if row[1]
    ]
    return [row for row in found if not flaw(row.text)]


def import_rows(namespace: Namespace, rows: list[HaemaRow]) -> int:
    """Store `rows` as memories with an observation each, those HAEMA had deleted as history. Return how many."""
    with transaction.atomic():
        locked = core.locked(namespace)
        taken = set(
            MemoryItem.objects.filter(pk__in=[row.id for row in rows]).values_list("pk", flat=True)
        )
        own = {row.id: (uuid7() if row.id in taken else row.id) for row in rows}
        _store(locked, rows, own)
        if rows:
            locked.last_timestamp_ms = max(locked.last_timestamp_ms, rows[-1].timestamp_ms)
            locked.save(update_fields=["last_timestamp_ms"])
    return len(rows)


def _store(namespace: Namespace, rows: list[HaemaRow], own: dict[UUID, UUID]) -> None:
    shared: dict[str, Any] = {"namespace": namespace, "source": "haema"}
    batch = uuid7()
    seen = [Observation(batch=batch, text=row.text, event_at=row.at, **shared) for row in rows]
    items = [
        MemoryItem(
            pk=own[row.id],
            text=row.text,
            timestamp_ms=row.timestamp_ms,
            made_by=Maker.IMPORT,
            state=State.SUPERSEDED if row.deleted else State.ACTIVE,
            **shared,
        )
        for row in rows
    ]
    Observation.objects.bulk_create(seen, batch_size=ROWS_AT_ONCE)
    MemoryItem.objects.bulk_create(items, batch_size=ROWS_AT_ONCE)
    pairs = zip(items, seen, strict=True)
    Evidence.objects.bulk_create(
        [Evidence(memory=item, observation=row) for item, row in pairs], batch_size=ROWS_AT_ONCE
    )
    state_changes.log(items, reason="imported from HAEMA")


def _id(text: object) -> UUID:
    try:
        return UUID(str(text))
    except ValueError:
        return uuid7()
