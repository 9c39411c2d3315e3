"""Per-process caches keyed by a user's text, which a deletion for good has to empty."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_clear_functions: list[Callable[[], None]] = []


def text_cache(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return an `lru_cache` decorator whose cache `clear_text_caches` empties."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cache = lru_cache(maxsize=maxsize)(function)
        _clear_functions.append(cache.cache_clear)
        return cast(Callable[P, R], cache)

    return decorate


def clear_text_caches() -> None:
    """Empty the caches of this process: an erased text must not survive in one of them."""
    for clear in _clear_functions:
        clear()
