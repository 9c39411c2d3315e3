"""The names of `memories` for programs with an event loop: what is called there is awaited.

    from memories.aio import EpisodicMemoryManager, Memory

    memory = EpisodicMemoryManager(cache_size=100)
    matches = await memory.hybrid_search(query_text="database timeout")

Each call runs in a thread, so that the loop goes on, and gives its connection back.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from inspect import isclass, iscoroutinefunction, isroutine
from typing import Any

from django.db import connection

import memories


class AwaitedObject:
    """Has the attributes of the object it wraps; what can be called is awaited."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.wrapped, name)
        return run_in_thread(value) if isroutine(value) else value

    def __repr__(self) -> str:
        return f"<awaited {self.wrapped!r}>"


def run_in_thread(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a coroutine function that calls `function` in a thread."""

    def call(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return function(*arguments, **named)
        finally:
            # Django closes the connections of request threads only.
            if not connection.in_atomic_block:
                connection.close()

    @wraps(function)
    async def awaited_call(*arguments: Any, **named: Any) -> Any:
        return await asyncio.to_thread(call, arguments, named)

    return awaited_call


def open_object(cls: type[Any], *arguments: Any, **named: Any) -> AwaitedObject:
    """Create an object of `cls`; its methods are awaited."""
    wrapped = [one.wrapped if isinstance(one, AwaitedObject) else one for one in arguments]
    return AwaitedObject(cls(*wrapped, **named))


def __getattr__(name: str) -> Any:
    if name not in memories.MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(memories, name)
    if isclass(value):
        return partial(open_object, value) if name in OPENED else value
    is_ready = name in NOT_AWAITED or iscoroutinefunction(value)
    return value if is_ready else run_in_thread(value)


OPENED = {
    *("Memory", "WritePipeline", "ReadPipeline"),
    *("WorkingMemoryManager", "EpisodicMemoryManager", "SemanticMemoryManager"),
}
"""Classes whose methods read or write. Values, stores and clients are the same in both modules."""
NOT_AWAITED = {
    *("use_memory", "score", "detect_code_rules_from_patch", "use_world"),
    *("normalize_srd", "normalize_lore", "normalize_episode", "normalize_art"),
}
