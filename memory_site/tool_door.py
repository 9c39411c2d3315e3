"""The short way to a tool over REST: `POST /api/v1/tools/<tool>`, straight from ASGI to the toolbox.

A search takes six milliseconds, and a framework's way in and out of it one more (docs/decisions/0036). So an ordinary
call of a tool is taken here; whatever is not ordinary goes the long way through Django: another method or name, a retry
key, a language, a strange host, a large body, headers said twice. Both ways answer the same, byte for byte but for ids
(tests/memory_site/api/test_tool_door.py), because both ask the toolbox, tell problems by the same function, and bear the headers
that the middleware gives. A site that adds middleware of its own for programs has the long way only.
"""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache
from io import BytesIO
from typing import Any, cast

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpResponse
from django.http.request import split_domain_port, validate_host
from django.utils import translation
from opentelemetry import context, propagate

from memory_site import toolbox
from memory_site.api import JSON, body_object
from memory_site.database.base import DatabaseWrapper
from memory_site.errors import told
from memory_site.one_thread_asgi import ProgramsHandler
from memory_site.request_ids import HEADER, accepted, current
from worlds import keys
from worlds.callers import Caller
from worlds.rest import presented_in

logger = logging.getLogger(__name__)

PREFIX = "/api/v1/tools/"
OURS = [
    "memory_site.request_ids.RequestIds",
    "memory_site.telemetry.JoinTrace",
    "memory_site.errors.ApiProblems",
    "django.middleware.security.SecurityMiddleware",
    "memory_site.security.ContentSecurityPolicy",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
"""The middleware whose work is done here too. With any other, every call goes the long way."""

Headers = Mapping[str, str]
Answer = tuple[int, dict[str, str], bytes]


class ToolDoor:
    """An ASGI application for the calls that `takes` lets in."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        for_programs = [
            name for name in settings.MIDDLEWARE if name not in settings.MIDDLEWARE_FOR_BROWSERS
        ]
        self._open = for_programs == OURS and not (
            settings.USE_X_FORWARDED_HOST or settings.DISALLOWED_USER_AGENTS
        )
        self._names = frozenset(tool.name for tool in toolbox.TOOLS)
        self._threads = threads

    def takes(self, scope: Mapping[str, Any]) -> bool:
        """Whether this is an ordinary call of a tool."""
        if (
            not self._open
            or scope["type"] != "http"
            or scope["method"] != "POST"
            or scope.get("root_path")
        ):
            return False
        path: str = scope["path"]
        if not path.startswith(PREFIX):
            return False
        headers = _read(scope)
        return (
            path[len(PREFIX) :] in self._names
            and len(headers) == len(scope["headers"])
            and "idempotency-key" not in headers
            and headers.get("accept-language", "*") == "*"
            and _is_short(headers.get("content-length", ""))
            and _is_ours(headers.get("host", ""))
            and (_is_secure(scope, headers) or not settings.SECURE_SSL_REDIRECT)
        )

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message.get("body", b""), message.get("more_body", False)
        run, asked = copy_context().run, _read(scope)
        status, headers, told_body = await asyncio.get_running_loop().run_in_executor(
            self._threads, run, answer, scope["path"][len(PREFIX) :], asked, body
        )
        given = {
            **_given_to_all(_is_secure(scope, asked)),
            **headers,
            "Content-Length": str(len(told_body)),
        }
        lines = [
            (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in given.items()
        ]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": told_body})


def answer(tool: str, headers: Headers, body: bytes) -> Answer:
    """Call `tool` for the key in `headers`; return the status, the answer's own headers and its body."""
    link = cast(DatabaseWrapper, connections[DEFAULT_DB_ALIAS])
    link.resume()
    request_id = accepted(headers.get(HEADER.lower()))
    id_token, trace_token = current.set(request_id), context.attach(propagate.extract(headers))
    translation.deactivate()  # the thread may have answered a reader of Korean before
    try:
        status, own, text = _called(tool, headers, body, request_id)
    finally:
        link.rest()
        context.detach(trace_token)
        current.reset(id_token)
    return status, {**own, HEADER: request_id}, text


def _called(tool: str, headers: Headers, body: bytes, request_id: str) -> Answer:
    try:
        key = keys.verify(
            presented_in(headers.get("authorization", ""), headers.get("x-api-key", ""))
        )
        caller = Caller.holding(key, request_id=request_id)
        answered = toolbox.call(tool, body_object(body or b"{}"), caller, door="rest")
        text = answered.answer.model_dump_json(by_alias=True).encode()
    except Exception as exc:
        status, own, text = told(exc, request_id)
        logger.warning("%s answered %d", tool, status)
        return status, own, text
    return (
        200,
        {"Content-Type": JSON, **(answered.allowance.headers if answered.allowance else {})},
        text,
    )


def _read(scope: Mapping[str, Any]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _is_short(length: str) -> bool:
    """A body without a length, or one that is too long, is Django's to refuse."""
    return length.isdecimal() and int(length) <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE


@lru_cache(1000)
def _is_ours(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _is_secure(scope: Mapping[str, Any], headers: Headers) -> bool:
    if settings.SECURE_PROXY_SSL_HEADER:
        name, value = settings.SECURE_PROXY_SSL_HEADER
        return headers.get(name.removeprefix("HTTP_").replace("_", "-").lower()) == value
    return bool(scope.get("scheme") == "https")


@lru_cache(2)
def _given_to_all(secure: bool) -> dict[str, str]:
    """The headers that the middleware gives every answer of data: it is asked once, with an empty one."""
    headers = [(b"host", b"localhost")]
    if secure and settings.SECURE_PROXY_SSL_HEADER:
        name, value = settings.SECURE_PROXY_SSL_HEADER
        headers.append(
            (name.removeprefix("HTTP_").replace("_", "-").lower().encode(), value.encode())
        )
    scope = {
        "type": "http",
        "method": "POST",
        "path": PREFIX,
        "query_string": b"",
        "headers": headers,
        "scheme": "https" if secure else "http",
    }
    empty = ProgramsHandler.around(_empty_answer).get_response(ASGIRequest(scope, BytesIO()))
    return {
        name: value
        for name, value in empty.items()
        if name not in (HEADER, "Content-Length", "Content-Type")
    }


def _empty_answer(_request: Any) -> HttpResponse:
    return HttpResponse(b"{}", content_type=JSON)
