"""Everything in one foreground command: database, migrations, demo world, web, worker, beat."""

import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any
from urllib.error import URLError

from django.conf import settings
from django.core.management import BaseCommand, call_command
from django.db import connections
from django.utils.translation import gettext as _

from memory_site import process_supervisor, quickstart
from memory_site.demo.pictures import set_picture_addresses
from memory_site.env import env
from memory_site.model_packages import missing_packages
from memory_site.progress import embedding_progress, later_progress, words_progress

WEB_WAIT_SECONDS = 60


class Command(BaseCommand):
    help = "Start the whole site: database, migrations, demo world, web, worker and beat."
    requires_system_checks: list[str] = []  # the checks run below, when the database is there

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=env.int("PORT", default=8000))
        parser.add_argument(
            "--no-demo", action="store_true", help="Start without loading the demo world."
        )
        parser.add_argument(
            "--watch",
            metavar="SITE",
            help="Only report: wait for SITE, print how to use it, follow the embedding.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["watch"]:
            return self._watch(options["watch"])
        port = process_supervisor.free_port(options["port"])
        if port != options["port"]:
            self.stdout.write(
                _("Port %(first)s is in use; using %(port)s.")
                % {"first": options["port"], "port": port}
            )
        self._prepare(f"http://{options['host']}:{port}", demo=not options["no_demo"])
        sys.exit(process_supervisor.run_processes(options["host"], port))

    def _prepare(self, site: str, *, demo: bool) -> None:
        if settings.EMBEDDER == "local" and missing_packages():
            with self._step(_("Models")):
                call_command("install_models", stdout=self.stdout)
        with self._step(_("Database")):
            connections["default"].ensure_connection()
        with self._step(_("Migrations")):
            call_command("migrate", verbosity=0)
        self.check(databases=["default"])
        if demo:
            with self._step(_("Rules and demo world")):
                call_command("demo", stdout=self.stdout)
                set_picture_addresses(site)
        quickstart.write_quickstart(site)
        connections.close_all()  # the children must not inherit a connection

    @contextmanager
    def _step(self, title: str) -> Iterator[None]:
        start = time.monotonic()
        self.stdout.write(f"{title} …")
        yield
        values = {"title": title, "seconds": time.monotonic() - start}
        self.stdout.write(self.style.SUCCESS(_("%(title)s: ready (%(seconds).1f s)") % values))

    # --- the `about` process

    def _watch(self, site: str) -> None:
        if not _answers(site):
            sys.exit(
                f"The web process did not answer within {WEB_WAIT_SECONDS} s: "
                "see its log lines above."
            )
        self.stdout.write(_about(site))
        for line in chain(words_progress(), embedding_progress(), later_progress()):
            self.stdout.write(line)


def _answers(site: str) -> bool:
    for _attempt in range(WEB_WAIT_SECONDS * 4):
        try:
            with urllib.request.urlopen(f"{site}/health/live", timeout=2):  # nosec B310
                return True
        except (URLError, OSError):
            time.sleep(0.25)
    return False


EXAMPLES = (
    ("rules_lookup", '{"term": "what happens to a grappled creature that is pushed away?"}'),
    ("rules_lookup", '{"rule_id": "srd-5.1/spells/fireball"}'),
    ("lore_search", '{"query": "who controls the ferries?", "k": 3}'),
)


def _call(site: str, key: str, tool: str, arguments: str) -> str:
    headers = f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'"
    return f"  curl -s {site}/api/v1/tools/{tool} {headers} -d '{arguments}'"


def _about(site: str) -> str:
    start = quickstart.write_quickstart(site)
    values = {"site": site, "file": quickstart.quickstart_path()}
    examples = "\n".join(_call(site, start.api_key, *example) for example in EXAMPLES)
    lines = [
        "\n  " + _("Memory37 runs at %(site)s") % values,
        "  " + _("Admin") + f":    {site}/admin/   {start.admin_user} / {start.admin_password}",
        "  " + _("API key") + f":  {start.api_key}",
        "  " + _("API page") + f": {site}/api/v1/docs",
        "  " + _("(also in %(file)s)") % values,
        "\n  " + _("Try:"),
        examples,
        "\n  " + _("Press Ctrl-C to stop everything. The data is kept.") + "\n",
    ]
    return "\n".join(lines)
