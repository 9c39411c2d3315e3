"""The searchable tables: their domain names and how their words are counted."""

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
    """The tenant whose words are counted together: a field or an expression."""
    public: Q = PUBLIC
    """Rows visible to every audience. Word counts for anyone but a GM are of these rows alone."""
    context_weight: int = 2
    """Times that a word of `context` counts as one of `text`. A new weight needs a `reindex`."""
    text_weight: int = 1
    """Times that a word of `text` counts as one of `surroundings`; it scales the preset's k1."""


def passage_models() -> "list[type[Passage]]":
    """Return the searchable models of the installed apps."""
    models: list[Any] = apps.get_models()
    return [m for m in models if isinstance(getattr(m, "search_config", None), SearchConfig)]


def get_passage_model(domain: str) -> "type[Passage]":
    """Return the passage model of `domain`."""
    models_by_domain = {model.search_config.domain: model for model in passage_models()}
    if domain not in models_by_domain:
        detail = f"There is no searchable domain {domain!r}."
        raise NotFound(detail, candidates=sorted(models_by_domain))
    return models_by_domain[domain]
