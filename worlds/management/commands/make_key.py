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
from worlds.models import World


class Command(BaseCommand):
    help = "Create an API key and print it: it cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        place = parser.add_mutually_exclusive_group(required=True)
        place.add_argument("--world", help="Slug of the world.")
        place.add_argument(
            "--installation",
            action="store_true",
            help="For no single world: it creates and deletes worlds, and asks in each of them.",
        )
        parser.add_argument("--name", required=True, help="Who will use it.")
        parser.add_argument(
            "--scope", action="append", choices=list(keys.Scope), help="May be given several times."
        )
        parser.add_argument(
            "--audience",
            help="Its cap: gm, party:<id>, character:<id>, npc:<id> or public (the default).",
        )
        parser.add_argument(
            "--origin",
            action="append",
            help="Web page whose scripts may use it: https://host[:port]. May be given several "
            "times.",
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
            world = None if options["installation"] else find_world(options["world"])
            campaign = options["campaign"]
            if campaign and world is None:
                raise CommandError("A key for the installation is bound to no campaign.")
            key, text = keys.create_key(
                world,
                name=options["name"],
                scopes=options["scope"] or self.usual_scopes(world),
                audience=options["audience"] or ("public" if world else "gm"),
                campaign=find_campaign(world, campaign) if world and campaign else None,
                origins=options["origin"] or (),
                namespace=options["namespace"],
                calls_per_minute=options["per_minute"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        self.stderr.write(
            f"Key {key.prefix} for {world.slug if world else 'the installation'}: "
            f"{', '.join(key.scopes)}; sees as {key.audience}."
        )
        self.stdout.write(text)

    @staticmethod
    def usual_scopes(world: World | None) -> list[keys.Scope]:
        return [keys.Scope.TOOLS_READ] if world else [keys.Scope.ADMIN]
