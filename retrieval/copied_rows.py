"""Rows that are inserted by COPY: many of them take a fraction of the time of INSERT."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from django.db import connection, models
from django.utils import timezone
from pgvector.django import HalfVectorField, VectorField
from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import sql
from psycopg.types import TypeInfo

Column: TypeAlias = "models.Field[Any, Any]"

VECTOR_TYPES = {
    HalfVectorField: ("halfvec", register_halfvec_info),
    VectorField: ("vector", register_vector_info),
}
LENGTH = re.compile(r"\(\d+\)")
_type_infos: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def copy_rows(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]], **shared: Any
) -> None:
    """Insert `rows` by COPY: values of the fields `columns`, in that order.

    `shared` is the same in each row, and every other field has its default. Vectors are
    `pgvector.HalfVector` or `pgvector.Vector`. Signals are not sent; triggers and constraints work.
    """
    rows = list(rows)
    if not rows:
        return
    field_by_name = {field.name: field for field in model._meta.concrete_fields}
    # COPY has to be given the defaults too: the table does not know most of them.
    now = timezone.now()
    defaults = {
        name: value
        for name, field in field_by_name.items()
        if name not in columns and (value := _default_value(field, now)) is not None
    }
    constants = defaults | shared
    field_by_name |= {field.attname: field for field in model._meta.concrete_fields}
    fields = [field_by_name[name] for name in (*columns, *constants)]
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join([sql.Identifier(str(field.column)) for field in fields]),
    )
    with connection.cursor() as cursor:
        _register_vector_types(cursor.cursor, fields)
        with cursor.copy(statement) as copy:
            # Binary COPY converts nothing: every value has to have the column's very type, without
            # its length ("varchar" for "varchar(8)", "varchar[]" for "varchar(16)[]").
            copy.set_types([LENGTH.sub("", str(field.db_type(connection))) for field in fields])
            for row in rows:
                copy.write_row((*row, *constants.values()))


def _default_value(field: Column, now: datetime) -> Any:
    """The value that a save would give, or None if the database gives it."""
    if isinstance(field, models.AutoField | models.BigAutoField) or field.has_db_default():
        return None
    is_clock = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    return now if is_clock else field.get_default()


def _register_vector_types(cursor: Any, fields: Sequence[Column]) -> None:
    """Let `cursor` write pgvector's types; raise if the extension is not installed."""
    # For this cursor alone: on the connection it would change what every other read returns.
    for kind, (name, register) in VECTOR_TYPES.items():
        if any(isinstance(field, kind) for field in fields):
            # A type's number costs a query, sent once in the life of a connection.
            infos = _type_infos.setdefault(cursor.connection, {})
            if name not in infos:
                infos[name] = TypeInfo.fetch(cursor.connection, name)
            register(cursor, infos[name])
