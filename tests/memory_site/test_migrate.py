"""`migrate` on a site that runs."""

from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate
from django.db import connection, transaction

from memory_site.management.commands import migrate

pytestmark = pytest.mark.django_db(transaction=True)


def another_connection() -> psycopg.Connection[Any]:
    params = connection.get_connection_params()
    own = {"cursor_factory", "server_side_binding", "prepare_threshold", "pool", "context"}
    return psycopg.connect(**{name: value for name, value in params.items() if name not in own})


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let Django's command change a table. Return what it and those who wait for it did."""
    done: list[str] = []

    def change_a_table(*_given: Any, **_options: Any) -> None:
        done.append("tried")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE worlds_world IN ACCESS EXCLUSIVE MODE")
        done.append("changed")

    monkeypatch.setattr(django_migrate.Command, "handle", change_a_table)
    monkeypatch.setattr(migrate, "LOCK_SECONDS", 0.2)
    return done


def test_a_migration_lets_others_pass_until_nobody_uses_its_table(
    tries: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with another_connection() as long_read, another_connection() as request:
        long_read.execute("SELECT count(*) FROM worlds_world")

        def others_pass(_seconds: float) -> None:
            request.execute("SET lock_timeout = '1s'")
            request.execute("SELECT count(*) FROM worlds_world")
            request.rollback()
            tries.append("read")
            if tries.count("read") == 2:
                long_read.rollback()

        monkeypatch.setattr("time.sleep", others_pass)
        call_command("migrate")
    assert tries == ["tried", "read", "tried", "read", "tried", "changed"]
    assert capsys.readouterr().out.count("next try") == 2
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_a_migration_that_never_gets_its_table_says_what_to_do(
    tries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    monkeypatch.setattr(migrate, "TRIES", 2)
    with another_connection() as long_read:
        long_read.execute("SELECT count(*) FROM worlds_world")
        with pytest.raises(CommandError, match="pg_stat_activity"):
            call_command("migrate", verbosity=0)
    assert tries == ["tried", "tried"]


def test_behind_a_pooler_nothing_is_set_for_a_session(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATABASE_POOLER = True
    during = []

    def read_setting(*_given: Any, **_options: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            during.append(cursor.fetchone())

    monkeypatch.setattr(django_migrate.Command, "handle", read_setting)
    call_command("migrate", verbosity=0)
    assert during == [("0",)]
