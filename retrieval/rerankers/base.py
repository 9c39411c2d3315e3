"""The protocol of re-rankers, and the one of the settings."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

BUILT_IN = {
    "local": "retrieval.rerankers.local.LocalReranker",
    "hosted": "retrieval.rerankers.hosted.HostedReranker",
}


class Reranker(Protocol):
    @property
    def name(self) -> str: ...

    def knows(self, query: str) -> bool:
        """Whether it knows the language of `query`."""

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        """Return how well each text answers `query`, on any scale, best highest; None if `seconds`
        were over first. Raises `RerankerDown` when the model cannot be used."""


def get_reranker() -> Reranker | None:
    """Return the re-ranker of the setting RERANKER; None if it is empty."""
    return _reranker(reranker_path())


def reranker_path() -> str:
    """The dotted path of the class that RERANKER names; empty for none."""
    name: str = settings.RERANKER
    return BUILT_IN.get(name, name)


@lru_cache(maxsize=4)
def _reranker(path: str) -> Reranker | None:
    reranker: Reranker | None = import_string(path)() if path else None
    return reranker
