"""Which tables are searched, under which name, and what is counted together in them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import apps
from django.db.models import Q
from django.db.models.expressions import Combinable

from retrieval.errors import NotFound

if TYPE_CHECKING:
    from retrieval.models import Passage

Scope = str | UUID
"""The id of a world, a game system or a namespace."""

PUBLIC = Q(visibility="public")


@dataclass(frozen=True)
class SearchConfig:
    """How a passage model is searched; its class attribute `search_config`."""

    domain: str
    """Its name in `retrieval.presets`, in commands and in statistics."""
    scope: str | Combinable = "world_id"
    """The tenant whose words are counted together: a field, or an expression over fields."""
    public: Q = PUBLIC
    """Rows that every audience may know: only these are counted for whoever is not a game
    master."""
    context_weight: int = 2
    """How often a word of `context` counts against one of `text`. Changing a weight needs
    `manage.py reindex`."""
    text_weight: int = 1
    """How often a word of `text` counts against one of `surroundings`; the preset's k1 grows with
    it."""


def passage_models() -> "list[type[Passage]]":
    """Return the searchable models of the installed apps."""
    models: list[Any] = [
        model
        for model in apps.get_models()
        if isinstance(getattr(model, "search_config", None), SearchConfig)
    ]
    return models


def get_passage_model(domain: str) -> "type[Passage]":
    """Return the passage model of `domain`."""
    models_by_domain = {model.search_config.domain: model for model in passage_models()}
    if domain not in models_by_domain:
        raise NotFound(
            f"There is no searchable domain {domain!r}.", candidates=sorted(models_by_domain)
        )
    return models_by_domain[domain]
