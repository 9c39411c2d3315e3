"""The rate limit of a namespace's events: one token bucket for all processes."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories.models.namespaces import Namespace


class EventAllowance(models.Model):
    """`passed` is the number of events that the last request was allowed."""

    namespace = models.OneToOneField(
        Namespace, models.CASCADE, primary_key=True, related_name="event_allowance"
    )
    tokens = models.FloatField(_("tokens"))
    passed = models.PositiveIntegerField(_("allowed at the last check"), default=0)
    filled_at = models.DateTimeField(_("refilled at"))

    class Meta:
        verbose_name = _("event allowance")
        verbose_name_plural = _("event allowances")

    def __str__(self) -> str:
        return f"{self.tokens:.0f}"
