from django.apps import AppConfig, apps
from django.contrib.admin import apps as admin_apps
from django.db.models.signals import post_migrate

from memory_site import event_sources, field_names


class MemorySiteConfig(AppConfig):
    default = True
    name = "memory_site"
    verbose_name = "Memory37"

    def ready(self) -> None:
        # The import of celery and checks registers them.
        from memory_site import after_migrations, broker, celery, checks, telemetry  # noqa: F401
        from memory_site.fact_proposals import upkeep  # noqa: F401  (connects its signals)

        telemetry.configure()
        field_names.translate_plain_names(apps.get_models(include_auto_created=True))
        # This app has no models and so gets no signal of its own after the migrations.
        post_migrate.connect(broker.install_queues, sender=apps.get_app_config("retrieval"))
        # Signals come after all migrations of all apps, so the tables of texts are complete.
        last_with_texts = apps.get_app_config("npcs")
        post_migrate.connect(after_migrations.derive_after_migration, sender=last_with_texts)
        post_migrate.connect(
            event_sources.install_after_migrate, sender=apps.get_app_config("memories")
        )


class AdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "memory_site.admin_site.Site"
