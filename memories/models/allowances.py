"""How many events a namespace may still send: one token bucket for all processes."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories.models.namespaces import Namespace


class EventAllowance(models.Model):
    """`passed` is what the last draw let through."""

    namespace = models.OneToOneField(
        Namespace, models.CASCADE, primary_key=True, related_name="event_allowance"
    )
    tokens = models.FloatField(_("tokens"))
    passed = models.PositiveIntegerField(_("let through last"), default=0)
    filled_at = models.DateTimeField(_("filled"))

    class Meta:
        verbose_name = _("event allowance")
        verbose_name_plural = _("event allowances")
