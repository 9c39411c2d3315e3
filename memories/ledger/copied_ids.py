"""Ids of rows that are copied beside the originals: the same for each copy of a row into the same
place, so that a copy can be repeated."""

import hashlib
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import models

RANDOM_BITS = 62
"""The last bits of a UUID of version 7; those before are its time, by which rows are ordered."""


@dataclass
class CopiedIds:
    """Gives the rows of a file the ids of its copy in `place`. `known` are the ids of rows that
    were copied: references to others stay."""

    place: str
    known: set[UUID] = field(default_factory=set)

    def of(self, original: UUID) -> UUID:
        digest = hashlib.sha256(f"{self.place}/{original}".encode()).digest()
        random = int.from_bytes(digest[:8], "big") >> (64 - RANDOM_BITS)
        return UUID(int=original.int >> RANDOM_BITS << RANDOM_BITS | random)

    def renumber(self, row: models.Model) -> None:
        """Give `row` the id of its copy and those of the copies that it refers to."""
        if isinstance(row.pk, UUID):
            self.known.add(row.pk)
        for column in row._meta.concrete_fields:
            setattr(row, column.attname, self._copy_value(getattr(row, column.attname)))

    def _copy_value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._copy_value(each) for each in value]
        return self.of(value) if isinstance(value, UUID) and value in self.known else value
