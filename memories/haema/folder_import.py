"""Import of what HAEMA stored in a folder: the rows of its `latest.sqlite3`. (`memories.folders`
reads `core.md`.)"""

import contextlib
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from memories.ledger.commit import commit, namespace_transaction
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.models import MemoryItem, Namespace
from memories.states import Maker, State
from retrieval.models import uuid7
from retrieval.text import storage_flaw

LATEST = "latest.sqlite3"
ROWS = "SELECT id, document, timestamp_ms, deleted FROM latest_memories ORDER BY timestamp_ms"


@dataclass(frozen=True)
class HaemaRow:
    id: UUID
    text: str
    timestamp_ms: int
    is_deleted: bool

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.timestamp_ms / 1000, tz=UTC)


def read_rows(folder: Path) -> list[HaemaRow]:
    """Return the rows, oldest first; raise ValueError when the file is not HAEMA's."""
    file = folder / LATEST
    if not file.exists():
        return []
    uri = f"{file.resolve().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            rows = database.execute(ROWS).fetchall()
    except sqlite3.Error as error:
        raise ValueError(
            f"{file} cannot be read as HAEMA's index of latest memories: {error}"
        ) from error
    return [
        HaemaRow(_parse_id(pk), str(text), int(timestamp_ms), bool(is_deleted))
        for pk, text, timestamp_ms, is_deleted in rows
        if text and not storage_flaw(str(text))
    ]


def import_rows(namespace: Namespace, rows: list[HaemaRow]) -> int:
    """Store `rows` as memories with an observation each, those HAEMA had deleted as history.
    Return how many."""
    observations = [
        NewObservation(row.text, Particulars(source="haema", event_at=row.at)) for row in rows
    ]
    ids = [row.id for row in rows]
    with namespace_transaction(namespace) as locked_namespace:
        existing_ids = set(MemoryItem.objects.filter(pk__in=ids).values_list("pk", flat=True))
        memories = [
            NewMemory(
                row.text,
                Maker.IMPORT,
                Particulars(source="haema"),
                [observation.id],
                id=uuid7() if row.id in existing_ids else row.id,
                state=State.SUPERSEDED if row.is_deleted else State.ACTIVE,
                timestamp_ms=row.timestamp_ms,
            )
            for row, observation in zip(rows, observations, strict=True)
        ]
        commit(locked_namespace, Plan(observations, memories, reason="imported from HAEMA"))
    return len(rows)


def _parse_id(text: object) -> UUID:
    """Return the id, or a new one for text that is not a UUID."""
    try:
        return UUID(str(text))
    except ValueError:
        return uuid7()
