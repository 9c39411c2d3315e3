from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = _("Agent memory")

    def ready(self) -> None:
        autodiscover_modules("agent_admin")
        from memories.models import Namespace
        from retrieval.indexing import forget_scope

        def forget_words(instance: Namespace, **_signal: Any) -> None:
            forget_scope(str(instance.pk))

        # A signal, because the namespaces of a deleted world go without their own erasure.
        post_delete.connect(
            forget_words, sender=Namespace, weak=False, dispatch_uid="forget_words_of_namespace"
        )
