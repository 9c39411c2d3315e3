"""The toolbox as an MCP server: Streamable HTTP at /mcp (stateless, JSON answers) and, by
`manage.py mcp`, stdio.

Bearer tokens are our API keys. What a model can correct is a tool error, a wrong scope is a
protocol error, a wrong key is HTTP 401. The list of tools shows what the key may call.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

import mcp_types as types
from django.conf import settings
from django.http import QueryDict
from django.utils.datastructures import CaseInsensitiveMapping
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from memory_site import mcp_prompts, mcp_resources, toolbox
from memory_site.compact import compact_schema
from memory_site.database.replica import reading_where_possible
from memory_site.errors import problem_answer, problem_body, problem_of
from memory_site.logs import valid_or_new_id
from memory_site.mcp_text import to_text
from memory_site.threads import run_in_thread
from memory_site.toolbox import Profile, Tool
from memory_site.version import VERSION
from retrieval.errors import Invalid, Problem, Unauthorized, WrongScope
from worlds.callers import Caller, admit
from worlds.keys import Scope as KeyScope
from worlds.rest import caller_with_headers

MAX_BODY = 10_000_000
INSTRUCTIONS = (
    "The memory of a tabletop world. Look facts up before you state them, cite their source, and "
    "say so when nothing is found. What a tool does not show, the characters at the table do not "
    "know."
)
P = ParamSpec("P")
T = TypeVar("T")
Page = types.PaginatedRequestParams | None
FindCaller = Callable[[Any], Caller]
FindProfile = Callable[[Any], Profile | None]


class Handlers:
    """What the server answers; of a request's context, `find_caller` returns the caller and
    `find_profile` the profile whose tools are listed, or None for all."""

    def __init__(self, find_caller: FindCaller, find_profile: FindProfile) -> None:
        self.find_caller, self.find_profile = find_caller, find_profile

    async def reader(self, ctx: Any, method: str) -> Caller:
        return await run(admit_reader, self.find_caller(ctx), method)

    async def list_tools(self, ctx: Any, _params: Page) -> types.ListToolsResult:
        caller, _allowance = await run(admit, self.find_caller(ctx), "tools/list")
        tools = toolbox.tools_for(caller, self.find_profile(ctx))
        return types.ListToolsResult(tools=[*map(to_mcp_tool, tools)])

    async def call_tool(
        self, ctx: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        caller = self.find_caller(ctx)
        call = partial(run_tool_call, params.name, params.arguments or {}, caller)
        return await run_reading(call)

    async def list_resources(self, ctx: Any, params: Page) -> types.ListResourcesResult:
        caller = await self.reader(ctx, "resources/list")
        cursor = params.cursor if params else None
        resources, next_cursor = await run(mcp_resources.page, caller, cursor)
        return types.ListResourcesResult(resources=resources, next_cursor=next_cursor)

    async def list_templates(self, _ctx: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=mcp_resources.TEMPLATES)

    async def read(
        self, ctx: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        caller = await self.reader(ctx, "resources/read")
        content = await run(mcp_resources.read, params.uri, caller)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, ctx: Any, _params: Page) -> types.ListPromptsResult:
        await self.reader(ctx, "prompts/list")
        prompts = [prompt.as_mcp() for prompt in mcp_prompts.PROMPTS]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(
        self, ctx: Any, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        caller = await self.reader(ctx, "prompts/get")
        return await run(mcp_prompts.get, params.name, params.arguments or {}, caller)

    async def complete(self, ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        caller = await self.reader(ctx, "completion/complete")
        values = await run(completions, params, caller)
        return types.CompleteResult(completion=types.Completion(values=values))


def build_server(
    find_caller: FindCaller, find_profile: FindProfile = lambda _context: None
) -> Server[Any]:
    """Return the server; see `Handlers`."""
    handlers = Handlers(find_caller, find_profile)
    return Server(
        "memory37",
        version=VERSION,
        title="Memory37",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
    )


def to_mcp_tool(tool: Tool) -> types.Tool:
    """Return `tool` as MCP lists it."""
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads_only,
        destructive_hint=False,
        idempotent_hint=tool.reads_only,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.request_model.model_json_schema(by_alias=True),
        output_schema=compact_schema(tool.response_model),
        annotations=hints,
    )


def admit_reader(caller: Caller, method: str) -> Caller:
    """Count one call of `method`, and require the scope that the tools which read require."""
    caller, _allowance = admit(caller, method)
    if caller.key:
        caller.require(KeyScope.TOOLS_READ)
    return caller


def completions(params: types.CompleteRequestParams, caller: Caller) -> list[str]:
    """Return what an argument of a prompt or of a resource template can be."""
    start = params.argument.value
    if isinstance(params.ref, types.PromptReference):
        return mcp_prompts.complete_argument(params.argument.name, start, caller)
    kind = params.ref.uri.removeprefix(mcp_resources.PREFIX).partition("/")[0]
    return mcp_resources.complete(kind, start, caller) if kind in mcp_resources.KINDS else []


async def run(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread; raise a problem as an MCP protocol error."""
    return await run_reading(partial(with_protocol_errors, work, *args, **kwargs))


async def run_reading(work: Callable[[], T]) -> T:
    """Run `work` in a thread, which reads from the replica as a request of REST does."""

    def read() -> T:
        with reading_where_possible():
            return work()

    return await run_in_thread(read)


def with_protocol_errors(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return work(*args, **kwargs)
    except Exception as exc:
        problem = problem_of(exc)
        raise MCPError(types.INVALID_PARAMS, problem.detail, problem_body(problem, "")) from exc


def run_tool_call(name: str, arguments: dict[str, Any], caller: Caller) -> types.CallToolResult:
    if name not in {tool.name for tool in toolbox.TOOLS}:
        # Raises `NotFound`, after the call is audited: an unknown tool is a protocol error.
        with_protocol_errors(toolbox.call_tool, name, arguments, caller, via="mcp")
    try:
        answer = toolbox.call_tool(name, arguments, caller, via="mcp").as_compact_json()
    except (WrongScope, Unauthorized) as problem:
        body = problem_body(problem, caller.request_id)
        raise MCPError(types.INVALID_PARAMS, problem.detail, body) from problem
    except Problem as problem:
        hint = f" Did you mean: {', '.join(problem.candidates)}?" if problem.candidates else ""
        text = f"{problem.title} ({problem.code}): {problem.detail}{hint}"
        return types.CallToolResult(content=[_text(text)], is_error=True)
    return types.CallToolResult(content=[_text(to_text(answer))], structured_content=answer)


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


# --- Streamable HTTP
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class McpEndpoint:
    """What answers at /mcp. It lives as long as its `manager` runs: as the process does."""

    def __init__(self) -> None:
        self.manager = StreamableHTTPSessionManager(
            app=build_server(caller_in_scope, profile_in_scope),
            json_response=True,
            stateless=True,
            security_settings=transport_security(),
            max_request_body_size=MAX_BODY,
        )

    async def authenticate(self, scope: Scope, send: Send) -> Scope | None:
        """Return the scope with the caller whose key is in its headers, and the profile that its
        address names. Without a valid key send the problem and return None."""
        headers = CaseInsensitiveMapping(
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        )
        request_id = valid_or_new_id(headers.get("X-Request-ID"))
        try:
            caller = await run_reading(partial(caller_with_headers, headers, request_id))
            profile = profile_in_query(scope.get("query_string", b""))
        except Exception as exc:
            await send_problem(send, exc, request_id)
            return None
        return {**scope, "caller": caller, "profile": profile}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the MCP server answer; `scope` is one that `authenticate` has returned."""
        await self.manager.handle_request(scope, receive, send)  # type: ignore[arg-type]


def caller_in_scope(context: Any) -> Caller:
    caller = context.request.scope["caller"]
    assert isinstance(caller, Caller)
    return caller


def profile_in_scope(context: Any) -> Profile | None:
    profile: Profile | None = context.request.scope["profile"]
    return profile


def profile_in_query(query: bytes) -> Profile | None:
    """Return the profile that the address names (`/mcp?profile=scene`); raises `Invalid`."""
    names = QueryDict(query).getlist("profile")
    if not names:
        return None
    if names[-1] not in list(Profile):
        raise Invalid(f"There is no profile {names[-1][:80]!r}.", candidates=list(Profile))
    return Profile(names[-1])


def transport_security() -> TransportSecuritySettings:
    """Protect against DNS rebinding with the hosts that Django serves, on any port."""
    hosts, origins = settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS
    if "*" in hosts:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [form for host in hosts for form in (host, f"{host}:*")]
    pages = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=[*pages, *origins])


async def send_problem(send: Send, exc: Exception, request_id: str) -> None:
    status, headers, body = problem_answer(exc, request_id)
    headers["X-Request-ID"] = request_id
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
