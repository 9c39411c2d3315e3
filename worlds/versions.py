"""Optimistic locking: a writer names the version that it has read."""

from hashlib import sha256
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from retrieval.errors import StaleVersion


def require_version(row: Any | None, expected: int | None) -> None:
    """Raise `StaleVersion` unless `row` has the version that the writer has read.

    The caller has locked the row in the transaction of its write (None: there is no row), so that
    of two writers who have read the same version one is refused. Without `expected` every version
    is accepted."""
    if expected is None:
        return
    stored = row.version if row is not None else None
    if stored == expected:
        return
    if stored is None:
        state = _("Nothing is stored.")
        detail = _(
            "You have read version %(read)s, but nothing is stored: read it again, then decide."
        )
    else:
        state = _("Version %(stored)s is stored.")
        detail = _(
            "You have read version %(read)s, but version %(stored)s is stored: read it again, then "
            "decide."
        )
    values = {"read": expected, "stored": stored}
    raise StaleVersion(
        detail % values,
        version=stored,
        errors=[{"loc": ["version"], "msg": state % values, "ctx": {"stored": stored}}],
    )


def lock_row(row: Model) -> None:
    """Lock `row` until the end of the transaction and read it again: what was read before the lock
    may have been changed meanwhile. Raises `DoesNotExist` if it is gone."""
    row.refresh_from_db(from_queryset=type(row)._base_manager.select_for_update(of=("self",)))


def digest_of_row(rows: QuerySet[Any]) -> str | None:
    """Return a digest of the only row of `rows` and lock it: the entity tag where a model has no
    version. None: there is no row."""
    fields = [field.attname for field in rows.model._meta.concrete_fields]
    names = [name for name in fields if name not in ("created_at", "updated_at")]
    row = rows.select_for_update().values_list(*names).first()
    return row and sha256(repr(row).encode()).hexdigest()[:16]
