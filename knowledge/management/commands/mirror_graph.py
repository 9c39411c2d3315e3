"""Keep the Neo4j projection of the relation graph: copy what is pending, rebuild it, compare it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.graph import mirror
from knowledge.graph.neo4j_driver import NEO4J_DOWN, site_neo4j

SHOWN_DIFFERENCES = 20


class Command(BaseCommand):
    help = "Copy pending changes of the relation graph to Neo4j and report the lag."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rebuild", action="store_true", help="empty Neo4j, copy everything")
        parser.add_argument("--verify", action="store_true", help="fail on a difference")
        parser.add_argument("--stop", action="store_true", help="stop recording changes for Neo4j")

    def handle(self, *_args: Any, rebuild: bool, verify: bool, stop: bool, **_options: Any) -> None:
        if stop:
            mirror.stop_mirroring()
            return
        neo = site_neo4j()
        if neo is None:
            raise CommandError(
                "Neo4j is not configured: set NEO4J_URL, NEO4J_USER, NEO4J_PASSWORD."
            )
        try:
            if rebuild or not mirror.mirror_lag().is_mirrored:
                nodes, edges = mirror.rebuild_mirror(neo)
                self.stdout.write(f"Rebuilt: {nodes} entities, {edges} facts.")
            self.stdout.write(f"Copied {mirror.copy_pending(neo)} changes.")
            if verify:
                differences = mirror.find_differences(neo)
                for line in differences[:SHOWN_DIFFERENCES] or ["No difference."]:
                    self.stdout.write(line)
                if count := len(differences):
                    raise CommandError(f"{count} differences; `mirror_graph --rebuild` repairs it.")
        except NEO4J_DOWN as error:
            raise CommandError(f"Neo4j at {neo.url} failed: {error}") from error
        lag = mirror.mirror_lag()
        self.stdout.write(f"Lag: {lag.pending} changes, {lag.seconds:.1f} s.")
