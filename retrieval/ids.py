"""Primary keys: time-ordered UUIDs, made in Python so that `bulk_create` returns them."""

from uuid import UUID

from uuid6 import uuid7 as _uuid7


def uuid7() -> UUID:
    """Return a new UUIDv7 as a standard library UUID (uuid6's subclass would not adapt as one)."""
    return UUID(int=_uuid7().int)
