"""Change the embedding model of a live system."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.domains import get_passage_model, passage_models
from retrieval.embedders import get_configured_embedder
from retrieval.errors import Problem
from retrieval.indexing.model_switch import (
    foreign_passages,
    passages_to_stage,
    stage_vectors,
    swap_vectors,
)
from retrieval.models import Passage


class Command(BaseCommand):
    help = (
        "Run with the settings of the new model (EMBEDDER, EMBEDDING_MODEL). Computes all vectors "
        "while searches use the old ones, then swaps them in one transaction. Restart web and "
        "worker with the new settings right after."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--domain", help="Only this domain: srd, lore, episode, art, …")
        parser.add_argument(
            "--stage-only", action="store_true", help="Compute the vectors, swap later."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            domain = options["domain"]
            for model in [get_passage_model(domain)] if domain else passage_models():
                self._switch(model, stage_only=options["stage_only"])
        except Problem as problem:
            detail = f"{problem} The computed vectors are kept: run the command again."
            raise CommandError(detail) from problem

    def _switch(self, model: type[Passage], *, stage_only: bool) -> None:
        domain = model.search_config.domain
        embedder = get_configured_embedder(domain)
        total = passages_to_stage(model, embedder).count()
        if not total and not foreign_passages(model, embedder).exists():
            self.stdout.write(f"{domain}: every vector is of {embedder.name}")
            return
        self.stdout.write(f"{domain}: {total} vectors to compute with {embedder.name}")
        stage_vectors(
            model, embedder, on_batch=lambda done: self._progress(f"{domain}: {done}/{total}")
        )
        if stage_only:
            self.stdout.write(f"{domain}: staged; run again without --stage-only to swap")
        else:
            count = swap_vectors(model, embedder)
            self.stdout.write(f"{domain}: {count} vectors swapped; restart web and worker now")

    def _progress(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
