"""Django under ASGI, a whole request in one thread.

Django's own ASGI handler runs each middleware and each signal in a thread of its own turn, which costs more than a
search's whole way through Python (docs/decisions/0033). All our views are synchronous, so one hop to a thread is
enough: there the request is read, answered and closed, and its database connection goes back to the pool.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils.module_loading import import_string


class OneThreadHandler(ASGIHandler):
    """An ASGI application. A caller who hangs up does not stop what was begun, as with every synchronous view."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self.threads = threads

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        run = copy_context().run
        loop = asyncio.get_running_loop()
        response, parts = await loop.run_in_executor(self.threads, run, self.answer, scope, body)
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": _headers(response),
            }
        )
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": parts[-1] if parts else b""})

    def answer(self, scope: dict[str, Any], body: Any) -> tuple[HttpResponseBase, list[bytes]]:
        """Return the response, closed, and its body. Runs in a thread of the pool."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            response._handler_class = self.__class__
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
            try:
                return response, _parts(response)
            finally:
                response.close()  # sends request_finished: the connection goes back before the body leaves
        finally:
            body.close()


class ProgramsHandler(OneThreadHandler):
    """For callers with a key. They have no session, no cookie and no form: the middleware for these is left out."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002
        hooks = ("_view_middleware", "_template_response_middleware", "_exception_middleware")
        vars(self).update({name: [] for name in hooks})  # what is left in has none
        self._middleware_chain = self._chain(self._get_response)  # type: ignore[attr-defined]

    @classmethod
    def around(cls, view: Callable[[Any], HttpResponseBase]) -> "ProgramsHandler":
        """A handler whose every request `view` answers: to see what the middleware alone does."""
        handler = cls.__new__(cls)
        handler._middleware_chain = cls._chain(view)
        return handler

    @staticmethod
    def _chain(view: Callable[[Any], HttpResponseBase]) -> Callable[[Any], Any]:
        chain: Callable[[Any], Any] = convert_exception_to_response(view)
        for path in reversed(settings.MIDDLEWARE):
            if path not in settings.MIDDLEWARE_FOR_BROWSERS:
                chain = convert_exception_to_response(import_string(path)(chain))
        return chain


def _parts(response: Any) -> list[bytes]:
    given: Iterable[bytes] = (
        response.streaming_content if response.streaming else [response.content]
    )
    return [bytes(part) for part in given if part]


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [
        (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()
    ]
    cookies = (
        cookie.output(header="").strip().encode("ascii") for cookie in response.cookies.values()
    )
    return headers + [(b"set-cookie", cookie) for cookie in cookies]
