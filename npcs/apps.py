from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NpcsConfig(AppConfig):
    name = "npcs"
    verbose_name = _("NPCs")

    def ready(self) -> None:
        import npcs.link_upkeep  # noqa: F401  (connects the signals of saved NPCs)
