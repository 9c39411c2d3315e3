from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        import psycopg
        from pgvector import HalfVector
        from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper

        from retrieval import checks  # noqa: F401 - registers them
        from retrieval.indexing.install import install_after_migrate
        from retrieval.indexing.stored_words import record_after_migrate

        # A vector in binary costs a tenth of one in text; PostgreSQL reads it as the type that the
        # statement names. Django's log of statements writes values into them: it uses the text one.
        psycopg.adapters.register_dumper(HalfVector, HalfVectorDumper)
        psycopg.adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)
        post_migrate.connect(install_after_migrate, dispatch_uid="retrieval.install")
        post_migrate.connect(record_after_migrate, dispatch_uid="retrieval.words")
