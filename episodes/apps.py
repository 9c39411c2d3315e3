from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EpisodesConfig(AppConfig):
    name = "episodes"
    verbose_name = _("Episodes")
