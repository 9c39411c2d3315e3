"""SQL statements in files, for reads so frequent that Django's SQL compiler costs more than the
database.
"""

from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection


@cache
def statement(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def fetch_rows(path: Path, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the statement in `path` and return its rows as dicts by column name."""
    with connection.cursor() as cursor:
        cursor.execute(statement(path), values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
