"""`manage.py smoke`: call every public function once in a scratch database; print what each
returned, and how fast.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from memory_site.smoke import CallResult, run


class Command(BaseCommand):
    help = "Call every public function in a scratch database; print results and times."
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        own = str(connection.settings_dict["NAME"])
        connection.settings_dict["TEST"]["NAME"] = f"{own}_smoke"
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            failures = sum(self._print(call) for call in run())
        finally:
            connection.creation.destroy_test_db(own, verbosity=0)
        if failures:
            raise CommandError(f"{failures} calls failed.")
        self.stdout.write("All calls answered.")

    def _print(self, call: CallResult) -> bool:
        mark = "FAIL" if call.is_error else "ok"
        self.stdout.write(f"{mark:4} {call.name:24} {call.milliseconds:8.1f} ms  {call.result}")
        return call.is_error
