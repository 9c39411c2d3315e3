"""`manage.py relink`: compute the links of all texts anew."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.mentions.store import relink
from retrieval.errors import Problem
from worlds.lookup import find_world
from worlds.models import World


class Command(BaseCommand):
    help = "Compute the links of all texts anew: after rows were written by SQL, or to be sure."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--world", help="Slug; default: all worlds.")

    def handle(self, *_args: Any, world: str | None, **_options: Any) -> None:
        try:
            worlds = [find_world(world)] if world else list(World.objects.order_by("slug"))
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        for each in worlds:
            self.stdout.write(f"{each.slug}: {relink(each)}")
