from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        from retrieval import checks  # noqa: F401  registers them
        from retrieval.installing import install_after_migrate

        post_migrate.connect(install_after_migrate, dispatch_uid="retrieval.install")
