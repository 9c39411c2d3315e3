from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        import psycopg
        import psycopg._queries
        from pgvector import HalfVector
        from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper

        from retrieval.indexing.install import install_after_migrate

        # A vector in binary costs a tenth of one in text. PostgreSQL reads it as the type that the
        # statement names. Text is for Django's log of statements, which writes the values into
        # them.
        psycopg.adapters.register_dumper(HalfVector, HalfVectorDumper)
        psycopg.adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)
        # Up to this length psycopg keeps the parsed text of a statement; ours are longer than its
        # 4,096 characters, and parsing the search anew takes a tenth of a millisecond. Where the
        # name is gone one day, it is merely slower.
        psycopg._queries.MAX_CACHED_STATEMENT_LENGTH = 32_768
        post_migrate.connect(install_after_migrate, dispatch_uid="retrieval.install")
