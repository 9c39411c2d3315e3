from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ArtConfig(AppConfig):
    name = "art"
    verbose_name = _("Art")
