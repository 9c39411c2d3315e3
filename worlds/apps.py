from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorldsConfig(AppConfig):
    name = "worlds"
    verbose_name = _("Worlds")

    def ready(self) -> None:
        # They connect their signals; models are loaded only now. A preflight may be the first
        # request of the process, before the addresses are loaded.
        from worlds import browser_origins, deletion  # noqa: F401
