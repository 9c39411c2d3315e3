"""Which embedding model's vectors each domain uses now, as this process knows it.

A process reads the table once. Every search returns the name that is valid in its snapshot, so a
process that missed a swap learns of it by its next search; the worker reads the table in each task.
"""

import logging

from django.db import DatabaseError

from retrieval.models import ServingModel

logger = logging.getLogger(__name__)

_models: dict[str, str] | None = None
"""The name by domain; None: not read yet."""


def get_serving_model(domain: str) -> str | None:
    """Return the name of the model, None if no vector of `domain` has been recorded yet."""
    if _models is None:
        read_serving_models()
    return (_models or {}).get(domain)


def read_serving_models() -> None:
    """Read the table; keep what is known if the database does not answer."""
    try:
        set_serving_models(dict(ServingModel.objects.values_list("domain", "model")))
    except DatabaseError as problem:
        logger.warning("the embedding models in use cannot be read: %s", problem)


def set_serving_models(models: dict[str, str]) -> None:
    global _models
    _models = models


def note_serving_model(domain: str, model: str) -> None:
    """Remember what a search returned."""
    if get_serving_model(domain) != model:
        set_serving_models({**(_models or {}), domain: model})
