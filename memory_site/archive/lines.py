"""The rows of a model as lines of JSON, and back, both by the database: no type is converted twice.

A line is written by PostgreSQL from the stored values and read by `jsonb_populate_record`, so that
times keep their microseconds and floats every digit, `auto_now` changes nothing, and no signal
fires.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, models
from django.db.models import Case, Count, F, OuterRef, Q, Subquery, TextField, When, Window
from django.db.models.functions import Cast, JSONObject, RowNumber
from django.utils import timezone

from knowledge.models import Rule
from memory_site.archive.inventory import ARCHIVED, AnyField, Table, natural_key
from worlds.models import World

ROWS_AT_ONCE = 2000
Numbers = Mapping[str, Sequence[int]]
"""The keys that the database gave to the rows of a numbered model, in the order of their lines."""


def key_in_line(field: AnyField) -> str:
    """A row that another installation has, too, is named; so its line holds no id of it."""
    return str(field.name if natural_key(field) else field.attname)


def names_shared_rule(field: AnyField) -> bool:
    return field.related_model is Rule and field.name == "overrides"


def is_numbered(field: AnyField) -> bool:
    """Whether `field` refers to rows whose keys are numbers that the database gives."""
    target = field.related_model
    return target is not None and isinstance(target._meta.pk, models.AutoField)


def keys_of(table: Table) -> dict[str, AnyField]:
    """The keys of a line, in order, with the field that each is about."""
    keys: dict[str, AnyField] = {}
    for field in table.fields:
        keys[key_in_line(field)] = field
        if names_shared_rule(field):
            keys[field.name] = field
    return keys


def lines_of(table: Table, world: World) -> Iterator[str]:
    """Return the rows of `world` in the order of their keys, each as one line of JSON."""
    values = {key: value_of(table, field, key, world) for key, field in keys_of(table).items()}
    rows = table.rows(world).values_list(Cast(JSONObject(**values), TextField()), flat=True)
    return rows.iterator(chunk_size=ROWS_AT_ONCE)


def value_of(table: Table, field: AnyField, key: str, world: World) -> Any:
    if name := natural_key(field):
        return F(f"{field.name}__{name}")
    if field.primary_key and table.has_number:
        return Window(RowNumber(), order_by=F(field.attname).asc())
    if names_shared_rule(field):
        return shared_rule(field) if key == field.name else own_rule(field)
    return number_of(field, world) if is_numbered(field) else F(field.attname)


def own_rule(field: AnyField) -> Any:
    is_shared = {f"{field.name}__isnull": False, f"{field.name}__world__isnull": True}
    return Case(When(Q(**is_shared), then=None), default=F(field.attname))


def shared_rule(field: AnyField) -> Any:
    is_shared = {f"{field.name}__isnull": False, f"{field.name}__world__isnull": True}
    document = f"{field.name}__document"
    name = JSONObject(
        system=F(f"{document}__system__slug"),
        document=F(f"{document}__slug"),
        key=F(f"{field.name}__key"),
    )
    return Case(When(Q(**is_shared), then=name), default=None)


def number_of(field: AnyField, world: World) -> Any:
    """The place of the row that `field` refers to among the rows of the world."""
    target = field.related_model
    path = ARCHIVED[target._meta.label]
    before = target._base_manager.filter(**{path: world.pk, "pk__lte": OuterRef(field.attname)})
    return Subquery(before.order_by().values(path).annotate(n=Count("pk")).values("n"))


# --- back


def insert_lines(table: Table, lines: Sequence[str], numbers: Numbers) -> None:
    """Write the rows of `lines` in their order. Shared rows that exist stay as they are."""
    columns, values, parameters = [], [], []
    for field in table.model._meta.concrete_fields:
        if field.primary_key and not table.keeps_key:
            continue
        sql, given = value_to_insert(table, field, numbers)
        columns.append(quote_name(str(field.column)))
        values.append(sql)
        parameters += given
    name = quote_name(table.model._meta.db_table)
    statement = (
        f"INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(values)}"
        " FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS line(content, place),"
        f" jsonb_populate_record(NULL::{name}, line.content) AS new ORDER BY line.place"
        + ("" if table.path else " ON CONFLICT DO NOTHING")
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, f"[{','.join(lines)}]"])


def value_to_insert(table: Table, field: AnyField, numbers: Numbers) -> tuple[str, list[Any]]:
    """Return the SQL of a column's value, from `line.content` and `new`, with its parameters."""
    column = f"new.{quote_name(str(field.column))}"
    if field not in table.fields:
        return "%s", [value_of_hidden(field)]
    if name := natural_key(field):
        target = quote_name(field.related_model._meta.db_table)
        return (
            f"(SELECT id FROM {target} WHERE {quote_name(name)} = line.content->>%s)",
            [field.name],
        )
    if names_shared_rule(field):
        return f"coalesce({SHARED_RULE}, {column})", []
    model = table.model if field.primary_key else field.related_model
    if (label := model and model._meta.label) in numbers:
        return f"(%s::bigint[])[{column}]", [list(numbers[str(label)])]
    if isinstance(field, models.JSONField) and not field.null:
        # `jsonb_populate_record` makes NULL of the JSON value null.
        return f"coalesce({column}, 'null'::jsonb)", []
    if isinstance(field, models.CharField | models.TextField) and not field.null:
        # An archive does not have the columns that are younger than it.
        return f"coalesce({column}, '')", []
    return column, []


SHARED_RULE = """(SELECT rule.id FROM knowledge_rule rule
  JOIN knowledge_document document ON document.id = rule.document_id
  JOIN worlds_gamesystem system ON system.id = document.system_id
  WHERE rule.world_id IS NULL AND rule.key = line.content->'overrides'->>'key'
  AND document.slug = line.content->'overrides'->>'document'
  AND system.slug = line.content->'overrides'->>'system')"""


def value_of_hidden(field: AnyField) -> Any:
    """The value of a column that an archive does not hold."""
    if isinstance(field, models.DateTimeField):
        return None if field.null else timezone.now()
    return field.get_db_prep_save(field.get_default(), connection)


def new_numbers(table: Table, count: int) -> list[int]:
    """Take `count` keys of a numbered model from its sequence."""
    name, column = table.model._meta.db_table, table.model._meta.pk
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [quote_name(name), column.column if column else "id", count],
        )
        return [number for (number,) in cursor.fetchall()]


def with_defaults(table: Table, row: dict[str, Any]) -> str:
    """Return the line of `row`, which an older version wrote, with the columns added since."""
    for key, field in keys_of(table).items():
        if key not in row:
            default = field.get_default() if key == field.attname else None
            row[key] = default if not callable(default) else None
    return json.dumps(row, ensure_ascii=False, default=str)


def known_users(names: set[str]) -> set[str]:
    return set(User.objects.filter(username__in=names).values_list("username", flat=True))


def quote_name(name: str) -> str:
    return connection.ops.quote_name(name)
