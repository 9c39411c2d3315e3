from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        import knowledge.entry_facts
        import knowledge.graph.admin
        import knowledge.mentions.upkeep  # noqa: F401  (connects the signals of deleted rows)
        from knowledge.graph.relations import seed_relations

        post_migrate.connect(seed_relations, sender=self, dispatch_uid="seed graph relations")
