from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EpisodesConfig(AppConfig):
    name = "episodes"
    verbose_name = _("Episodes")

    def ready(self) -> None:
        import episodes.link_upkeep  # noqa: F401  (connects the signal of erased episodes)
