"""`manage.py doctor`: what is wrong with this installation, and what to do."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

import psycopg
from django.core.management.base import BaseCommand
from django.db import DatabaseError

from memory_site.broker import probe_database
from memory_site.doctor import data, installation
from memory_site.doctor.diagnoses import Diagnosis, Level, error
from memory_site.migration_state import migration_state
from retrieval.errors import EmbedderDown

FIRST: tuple[Callable[[], Iterator[Diagnosis]], ...] = (
    installation.examine_versions,
    installation.examine_configuration,
    installation.examine_migrations,
    installation.examine_parts,
    installation.examine_disk,
    installation.examine_transactions,
)
WITH_DATA = (
    data.examine_models,
    data.examine_passages,
    data.examine_dispositions,
    data.examine_graph_mirror,
    data.examine_files,
)
WITHOUT_DATABASE = (
    installation.examine_missing_database,
    installation.examine_configuration,
    installation.examine_disk,
)
"""Where the database does not answer, everything else would seem to be broken as well."""
WITHOUT_TABLES = (
    installation.examine_versions,
    installation.examine_configuration,
    installation.examine_migrations,
    installation.examine_disk,
)
"""While migrations wait: what reads tables would miss some."""
EXIT_CODES = {Level.OK: 0, Level.WARNING: 1, Level.ERROR: 2}


class Command(BaseCommand):
    help = (
        "Examine configuration, database, processes, disk and derived data. Each finding says what "
        "to do. Exit code 0: nothing found, 1: warnings, 2: errors. Changes nothing."
    )
    requires_system_checks: list[str] = []  # they are part of the examination

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print JSON.")
        parser.add_argument(
            "--quick", action="store_true", help="Leave out what reads all rows and files."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        findings = list(examine(choose_examinations(quick=options["quick"])))
        if options["json"]:
            text = json.dumps([asdict(each) for each in findings], ensure_ascii=False, indent=1)
            self.stdout.write(text)
        else:
            self._print(findings)
        worst = max((EXIT_CODES[each.level] for each in findings), default=0)
        if worst:
            sys.exit(worst)

    def _print(self, findings: Iterable[Diagnosis]) -> None:
        styles = {Level.OK: self.style.SUCCESS, Level.WARNING: self.style.WARNING}
        for each in findings:
            style = styles.get(each.level, self.style.ERROR)
            self.stdout.write(style(f"{each.level:8}") + f"{each.area}: {each.text}")
            if each.remedy:
                self.stdout.write(f"{'':8}→ {each.remedy}")


def choose_examinations(*, quick: bool) -> Iterable[Callable[[], Iterator[Diagnosis]]]:
    if not does_database_answer():
        return WITHOUT_DATABASE
    if migration_state().waiting:
        return WITHOUT_TABLES
    return FIRST if quick else FIRST + WITH_DATA


def does_database_answer() -> bool:
    try:
        probe_database()
    except psycopg.OperationalError:
        return False
    return True


def examine(examinations: Iterable[Callable[[], Iterator[Diagnosis]]]) -> Iterator[Diagnosis]:
    """Go on after an examination that the database or the embedder does not answer."""
    for examination in examinations:
        name = examination.__name__.removeprefix("examine_").replace("_", " ")
        try:
            yield from examination()
        except DatabaseError as problem:
            yield error(name, str(problem).strip(), "See the finding about the database.")
        except (EmbedderDown, ImportError) as problem:
            yield error(name, str(problem), "See the finding about the configuration.")
