"""MemGPT's functions with their own signatures, for scripts: they use one memory, that of
`use_memory`."""

from contextvars import ContextVar
from datetime import datetime
from typing import Any, cast

from memories import tools
from memories.haema import Memory
from memories.models import Namespace
from memories.namespaces import require_own_namespace
from retrieval.errors import Invalid
from worlds.callers import Caller

_namespace: ContextVar[Namespace] = ContextVar("memgpt_namespace")


def use_memory(memory: Memory | Namespace) -> None:
    """Let the functions of this module use `memory` from now on, in this thread or task."""
    _namespace.set(memory if isinstance(memory, Namespace) else memory.namespace)


def core_memory_append(section: str, content: str) -> str:
    """Add one line to a section of the core memory; return the page."""
    ask = tools.CoreAppendAsk(section=cast(Any, section), content=content)
    return tools.core_memory_append(ask, present_caller()).core


def core_memory_replace(section: str, old: str, new: str) -> str:
    """Replace text in one line of a section; return the page. An empty `new` removes the line."""
    ask = tools.CoreReplaceAsk(section=cast(Any, section), old=old, new=new)
    return tools.core_memory_replace(ask, present_caller()).core


def archival_memory_insert(content: str) -> list[str]:
    """Remember `content`; return the ids of the memories that say it."""
    answer = tools.archival_memory_insert(
        tools.ArchivalInsertAsk(content=content), present_caller()
    )
    return [*answer.ids, *answer.confirmed]


def archival_memory_search(query: str, limit: int = 8) -> list[str]:
    """Return the texts of the memories that fit `query` best, without former ones, which a text
    alone cannot mark."""
    ask = tools.ArchivalSearchAsk(query=query, limit=limit)
    hits = tools.archival_memory_search(ask, present_caller()).hits
    return [hit.text for hit in hits if not hit.formerly]


def conversation_search(
    query: str = "",
    limit: int = 10,
    *,
    after: datetime | None = None,
    before: datetime | None = None,
) -> list[str]:
    """Return the messages of the log that fit `query` best; without one, the latest."""
    ask = tools.ConversationSearchAsk(query=query, limit=limit, after=after, before=before)
    return [hit.text for hit in tools.conversation_search(ask, present_caller()).hits]


def present_caller() -> Caller:
    """Return the script as the caller of the tools; raise `Invalid` without a memory."""
    namespace = _namespace.get(None)
    if namespace is None:
        raise Invalid("Call use_memory(memory) first: it names the memory that is used.")
    caller = Caller.gm(namespace.world)
    caller = Caller(world=caller.world, audience=caller.audience, namespace=namespace.name)
    assert require_own_namespace(caller).pk == namespace.pk
    return caller
