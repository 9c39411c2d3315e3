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
    if is_erased(row):
        return False
    rows = type(row)._default_manager
    gets_new_number = type(row) in RENUMBERED
    existing = None if gets_new_number else rows.filter(pk=row.pk).first()
    owners = {getattr(one, "namespace_id", None) for one in (row, existing)}
    if owners - {None, namespace.pk}:
        raise Conflict(f"Line {number}: this row belongs to another memory.")
    if gets_new_number:
        values = {
            field.attname: getattr(row, field.attname)
            for field in row._meta.concrete_fields
            if field.name != "id"
        }
        if rows.filter(**values).exists():
            return False
        row.pk = None
        row.save_base(raw=True, force_insert=True)
        return True
    if existing is not None:
        return False
    try:
        with transaction.atomic():
            row.save_base(raw=True, force_insert=True)
    except IntegrityError as error:
        raise Invalid(f"Line {number} does not fit the lines before it: {error}") from error
    return True


def is_erased(row: Any) -> bool:
    """Whether the row, or one that it belongs to, was deleted for good."""
    # Foreign keys are checked at the end of the transaction, too late to leave out one row.
    names = ("pk", "memory_id", "observation_id", "older_id", "newer_id")
    ids = [value for name in names if isinstance(value := getattr(row, name, None), UUID)]
    return Tombstone.objects.filter(pk__in=ids).exists()
