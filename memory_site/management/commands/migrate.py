"""Django's `migrate`, which does not stop a site that runs.

A migration that changes a table waits until nobody uses it, and whoever comes later waits behind
the migration: one long read would stop every request. So it waits for `LOCK_SECONDS`, is rolled
back, lets the others pass, and is tried again.
"""

import time
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections

LOCK_SECONDS = 2
PAUSE_SECONDS = 3
TRIES = 40
IN_USE = (
    "A table was in use at each of {tries} tries. Every migration before is applied. Find out who"
    " holds it (SELECT * FROM pg_stat_activity WHERE xact_start < now() - interval '1 minute'),"
    " end that, and run migrate again."
)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_POOLER:
            # What is set for a session would stay with the server's connection, for somebody else.
            super().handle(*args, **options)
            return
        connection = connections[options["database"]]
        for number in range(1, TRIES + 1):
            try:
                with connection.cursor() as cursor:
                    cursor.execute(f"SET lock_timeout = {int(1000 * LOCK_SECONDS)}")
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                    raise
                if number == TRIES:
                    raise CommandError(IN_USE.format(tries=TRIES)) from error
            finally:
                if connection.connection is not None and connection.is_usable():
                    with connection.cursor() as cursor:
                        cursor.execute("RESET lock_timeout")
            if options["verbosity"]:
                self.stdout.write(f"A table is in use: next try in {PAUSE_SECONDS} seconds.")
            time.sleep(PAUSE_SECONDS)
