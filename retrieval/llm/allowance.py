"""How much the language model may be used in 24 hours, by the installation and by one world."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, Sum
from django.utils import timezone

from retrieval.errors import LanguageModelDown
from retrieval.models import LanguageModelCall

PERIOD = timedelta(hours=24)


class AllowanceSpent(LanguageModelDown):
    """The calls of the last 24 hours have reached a limit of the settings."""

    code, title = "language_model_allowance_spent", "The language model is used up for today"


def require_allowance(tenant: str) -> None:
    """Raise `AllowanceSpent` if the calls of the last 24 hours reach a limit: those of all worlds
    together, or those of the world `tenant`. Calls that are under way are not counted yet."""
    limits = limits_of_settings(tenant)
    if not limits:
        return
    of_world, cost = Q(tenant=tenant), Sum("cost")
    tokens = Sum("tokens_in") + Sum("tokens_out")
    world_tokens = Sum("tokens_in", filter=of_world) + Sum("tokens_out", filter=of_world)
    spent: dict[str, Any] = LanguageModelCall.objects.filter(
        created_at__gte=timezone.now() - PERIOD
    ).aggregate(
        LLM_DAILY_TOKENS=tokens,
        LLM_DAILY_COST=cost,
        LLM_DAILY_TOKENS_PER_WORLD=world_tokens,
        LLM_DAILY_COST_PER_WORLD=Sum("cost", filter=of_world),
    )
    for name, limit in limits.items():
        if (spent[name] or 0) >= limit:
            raise AllowanceSpent(
                f"The calls of the last 24 hours have reached {name}={limit:g}. "
                "Wait, or set a higher limit."
            )


def limits_of_settings(tenant: str) -> dict[str, float]:
    """Return the limits that are set, by the names of their settings. Without a `tenant` those of a
    world do not apply."""
    names = ["LLM_DAILY_TOKENS", "LLM_DAILY_COST"]
    if tenant:
        names += ["LLM_DAILY_TOKENS_PER_WORLD", "LLM_DAILY_COST_PER_WORLD"]
    limits = {name: float(getattr(settings, name)) for name in names}
    return {name: limit for name, limit in limits.items() if limit > 0}
