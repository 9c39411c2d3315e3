"""Two versions run on one database during an upgrade: a new migration takes nothing from the old
version. Migrations of the released state are listed and not looked at again."""

from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django_migration_linter import MigrationLinter

RELEASED = Path(__file__).with_name("released_migrations.txt")
ROOT = Path(settings.BASE_DIR)


def own_migrations() -> dict[str, object]:
    """The migrations of the product's own apps by `app.name`, without squashed ones, whose database
    is a new one."""
    loader = MigrationLoader(connection)
    own = {config.label for config in apps.get_app_configs() if ROOT in Path(config.path).parents}
    own = {label for label in own if "site-packages" not in apps.get_app_config(label).path}
    return {
        f"{app}.{name}": migration
        for (app, name), migration in loader.disk_migrations.items()
        if app in own and not migration.replaces
    }


@pytest.mark.django_db
def test_new_migrations_let_the_version_before_go_on() -> None:
    released = set(RELEASED.read_text().split())
    # CREATE INDEX blocks writers for seconds, which wait; that fails no request.
    linter = MigrationLinter(
        str(ROOT),
        no_cache=True,
        analyser_string="postgresql",
        exclude_migration_tests=["CREATE_INDEX"],
        quiet=["ok", "ignore"],
    )
    new = {name: each for name, each in own_migrations().items() if name not in released}
    for migration in new.values():
        linter.lint_migration(migration)
    assert not linter.has_errors, "see the lines above: split the migration over two versions"


@pytest.mark.django_db
def test_released_migrations_are_still_there() -> None:
    assert set(RELEASED.read_text().split()) <= set(own_migrations())


def test_the_linter_refuses_a_column_that_is_dropped() -> None:
    statements = ['ALTER TABLE "worlds_world" DROP COLUMN "name" CASCADE;']
    analyse = pytest.importorskip("django_migration_linter.sql_analyser").analyse_sql_statements
    from django_migration_linter.sql_analyser import get_sql_analyser_class

    errors, _ignored, _warnings = analyse(
        get_sql_analyser_class("postgresql"), statements, exclude_migration_tests=["CREATE_INDEX"]
    )
    assert [each.code for each in errors] == ["DROP_COLUMN"]
