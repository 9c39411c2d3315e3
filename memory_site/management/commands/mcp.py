"""`manage.py mcp`: the MCP server on standard input and output, for a host on the same machine."""

import logging
import sys
from argparse import ArgumentParser
from typing import Any

import anyio
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from mcp.server.stdio import stdio_server

from memory_site.mcp import build_server
from memory_site.toolbox import Profile
from retrieval.errors import Problem
from worlds import keys
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.lookup import find_by_key
from worlds.models import World


class Command(BaseCommand):
    help = (
        "Serve the tools over stdio, by the key in MEMORY37_API_KEY or by --world and --audience."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--world",
            help="Slug of the world; needed without a key, and with a key of the whole "
            "installation (or set MEMORY37_WORLD).",
        )
        parser.add_argument(
            "--audience",
            default="public",
            help="gm, party:<id>, character:<id>, npc:<id> or public.",
        )
        parser.add_argument(
            "--profile", choices=list(Profile), help="List only the tools of this profile."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
        try:
            caller = self._caller(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        anyio.run(_serve, caller, options["profile"])

    def _caller(self, options: dict[str, Any]) -> Caller:
        if settings.MEMORY37_API_KEY:
            key = keys.verify(settings.MEMORY37_API_KEY)
            slug = options["world"] or settings.MEMORY37_WORLD
            if key.world is None and not slug:
                raise CommandError(
                    "This key is for the whole installation: name the world with --world or in "
                    "MEMORY37_WORLD."
                )
            return Caller.with_key(key, world_slug=slug)
        world = find_by_key(World.objects.all(), options["world"] or "")
        if world is None:
            raise CommandError("Set MEMORY37_API_KEY, or name a world with --world.")
        # Without a key nobody granted writing, so only the tools that read can be called.
        caller = Caller(world=world, audience=GM, scopes=frozenset([keys.Scope.TOOLS_READ]))
        return caller.as_audience(options["audience"])


async def _serve(caller: Caller, profile: str | None) -> None:
    listed = Profile(profile) if profile else None
    server = build_server(lambda _context: caller, lambda _context: listed)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
