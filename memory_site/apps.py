from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from memory_site import field_names


class MemorySiteConfig(AppConfig):
    name = "memory_site"
    verbose_name = "Memory37"

    def ready(self) -> None:
        from memory_site import broker, celery, checks, telemetry  # noqa: F401  (registering is the import's effect)

        telemetry.configure()
        field_names.translate_plain_names(apps.get_models(include_auto_created=True))
        # This app has no models, so the signal of one that has stands for "the migrations are
        # through".
        post_migrate.connect(broker.install_queues, sender=apps.get_app_config("retrieval"))
