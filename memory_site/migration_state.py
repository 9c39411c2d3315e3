"""Whether the tables of the database and this version of the code fit together."""

from dataclasses import dataclass

from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader


@dataclass(frozen=True)
class MigrationState:
    waiting: tuple[str, ...]
    """Migrations of this version that the database has not."""
    newer: tuple[str, ...]
    """Migrations that the database has and this version does not know."""


def migration_state() -> MigrationState:
    """Compare the recorded migrations with those of this version."""
    loader = MigrationLoader(connection)
    known, applied = set(loader.graph.nodes), set(loader.applied_migrations)
    # A squashed migration counts as applied in place of those that it replaces.
    replaced = {old for each in loader.replacements.values() for old in each.replaces}
    newer = {each for each in applied - known - replaced if is_own(each[0])}
    return MigrationState(waiting=names(known - applied), newer=names(newer))


def known_migrations() -> set[str]:
    """Return the names of all migrations of this version and of those that it has squashed."""
    loader = MigrationLoader(None)
    return set(names(set(loader.disk_migrations)))


def is_own(label: str) -> bool:
    """Whether the app is installed: the migrations of a removed one are no news."""
    return label in apps.app_configs


def names(migrations: set[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(f"{app}.{name}" for app, name in migrations))
