"""`manage.py make_key --world ferrymark --name engine --scope tools:read --audience
party:lanternbearers`"""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from retrieval.errors import Problem
from worlds import keys
from worlds.lookup import find_campaign, find_world


class Command(BaseCommand):
    help = "Create an API key and print it: it cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--world", required=True, help="Slug of the world.")
        parser.add_argument("--name", required=True, help="Who will use it.")
        parser.add_argument(
            "--scope", action="append", choices=list(keys.Scope), help="May be given several times."
        )
        parser.add_argument(
            "--audience", default="public", help="Its cap: gm, party:<id>, npc:<id> or public."
        )
        parser.add_argument("--campaign", help="Slug of the campaign it is bound to.")
        parser.add_argument("--namespace", default="", help="The agent whose memory it may use.")
        parser.add_argument(
            "--per-minute", type=int, default=600, help="Calls of one tool per minute."
        )
        parser.add_argument(
            "--days", type=int, help="How long it is valid; without it, until revoked."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        days = options["days"]
        try:
            world = find_world(options["world"])
            key, text = keys.create_key(
                world,
                name=options["name"],
                scopes=options["scope"] or [keys.Scope.TOOLS_READ],
                audience=options["audience"],
                campaign=find_campaign(world, options["campaign"]) if options["campaign"] else None,
                namespace=options["namespace"],
                calls_per_minute=options["per_minute"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        self.stderr.write(
            f"Key {key.prefix} for {world.slug}: {', '.join(key.scopes)}; sees as {key.audience}."
        )
        self.stdout.write(text)
