from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorldsConfig(AppConfig):
    name = "worlds"
    verbose_name = _("Worlds")
