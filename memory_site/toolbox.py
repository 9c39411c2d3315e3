"""The one list of tools. REST, the OpenAI schemas, MCP and the Python client are generated from it.

A tool is a plain function `def tool(ask, caller) -> answer` in an app's `tools` module. To add one:
write it, list it in `TOOLS`, describe it in docs/tools.md.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from inspect import cleandoc
from time import perf_counter
from typing import Any, get_type_hints

from django.db import DatabaseError, InterfaceError
from opentelemetry import trace
from psycopg_pool import PoolTimeout
from pydantic import BaseModel

from art.tools import art_suggest
from episodes.tools import session_fetch
from knowledge.fact_check.tool import lore_assert
from knowledge.links import unlink_unknown
from knowledge.tools import lore_search, rules_lookup
from memories.agent_tools import (
    error_lookup,
    knowledge_for_task,
    memory_ask,
    memory_event,
    task_begin,
    task_close,
    task_note,
)
from memories.npc_tools import memory_tell
from memories.profile_tool import npc_profile
from memories.revision_tools import memory_revise
from memories.tools import (
    archival_memory_insert,
    archival_memory_search,
    conversation_search,
    core_memory_append,
    core_memory_replace,
)
from memory_site.compact import compact
from memory_site.database import replica
from memory_site.errors import problem_of, status_of
from memory_site.logs import log_context
from retrieval.errors import Forbidden, NotFound
from retrieval.search import start_span
from worlds import audit
from worlds.answer_dates import add_dates
from worlds.callers import Allowance, Caller, admit
from worlds.keys import Scope

logger = logging.getLogger(__name__)
_tracer = trace.get_tracer("memory37.tools")


class Profile(StrEnum):
    """What a model is doing: it is offered the tools for that alone. Who plays is offered those of
    the world; `memory` has those of an agent's own memory, and `task` also those of its work."""

    SCENE = "scene"
    COMBAT = "combat"
    SOCIAL = "social"
    EPILOGUE = "epilogue"
    MEMORY = "memory"
    TASK = "task"


OF_A_SCENE = frozenset({Profile.SCENE, Profile.COMBAT, Profile.SOCIAL, Profile.EPILOGUE})
OF_A_MEMORY = frozenset({Profile.MEMORY, Profile.TASK})
OF_A_TASK = frozenset({Profile.TASK})


@dataclass(frozen=True)
class Tool:
    """A listed function, with who may call it and when it is offered."""

    function: Callable[[Any, Caller], BaseModel]
    title: str
    profiles: frozenset[Profile]
    scope: Scope = Scope.TOOLS_READ
    calls_model: bool = False
    """Whether it may call a model, and so must not run inside a transaction."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def reads_only(self) -> bool:
        return self.scope is Scope.TOOLS_READ

    @cached_property
    def description(self) -> str:
        """When to use it and when not, as the function's docstring says."""
        return cleandoc(self.function.__doc__ or self.title)

    @cached_property
    def _hints(self) -> list[type[BaseModel]]:
        return list(get_type_hints(self.function).values())

    @property
    def request_model(self) -> type[BaseModel]:
        return self._hints[0]

    @property
    def response_model(self) -> type[BaseModel]:
        return self._hints[-1]


TOOLS: tuple[Tool, ...] = (
    Tool(rules_lookup, "Look up rules", frozenset({Profile.SCENE, Profile.COMBAT})),
    Tool(lore_search, "Search lore", frozenset({Profile.SCENE, Profile.SOCIAL, Profile.EPILOGUE})),
    Tool(
        session_fetch,
        "What happened to a party",
        frozenset({Profile.SCENE, Profile.SOCIAL, Profile.EPILOGUE}),
    ),
    Tool(npc_profile, "Who an NPC is and what they think", OF_A_SCENE),
    Tool(
        lore_assert,
        "Check a statement",
        frozenset({Profile.SCENE, Profile.SOCIAL, Profile.EPILOGUE}),
        calls_model=True,
    ),
    Tool(art_suggest, "Pictures for a scene", frozenset({Profile.SCENE, Profile.EPILOGUE})),
    Tool(core_memory_append, "Add to the core memory", OF_A_MEMORY, scope=Scope.AGENT_WRITE),
    Tool(core_memory_replace, "Change the core memory", OF_A_MEMORY, scope=Scope.AGENT_WRITE),
    Tool(
        archival_memory_insert, "Remember", OF_A_MEMORY, scope=Scope.AGENT_WRITE, calls_model=True
    ),
    Tool(archival_memory_search, "Recall", OF_A_MEMORY, scope=Scope.AGENT_WRITE),
    Tool(conversation_search, "Search the conversation log", OF_A_MEMORY, scope=Scope.AGENT_WRITE),
    Tool(memory_event, "Take in an event", OF_A_MEMORY, scope=Scope.AGENT_WRITE, calls_model=True),
    Tool(memory_ask, "Ask the memory", OF_A_MEMORY, scope=Scope.AGENT_WRITE, calls_model=True),
    Tool(memory_tell, "Tell another NPC", OF_A_MEMORY, scope=Scope.AGENT_WRITE),
    Tool(
        memory_revise,
        "Correct or close a memory",
        OF_A_MEMORY,
        scope=Scope.AGENT_WRITE,
        calls_model=True,
    ),
    Tool(task_begin, "Begin a task", OF_A_TASK, scope=Scope.AGENT_WRITE),
    Tool(task_note, "Note a step of the task", OF_A_TASK, scope=Scope.AGENT_WRITE),
    Tool(task_close, "End the task and learn", OF_A_TASK, scope=Scope.AGENT_WRITE),
    Tool(error_lookup, "Look an error up", OF_A_TASK, scope=Scope.AGENT_WRITE),
    Tool(
        knowledge_for_task,
        "What was learned that bears on a task",
        OF_A_TASK,
        scope=Scope.AGENT_WRITE,
    ),
)

_BY_NAME = {tool.name: tool for tool in TOOLS}


class ExplainIsForGMs(Forbidden):
    code, title = "explain_is_for_gm", "Only a game master may ask for an explanation"


@dataclass(frozen=True)
class ToolResult:
    """A tool's answer and what the caller has left."""

    answer: BaseModel
    allowance: Allowance | None = field(default=None)

    def as_json(self) -> dict[str, Any]:
        return self.answer.model_dump(mode="json", by_alias=True)

    def as_compact_json(self) -> dict[str, Any]:
        """Return what a model reads: see `memory_site.compact`."""
        return compact(self.answer)


def tools_for(caller: Caller, profile: Profile | None = None) -> list[Tool]:
    """Return the tools that `caller` may call, in their listed order."""
    scopes = set(Scope) if "admin" in caller.scopes else caller.scopes
    return [
        tool
        for tool in TOOLS
        if tool.scope in scopes and (profile is None or profile in tool.profiles)
    ]


def find_tool(name: str) -> Tool:
    """Return the tool called `name`; raises `NotFound` with the names there are."""
    if name not in _BY_NAME:
        raise NotFound(f"There is no tool {name[:80]!r}.", candidates=list(_BY_NAME)[:20])
    return _BY_NAME[name]


def call_tool(name: str, arguments: Mapping[str, Any], caller: Caller, *, via: str) -> ToolResult:
    """Admit, run and audit one call. Every exception is raised as a `Problem`."""
    call, start = audit.Call(tool=name, via=via, caller=caller), perf_counter()
    prefix = caller.key.prefix if caller.key else ""
    with (
        log_context(caller.request_id, prefix, name[:80]),
        start_span(_tracer, "memory37.tool") as span,
    ):
        try:
            tool = find_tool(name)
            call.caller, allowance = admit(caller, name)
            return ToolResult(run_tool(tool, arguments, call), allowance)
        except Exception as exc:
            problem = problem_of(exc)
            call.status, call.code = status_of(problem), problem.code
            raise problem from exc
        finally:
            call.milliseconds = (perf_counter() - start) * 1000
            span.set_attributes({"tool": name[:80], "via": via, "status": call.status})
            record_call(call)


def record_call(call: audit.Call) -> None:
    """Log the call and record its audit row. A database that is down costs the row, not the
    answer.
    """
    logger.info(
        "%s over %s: %d in %.1f ms", call.tool[:80], call.via, call.status, call.milliseconds
    )
    try:
        audit.record(call)
    except (DatabaseError, InterfaceError, PoolTimeout):
        logger.exception("Call of %s for request %s not audited", call.tool, call.caller.request_id)


def run_tool(tool: Tool, arguments: Mapping[str, Any], call: audit.Call) -> BaseModel:
    """Check scope, arguments and audience, then run the tool; what the audit needs is set on
    `call`."""
    if call.caller.key:
        call.caller.require(tool.scope)
    ask = tool.request_model.model_validate(without_nulls(arguments))
    call.caller = call.caller.as_audience(getattr(ask, "as_", None))
    if not tool.reads_only:
        replica.move_to_primary()
    else:
        call.arguments = partial(ask.model_dump, exclude_defaults=True, exclude={"as_"})
    if getattr(ask, "explain", False) and not call.caller.audience.is_gm:
        raise ExplainIsForGMs(
            "Leave out `explain`: it would disclose what this audience may not know."
        )
    answer: BaseModel = add_dates(tool.function(ask, call.caller), call.caller.world)
    if tool.reads_only:  # an agent's own memory is shown as it was written
        unlink_unknown(answer, call.caller)
    call.row_ids = partial(shown_ids, answer)
    call.degraded = list(getattr(answer, "degraded", ()))
    return answer


def without_nulls(value: Any) -> Any:
    """Remove null properties at any depth: strict schemas make a model send every argument, and
    null means "left out"."""
    if isinstance(value, Mapping):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def shown_ids(answer: BaseModel) -> list[str]:
    """Return the ids of the rows that `answer` shows: its own, and those of the items in its
    lists.
    """
    fields = vars(answer)
    ids = [fields.get("id")]
    for value in fields.values():
        if isinstance(value, Sequence) and not isinstance(value, str):
            ids += [getattr(item, "id", None) for item in value]
    return [str(row_id) for row_id in ids if row_id]
