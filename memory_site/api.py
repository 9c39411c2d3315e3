"""REST under /api/v1: the tools, and the routers that the apps bring."""

from collections.abc import Callable
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Body, Router
from pydantic import BaseModel, ConfigDict, Field

from art import gallery_api  # noqa: F401  adds its operations to the router of pictures
from art.api import router as art_router
from art.picture_api import router as pictures_router
from episodes.api import router as episodes_router
from episodes.note_api import router as notes_router
from episodes.session_api import router as sessions_router
from knowledge import (  # noqa: F401  they add their operations to the router of knowledge
    book_api,
    bulk_change_api,
    history_api,
    kind_api,
    list_api,
)
from knowledge.api import router as knowledge_router
from knowledge.graph.api import router as graph_router
from memories import (  # noqa: F401  they add their operations to the router of memories
    item_api,
    review_api,
)
from memories.agent_api import router as agent_router
from memories.api import router as memories_router
from memories.npc_api import router as npc_memories_router
from memory_site import toolbox
from memory_site.api_reference.introduction import DESCRIPTION
from memory_site.archive_api import restorations as restorations_router
from memory_site.archive_api import router as archives_router
from memory_site.bulk_api import router as bulk_router
from memory_site.errors import Unreadable, add_problem_handlers
from memory_site.fact_proposal_api import router as fact_proposals_router
from memory_site.fact_proposal_api import threads as thread_proposals_router
from memory_site.import_api import router as imports_router
from memory_site.lists.draft_api import router as drafts_router
from memory_site.lists.recent_api import router as recent_router
from memory_site.lists.saved_filter_api import router as saved_filters_router
from memory_site.npc_merge_api import router as npc_merges_router
from memory_site.openai_schemas import Form, function_schema
from memory_site.openapi import MemoryApi, Renderer, StrictParser
from memory_site.session_report_api import router as session_reports_router
from memory_site.toolbox import Profile, Tool, ToolResult
from memory_site.version import VERSION
from npcs.api import router as npcs_router
from npcs.cast_api import router as casts_router
from npcs.opinion_api import router as opinions_router
from worlds import rest
from worlds.api import router as reveals_router
from worlds.audit_api import router as audit_router
from worlds.calendar_api import router as calendar_router
from worlds.campaign_api import router as campaigns_router
from worlds.character_api import router as characters_router
from worlds.event_api import router as events_router
from worlds.installation_api import router as installation_router
from worlds.people_api import router as people_router
from worlds.rest import NeedsKey, caller_of, own_transaction
from worlds.unknown_input import reads_body
from worlds.webhook_api import router as webhooks_router

api = MemoryApi(
    title="Memory37",
    version=VERSION,
    description=DESCRIPTION,
    urls_namespace="api",
    parser=StrictParser(),
    renderer=Renderer(),
)
add_problem_handlers(api)
api.add_decorator(rest.wrap_operation, mode="view")
JSON = "application/json; charset=utf-8"
tools = Router(tags=["tools"], auth=NeedsKey(counted=False))


class OpenAITools(BaseModel):
    profile: Profile | None
    form: Form
    tools: list[dict[str, Any]]


class ToolCall(BaseModel):
    """What a model's function call holds. OpenAI sends `arguments` as a string of JSON; an object
    is taken too."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=80, examples=["rules_lookup"])
    arguments: dict[str, Any] | str = Field(default={}, examples=[{"term": "grappled"}])


class ToolAnswer(BaseModel):
    name: str
    result: dict[str, Any]


def parse_object(text: bytes | str) -> dict[str, Any]:
    """Return the JSON object in `text`; raises `Unreadable`."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(
            f"This is not valid JSON ({error}): send one object with the tool's arguments."
        ) from error
    if not isinstance(value, dict):
        raise Unreadable("Send one JSON object with the tool's arguments.")
    return value


def to_response(result: ToolResult, body: str | bytes | None = None) -> HttpResponse:
    """Return `body`, by default the tool's answer, with the caller's allowance as headers."""
    headers = result.allowance.headers if result.allowance else {}
    text = result.answer.model_dump_json(by_alias=True) if body is None else body
    return HttpResponse(text, content_type=JSON, headers=headers)


def endpoint(tool: Tool) -> Callable[[HttpRequest], HttpResponse]:
    @reads_body
    def view(request: HttpRequest) -> HttpResponse:
        arguments = parse_object(request.body or b"{}")
        request.is_audited = True  # type: ignore[attr-defined]
        return to_response(toolbox.call_tool(tool.name, arguments, caller_of(request), via="rest"))

    view.__name__ = tool.name
    return own_transaction(view) if tool.calls_model else view


for _tool in toolbox.TOOLS:
    tools.post(
        f"/{_tool.name}",
        operation_id=_tool.name,
        summary=_tool.title,
        description=_tool.description,
        response=_tool.response_model,
        by_alias=True,
    )(endpoint(_tool))


@tools.get(
    "/openai.json",
    operation_id="openai_tools",
    summary="The tools as OpenAI function schemas",
    response=OpenAITools,
    auth=NeedsKey(),
)
def openai_tools(
    request: HttpRequest, profile: Profile | None = None, form: Form = Form.RESPONSES
) -> dict[str, Any]:
    """Strict schemas of the tools that this key may call, for the Responses or the Chat Completions
    API."""
    schemas = [
        function_schema(tool, form) for tool in toolbox.tools_for(caller_of(request), profile)
    ]
    return {"profile": profile, "form": form, "tools": schemas}


@tools.post(
    "/call",
    operation_id="tools_call",
    summary="Carry out a model's function call",
    response=ToolAnswer,
)
def tools_call(request: HttpRequest, call: Body[ToolCall], compact: bool = True) -> HttpResponse:
    """Run one call of an LLM's tool loop: send `name` and `arguments` as the model gave them. The
    `result` is small: empty fields and what only programs compare are left out, and the licence
    and attribution of each document stand once in `sources`. `compact=false` gives all fields."""
    toolbox.find_tool(call.name)
    arguments = parse_object(call.arguments) if isinstance(call.arguments, str) else call.arguments
    request.is_audited = True  # type: ignore[attr-defined]
    result = toolbox.call_tool(call.name, arguments, caller_of(request), via="openai")
    answer = result.as_compact_json() if compact else result.as_json()
    return to_response(result, orjson.dumps({"name": call.name, "result": answer}))


@tools.post("/{name}", operation_id="no_such_tool", include_in_schema=False)
@reads_body
def no_such_tool(request: HttpRequest, name: str) -> HttpResponse:
    """Answer any other name with 404 and the names that exist."""
    request.is_audited = True  # type: ignore[attr-defined]
    return to_response(toolbox.call_tool(name, {}, caller_of(request), via="rest"))


api.add_router("/tools", tools)
api.add_router("", installation_router)
api.add_router("", events_router)
api.add_router("/world", campaigns_router)
api.add_router("/world", characters_router)
api.add_router("/world", calendar_router)
api.add_router("/world", people_router)
api.add_router("/world", webhooks_router)
api.add_router("/world", reveals_router)
api.add_router("/world", knowledge_router)
api.add_router("/world", saved_filters_router)
api.add_router("/world", drafts_router)
api.add_router("/world", recent_router)
api.add_router("/world/graph", graph_router)
api.add_router("/world", bulk_router)
api.add_router("/world", imports_router)
api.add_router("/world", archives_router)
api.add_router("/world", audit_router)
api.add_router("", restorations_router)
# Before the episodes: its address would be taken for the id of one.
api.add_router("/world", session_reports_router)
api.add_router("/world", fact_proposals_router)
api.add_router("/world", thread_proposals_router)
api.add_router("/world", episodes_router)
api.add_router("/world", sessions_router)
api.add_router("/world", notes_router)
api.add_router("/world", casts_router)
api.add_router("/world", npcs_router)
api.add_router("/world", opinions_router)
api.add_router("/world", npc_merges_router)
api.add_router("/world", art_router)
api.add_router("/world", pictures_router)
api.add_router("/memory", memories_router)
api.add_router("", npc_memories_router)
api.add_router("/memory", agent_router)
