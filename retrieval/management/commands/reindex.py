"""Rebuild the data derived from passages: words, counts, vectors, indexes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from retrieval.domains import get_passage_model, passage_models
from retrieval.embedders import get_embedder
from retrieval.errors import Problem
from retrieval.indexing import install_passage_table, passage_indexes
from retrieval.indexing.embed import embed_pending, parked_passages, pending_passages
from retrieval.indexing.install import install_functions
from retrieval.indexing.model_switch import mark_foreign_stale
from retrieval.indexing.upkeep import index_vectors, rebuild_words, retry_parked
from retrieval.models import Passage


class Command(BaseCommand):
    help = "Rebuild the search index from its rows. Unchanged text is not embedded again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--domain", help="Only this domain: srd, lore, episode, art, …")
        parser.add_argument(
            "--drop", action="store_true", help="Drop the indexes first: faster for large tables."
        )
        parser.add_argument(
            "--words-only", action="store_true", help="Leave the vectors as they are."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            domain = options["domain"]
            for model in [get_passage_model(domain)] if domain else passage_models():
                self._reindex(model, drop=options["drop"], words_only=options["words_only"])
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _reindex(self, model: type[Passage], *, drop: bool, words_only: bool) -> None:
        name, total = model.search_config.domain, model._default_manager.count()
        self.stdout.write(f"{name}: {total} passages")
        if drop:
            passage_indexes.drop_word_indexes(model, connection)
            if not words_only:
                passage_indexes.drop_vector_indexes(model)
        install_functions(connection)
        install_passage_table(model, connection, with_indexes=not drop)
        rebuild_words(model, lambda done: self._progress(f"{name}: words {done}/{total}"))
        if drop:
            passage_indexes.create_word_indexes(model, connection)
        if not words_only:
            self._vectors(model)

    def _vectors(self, model: type[Passage]) -> None:
        name = model.search_config.domain
        retry_parked(model)
        mark_foreign_stale(model, get_embedder(name))
        total = pending_passages(model).count()
        embed_pending(
            model, on_batch=lambda done: self._progress(f"{name}: vectors {done}/{total}")
        )
        if index := index_vectors(model):
            self._progress(f"{name}: vector index {index}")
        if left := parked_passages(model).count():
            self.stderr.write(f"{name}: {left} passages failed too often, see embed_error")

    def _progress(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
