"""The one list of tools. REST, the OpenAI schemas, MCP and the Python client are doors over it.

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
from memories.tools import (
    archival_memory_insert,
    archival_memory_search,
    conversation_search,
    core_memory_append,
    core_memory_replace,
)
from memory_site.errors import problem_of, status_of
from memory_site.request_ids import log_context
from npcs.tools import npc_profile
from retrieval.errors import Forbidden, NotFound
from retrieval.search import start_span
from worlds import audit
from worlds.callers import Allowance, Caller, admit
from worlds.keys import Scope

logger = logging.getLogger(__name__)
_tracer = trace.get_tracer("memory37.tools")


class Profile(StrEnum):
    """What a model is doing; it is offered the tools for that and no others."""

    SCENE = "scene"
    COMBAT = "combat"
    SOCIAL = "social"
    EPILOGUE = "epilogue"


ALL_PROFILES = frozenset(Profile)


@dataclass(frozen=True)
class Tool:
    """A listed function, with who may call it and when it is offered."""

    function: Callable[[Any, Caller], BaseModel]
    title: str
    profiles: frozenset[Profile] = ALL_PROFILES
    scope: Scope = Scope.TOOLS_READ
    calls_model: bool = False
    """Whether a language model may be asked on its way: then it must not run inside a transaction.
    """

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
    Tool(npc_profile, "Who an NPC is and what they think"),
    Tool(
        lore_assert,
        "Check a statement",
        frozenset({Profile.SCENE, Profile.SOCIAL, Profile.EPILOGUE}),
        calls_model=True,
    ),
    Tool(art_suggest, "Pictures for a scene", frozenset({Profile.SCENE, Profile.EPILOGUE})),
    Tool(core_memory_append, "Add to the core memory", scope=Scope.AGENT_WRITE),
    Tool(core_memory_replace, "Change the core memory", scope=Scope.AGENT_WRITE),
    Tool(archival_memory_insert, "Remember", scope=Scope.AGENT_WRITE, calls_model=True),
    Tool(archival_memory_search, "Recall", scope=Scope.AGENT_WRITE),
    Tool(conversation_search, "Search the conversation log", scope=Scope.AGENT_WRITE),
    Tool(memory_event, "Take in an event", scope=Scope.AGENT_WRITE, calls_model=True),
    Tool(memory_ask, "Ask the memory", scope=Scope.AGENT_WRITE, calls_model=True),
    Tool(task_begin, "Begin a task", scope=Scope.AGENT_WRITE),
    Tool(task_note, "Note a step of the task", scope=Scope.AGENT_WRITE),
    Tool(task_close, "End the task and learn", scope=Scope.AGENT_WRITE),
    Tool(error_lookup, "Look an error up", scope=Scope.AGENT_WRITE),
    Tool(knowledge_for_task, "What was learned that bears on a task", scope=Scope.AGENT_WRITE),
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


def tools_for(caller: Caller, profile: Profile | None = None) -> list[Tool]:
    """Return the tools that `caller` may call, in their listed order."""
    held = caller.scopes
    return [
        tool
        for tool in TOOLS
        if ("admin" in held or tool.scope in held) and (profile is None or profile in tool.profiles)
    ]


def find_tool(name: str) -> Tool:
    """Return the tool called `name`; raises `NotFound` with the names there are."""
    if name not in _BY_NAME:
        raise NotFound(f"There is no tool {name[:80]!r}.", candidates=list(_BY_NAME)[:20])
    return _BY_NAME[name]


def call_tool(name: str, arguments: Mapping[str, Any], caller: Caller, *, via: str) -> ToolResult:
    """Count, check, answer and audit one call. Whatever goes wrong comes out as a `Problem`."""
    noted, begun = audit.Call(tool=name, via=via, caller=caller), perf_counter()
    prefix = caller.key.prefix if caller.key else ""
    with (
        log_context(caller.request_id, prefix, name[:80]),
        start_span(_tracer, "memory37.tool") as span,
    ):
        try:
            tool = find_tool(name)
            noted.caller, allowance = admit(caller, name)
            return ToolResult(run_tool(tool, arguments, noted), allowance)
        except Exception as exc:
            problem = problem_of(exc)
            noted.status, noted.code = status_of(problem), problem.code
            raise problem from exc
        finally:
            noted.milliseconds = (perf_counter() - begun) * 1000
            span.set_attributes({"tool": name[:80], "via": via, "status": noted.status})
            _write(noted)


def _write(noted: audit.Call) -> None:
    """Log the call and write its audit row. What failed because the database is away, only the log
    has."""
    logger.info(
        "%s over %s: %d in %.1f ms", noted.tool[:80], noted.via, noted.status, noted.milliseconds
    )
    try:
        audit.record(noted)
    except (DatabaseError, InterfaceError, PoolTimeout):
        logger.exception(
            "Call of %s for request %s not audited", noted.tool, noted.caller.request_id
        )


def run_tool(tool: Tool, arguments: Mapping[str, Any], noted: audit.Call) -> BaseModel:
    if noted.caller.key:
        noted.caller.require(tool.scope)
    ask = tool.request_model.model_validate(without_nulls(arguments))
    noted.caller = noted.caller.as_audience(getattr(ask, "as_", None))
    if tool.reads_only:
        noted.arguments = partial(ask.model_dump, exclude_defaults=True, exclude={"as_"})
    if getattr(ask, "explain", False) and not noted.caller.audience.is_gm:
        raise ExplainIsForGMs(
            "Leave out `explain`: it would tell of what this audience may not know."
        )
    answer = tool.function(ask, noted.caller)
    noted.row_ids = partial(shown_ids, answer)
    noted.degraded = list(getattr(answer, "degraded", ()))
    return answer


def without_nulls(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Null stands for "as if left out": strict schemas make a model send every argument."""
    return {name: _inner(value) for name, value in arguments.items() if value is not None}


def _inner(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_nulls(value)
    return [_inner(each) for each in value] if isinstance(value, list) else value


def shown_ids(answer: BaseModel) -> list[str]:
    """Return the ids of the rows that `answer` shows: its own, and those of the things it lists."""
    own = [str(vars(answer)["id"])] if vars(answer).get("id") else []
    listed = [
        value
        for value in vars(answer).values()
        if isinstance(value, Sequence) and not isinstance(value, str)
    ]
    return own + [str(item.id) for items in listed for item in items if getattr(item, "id", None)]
