"""Mira's memory in Ferrymark, and another agent's beside it."""

import pytest

from memories import namespaces
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.models import Namespace
from worlds.models import World


@pytest.fixture
def mira(world: World) -> Namespace:
    return namespaces.get_or_create_namespace(world, "mira-voss")


@pytest.fixture
def tobin(world: World) -> Namespace:
    return namespaces.get_or_create_namespace(world, "tobin")


def remember(namespace: Namespace, *contents: str, **about: object) -> add.AddResult:
    """Remember without a language model, with the site's embedder."""
    models = add.site_models(namespace)
    return add.add(namespace, list(contents), models=models, about=Particulars(**about))  # type: ignore[arg-type]
