from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorldsConfig(AppConfig):
    name = "worlds"
    verbose_name = _("Worlds")

    def ready(self) -> None:
        from worlds import deletion  # noqa: F401  connects its signals; models are loaded only now
