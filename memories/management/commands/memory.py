"""`manage.py memory ACTION NAMESPACE`: export, import, rebuild, deduplicate, health."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories import core, folders, namespaces, transfer
from memories.curation import duplicates, health, rebuild
from memories.haema import folder_import
from memories.ingest.add import site_model
from memories.models import Namespace
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.lookup import find_world
from worlds.models import World

ACTIONS = ("export", "import", "import-haema", "rebuild", "deduplicate", "health")


class Command(BaseCommand):
    help = "Export, import, rebuild or examine the memory of an agent."

    def add_arguments(self, parser: CommandParser) -> None:
        file_help = "JSONL file, or the folder of a HAEMA store."
        world_help = "Slug of the world; needed when there is more than one."
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("namespace", help="The agent's namespace.")
        parser.add_argument("file", nargs="?", type=Path, help=file_help)
        parser.add_argument("--world", default="", help=world_help)
        parser.add_argument("--everything", action="store_true", help="rebuild: all memories.")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        # A rebuild or an import in the wrong world is hard to undo: the default world is not used.
        if not options["world"] and World.objects.count() > 1:
            raise CommandError("There are several worlds: name one with --world.")
        # "import" alone would be a keyword, hence the suffix of the methods.
        run = getattr(self, options["action"].replace("-", "_") + "_namespace")
        try:
            run(find_world(options["world"]), options["namespace"], options)
        except (Problem, OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    def export_namespace(self, world: World, name: str, options: dict[str, Any]) -> None:
        lines = (f"{line}\n" for line in transfer.export_namespace(find_namespace(world, name)))
        if options["file"] is None:
            sys.stdout.writelines(lines)
            return
        options["file"].write_text("".join(lines), encoding="utf-8")
        self.stdout.write(f"Written to {options['file']}.")

    def import_namespace(self, world: World, name: str, options: dict[str, Any]) -> None:
        with require_file(options).open(encoding="utf-8") as lines:
            namespace, counts = transfer.import_namespace(lines, world, name=name)
        embed_soon("memory")
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing new"
        self.stdout.write(f"{namespace}: {summary}.")

    def import_haema_namespace(self, world: World, name: str, options: dict[str, Any]) -> None:
        folder = require_file(options)
        namespace = namespaces.get_or_create_namespace(world, name)
        count = folder_import.import_rows(namespace, folder_import.read_rows(folder))
        if (folder / folders.CORE_FILE).exists():
            folders.import_core(namespace, folder / folders.CORE_FILE)
        embed_soon("memory")
        version = core.current(namespace).number
        self.stdout.write(f"{namespace}: {count} memories, core version {version}.")

    def rebuild_namespace(self, world: World, name: str, options: dict[str, Any]) -> None:
        namespace = find_namespace(world, name)
        result = rebuild.rebuild_memories(
            namespace, everything=options["everything"], by="command", model=site_model(namespace)
        )
        embed_soon("memory")
        self.stdout.write(f"{result.derived_count} derived, {result.replaced_count} superseded.")
        if result.unchanged_count:
            self.stdout.write(
                f"{result.unchanged_count} observations unchanged: the model gave no answer."
            )

    def deduplicate_namespace(self, world: World, name: str, _options: dict[str, Any]) -> None:
        namespace = find_namespace(world, name)
        merges = duplicates.merge_duplicates(namespace, by="command")
        links = duplicates.link_contradictions(namespace)
        self.stdout.write(
            f"{len(merges)} merged (each can be restored), {links} contradictions linked."
        )

    def health_namespace(self, world: World, name: str, _options: dict[str, Any]) -> None:
        for label, count in health.record_health(find_namespace(world, name)).counts.items():
            self.stdout.write(f"{label:16}{count}")


def find_namespace(world: World, name: str) -> Namespace:
    namespace = Namespace.objects.filter(world=world, name=name).first()
    if namespace is None:
        names = world.namespaces.order_by("name").values_list("name", flat=True)[:20]
        known = ", ".join(names) or "none yet"
        raise CommandError(f"There is no namespace {name!r} in {world.slug} ({known}).")
    return namespace


def require_file(options: dict[str, Any]) -> Path:
    path: Path | None = options["file"]
    if path is None:
        raise CommandError("Name the file or folder to read.")
    return path
