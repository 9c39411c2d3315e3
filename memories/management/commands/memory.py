"""`manage.py memory ACTION NAMESPACE`: export and import, HAEMA folders, rebuild, duplicates, health."""

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
from worlds.models import World


class Command(BaseCommand):
    help = "Export, import, rebuild or examine the memory of an agent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "action",
            choices=["export", "import", "import-haema", "rebuild", "deduplicate", "health"],
        )
        parser.add_argument("namespace", help="The agent's namespace.")
        parser.add_argument(
            "file", nargs="?", type=Path, help="JSONL file, or the folder of a HAEMA store."
        )
        parser.add_argument(
            "--world", default="", help="Slug of the world; needed when there is more than one."
        )
        parser.add_argument(
            "--everything", action="store_true", help="rebuild: derive all memories again."
        )

    def handle(self, *_arguments: Any, **options: Any) -> None:
        world = self._world(options["world"])
        try:
            getattr(self, f"_{options['action'].replace('-', '_')}")(world, options)
        except (Problem, OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    def _export(self, world: World, options: dict[str, Any]) -> None:
        lines = transfer.export_namespace(self._namespace(world, options))
        if options["file"] is None:
            sys.stdout.writelines(f"{line}\n" for line in lines)
            return
        options["file"].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self.stdout.write(f"Written to {options['file']}.")

    def _import(self, world: World, options: dict[str, Any]) -> None:
        with self._file(options).open(encoding="utf-8") as lines:
            namespace, counts = transfer.import_namespace(lines, world, name=options["namespace"])
        embed_soon("memory")
        told = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing new"
        self.stdout.write(f"{namespace}: {told}.")

    def _import_haema(self, world: World, options: dict[str, Any]) -> None:
        folder, namespace = (
            self._file(options),
            namespaces.get_or_create_namespace(world, options["namespace"]),
        )
        count = folder_import.import_rows(namespace, folder_import.read_rows(folder))
        if (folder / folders.CORE_FILE).exists():
            folders.import_core(namespace, folder / folders.CORE_FILE)
        embed_soon("memory")
        self.stdout.write(
            f"{namespace}: {count} memories, core version {core.current(namespace).number}."
        )

    def _rebuild(self, world: World, options: dict[str, Any]) -> None:
        rebuilt = rebuild.rebuild(
            self._namespace(world, options),
            everything=options["everything"],
            by="command",
            model=site_model(),
        )
        embed_soon("memory")
        left = (
            f", {rebuilt.left} observations left as they were: no usable answer"
            if rebuilt.left
            else ""
        )
        self.stdout.write(f"{rebuilt.derived} derived, {rebuilt.replaced} superseded{left}.")

    def _deduplicate(self, world: World, options: dict[str, Any]) -> None:
        namespace = self._namespace(world, options)
        merged = duplicates.merge_duplicates(namespace, by="command")
        linked = duplicates.link_contradictions(namespace)
        self.stdout.write(
            f"{len(merged)} merged (each can be restored), {linked} contradictions linked."
        )

    def _health(self, world: World, options: dict[str, Any]) -> None:
        for name, count in health.examine(self._namespace(world, options)).counts.items():
            self.stdout.write(f"{name:16}{count}")

    def _world(self, slug: str) -> World:
        worlds = World.objects.filter(slug=slug) if slug else World.objects.all()
        if worlds.count() != 1:
            known = ", ".join(World.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"Name the world with --world ({known}).")
        return worlds.get()

    def _namespace(self, world: World, options: dict[str, Any]) -> Namespace:
        found = Namespace.objects.filter(world=world, name=options["namespace"]).first()
        if found is None:
            known = (
                ", ".join(Namespace.objects.filter(world=world).values_list("name", flat=True)[:20])
                or "none yet"
            )
            raise CommandError(
                f"There is no namespace {options['namespace']!r} in {world.slug} ({known})."
            )
        return found

    def _file(self, options: dict[str, Any]) -> Path:
        if options["file"] is None:
            raise CommandError("Name the file or folder to read.")
        path: Path = options["file"]
        return path
