"""Many rows into one table by COPY. Signals are not sent; triggers and constraints work."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.db import connection, models
from django.utils import timezone
from pgvector.django import HalfVectorField, VectorField
from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import sql
from psycopg.types import TypeInfo

if TYPE_CHECKING:
    Column = models.Field[Any, Any]
else:
    Column = models.Field

REGISTERED = {
    HalfVectorField: ("halfvec", register_halfvec_info),
    VectorField: ("vector", register_vector_info),
}


def copy_rows(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]], **shared: Any
) -> None:
    """Insert `rows` (values of the fields `columns`, in that order); `shared` is the same in
    each row, and every other field has its default. Vectors are `pgvector.HalfVector` or
    `pgvector.Vector`."""
    rows = list(rows)
    if not rows:
        return
    varying = [field_of(model, name) for name in columns]
    constant = {field_of(model, name): value for name, value in shared.items()}
    constant = dict(default_values(model, {*varying, *constant})) | constant
    fields, tail = [*varying, *constant], tuple(constant.values())
    with connection.cursor() as cursor:
        register_vector_types(cursor.cursor, fields)
        with cursor.copy(copy_statement(model, fields)) as copy:
            copy.set_types([sql_type_name(field) for field in fields])
            for row in rows:
                copy.write_row((*row, *tail))


def field_of(model: type[models.Model], name: str) -> Column:
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field), name
    return field


def default_values(
    model: type[models.Model], given_fields: set[Column]
) -> Iterator[tuple[Column, Any]]:
    """Django keeps most defaults to itself: the table does not know them."""
    now = timezone.now()
    for field in model._meta.concrete_fields:
        if (
            field in given_fields
            or isinstance(field, models.AutoField | models.BigAutoField)
            or field.has_db_default()
        ):
            continue
        is_clock = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
        value = now if is_clock else field.get_default()
        if value is not None:
            yield field, value


def copy_statement(model: type[models.Model], fields: Sequence[Column]) -> sql.Composed:
    names = sql.SQL(", ").join([sql.Identifier(str(field.column)) for field in fields])
    table = sql.Identifier(model._meta.db_table)
    return sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, names)


def sql_type_name(field: Column) -> str:
    return str(field.db_type(connection)).partition("(")[0].removesuffix(" CHECK").strip()


def register_vector_types(cursor: Any, fields: Sequence[Column]) -> None:
    """For this cursor alone: on the connection it would change what every other read returns."""
    for kind, (name, register) in REGISTERED.items():
        if any(isinstance(field, kind) for field in fields):
            register(
                cursor, type_info(cursor.connection, name)
            )  # raises for None: the extension is not installed


_types: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def type_info(link: Any, name: str) -> Any:
    """A type's number, asked for once in the life of a connection."""
    known = _types.setdefault(link, {})
    if name not in known:
        known[name] = TypeInfo.fetch(link, name)
    return known[name]
