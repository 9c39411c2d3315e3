"""REST under /api/v1: the tools, and the routers that the apps bring."""

from collections.abc import Callable
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Router

from memory_site import toolbox
from memory_site.errors import Unreadable, tell_problems
from memory_site.toolbox import Answered, Tool
from worlds import doors
from worlds.doors import NeedsKey, caller_of

api = NinjaAPI(title="Memory37", version="1", urls_namespace="api", description="The memory of an AI game master.")
tell_problems(api)
api.add_decorator(doors.through, mode="operation")
tools = Router(tags=["tools"], auth=NeedsKey(counted=False))


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Return the request's JSON object; raises `Unreadable`."""
    try:
        body = orjson.loads(request.body or b"{}")
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"The body is not valid JSON ({error}).") from error
    if not isinstance(body, dict):
        raise Unreadable("Send one JSON object with the tool's arguments.")
    return body


def answer_json(answered: Answered) -> HttpResponse:
    headers = answered.allowance.headers if answered.allowance else {}
    body = answered.answer.model_dump_json(by_alias=True)
    return HttpResponse(body, content_type="application/json; charset=utf-8", headers=headers)


def endpoint(tool: Tool) -> Callable[[HttpRequest], HttpResponse]:
    def view(request: HttpRequest) -> HttpResponse:
        arguments = body_of(request)
        request.audited = True  # type: ignore[attr-defined]
        return answer_json(toolbox.call(tool.name, arguments, caller_of(request), door="rest"))

    view.__name__ = tool.name
    return view


for _tool in toolbox.TOOLS:
    tools.post(
        f"/{_tool.name}",
        operation_id=_tool.name,
        summary=_tool.title,
        description=_tool.description,
        response=_tool.answer,
        by_alias=True,
    )(endpoint(_tool))

api.add_router("/tools", tools)
