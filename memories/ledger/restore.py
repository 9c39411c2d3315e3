"""Rows of an exported memory, inserted as they were: with their ids, states, times and history."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from memories.models import Evidence, Namespace, StateChange, Tombstone
from retrieval.errors import Conflict, Invalid

RENUMBERED = {StateChange, Evidence}
"""Rows whose number means nothing elsewhere: they get a new one."""


def restore_row(row: Any, namespace: Namespace, number: int) -> bool:
    """Insert one row unless it is there or was erased; return whether it is new."""
    if isinstance(row.pk, UUID) and Tombstone.objects.filter(pk=row.pk).exists():
        return False
    if belongs_elsewhere(row, namespace):
        raise Conflict(f"Line {number}: this row belongs to another memory.")
    if type(row) in RENUMBERED:
        return insert_renumbered(row)
    if type(row)._default_manager.filter(pk=row.pk).exists():
        return False
    try:
        with transaction.atomic():
            row.save_base(raw=True, force_insert=True)
    except IntegrityError as error:
        if rests_on_erased(row):
            return False
        raise Invalid(f"Line {number} does not fit the lines before it: {error}") from error
    return True


def insert_renumbered(row: Any) -> bool:
    values = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name != "id"
    }
    if type(row)._default_manager.filter(**values).exists() or rests_on_erased(row):
        return False
    row.pk = None
    row.save_base(raw=True, force_insert=True)
    return True


def belongs_elsewhere(row: Any, namespace: Namespace) -> bool:
    own = getattr(row, "namespace_id", None)
    stored = (
        type(row)._default_manager.filter(pk=row.pk).first()
        if type(row) not in RENUMBERED
        else None
    )
    there = getattr(stored, "namespace_id", None)
    return (own is not None and own != namespace.pk) or (
        there is not None and there != namespace.pk
    )


def rests_on_erased(row: Any) -> bool:
    keys = [
        getattr(row, name, None) for name in ("memory_id", "observation_id", "older_id", "newer_id")
    ]
    return Tombstone.objects.filter(pk__in=[key for key in keys if key]).exists()
