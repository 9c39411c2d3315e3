"""The conversation log an agent can search."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memories.models.namespaces import Namespace
from retrieval.models import Passage, SearchConfig


class Message(Passage):
    search_config = SearchConfig(
        "conversation",
        scope="namespace_id",
        public=models.Q(namespace__isnull=False),
        text_weight=3,
    )

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="messages")
    conversation = models.CharField(_("conversation"), max_length=120, blank=True, default="")
    role = models.CharField(_("role"), max_length=20, default="user")
    speaker = models.CharField(_("speaker"), max_length=120, blank=True, default="")
    source = models.CharField(_("source"), max_length=200, blank=True, default="")
    said_at = models.DateTimeField(_("said at"), default=timezone.now)
    previous_turn = models.UUIDField(null=True, editable=False)

    class Meta(Passage.Meta):
        abstract = False
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        indexes = [
            models.Index(fields=["namespace", "said_at"], name="memory_said_at"),
            models.Index(
                fields=["namespace", "conversation", "said_at"], name="memory_message_turns"
            ),
            models.Index(
                fields=["previous_turn"],
                name="memory_message_after",
                condition=models.Q(previous_turn__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]
