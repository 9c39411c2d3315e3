"""`manage.py api_digest [--write]`: one line per REST operation; committed, so that a change of the
contract shows.
"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from memory_site.api import api
from memory_site.openapi import contract_digest

COMMITTED = settings.BASE_DIR / "docs" / "api.digest"


class Command(BaseCommand):
    help = "Print the digest of the REST contract, or write it to docs/api.digest."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        text = "\n".join(contract_digest(api.get_openapi_schema())) + "\n"
        if options["write"]:
            COMMITTED.parent.mkdir(exist_ok=True)
            COMMITTED.write_text(text)
        else:
            self.stdout.write(text, ending="")
