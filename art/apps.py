from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete
from django.utils.translation import gettext_lazy as _


class ArtConfig(AppConfig):
    name = "art"
    verbose_name = _("Art")

    def ready(self) -> None:
        from art import checks  # noqa: F401  registers them; models are loaded only now
        from art.models import Picture
        from art.pictures import delete_files_after_commit

        def delete_files(instance: Picture, **_kwargs: Any) -> None:
            delete_files_after_commit(instance)

        # A signal, because the rows of a deleted world go without their own `delete()`.
        post_delete.connect(
            delete_files, sender=Picture, weak=False, dispatch_uid="delete_files_of_picture"
        )
