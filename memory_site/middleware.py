"""The site's own middleware. `settings.MIDDLEWARE` lists it with Django's."""

from collections.abc import Callable
from time import monotonic

from csp.constants import HEADER as CSP_HEADER
from csp.middleware import CSPMiddleware, PolicyParts
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from opentelemetry import context, propagate

from memory_site import error_pages, health, logs
from memory_site.errors import bare_problem, problem_response
from memory_site.security import WIDER
from memory_site.site_metrics import record_request
from memory_site.telemetry import prometheus_text
from retrieval.errors import Problem, Unauthorized
from worlds import keys

GetResponse = Callable[[HttpRequest], HttpResponse]
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For an answer that is no document: it may load nothing, and nothing may frame it."""


class RequestIds:
    """Outermost: `request.request_id`, the context of log lines, and the header of the answer."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = logs.valid_or_new_id(request.headers.get(logs.REQUEST_ID_HEADER))
        request.request_id = request_id  # type: ignore[attr-defined]
        token, begin = logs.current_request_id.set(request_id), monotonic()
        try:
            response = self.get_response(request)
        finally:
            logs.current_request_id.reset(token)
        response[logs.REQUEST_ID_HEADER] = request_id
        seconds = monotonic() - begin
        record_request(method=request.method or "", status=response.status_code, seconds=seconds)
        return response


class MonitoringAnswers:
    """Answers what monitors ask before host, TLS and replica matter: a probe of the process itself
    (of a container, a proxy, Prometheus) names it by address and speaks plain HTTP to it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.views: dict[str, GetResponse] = {
            "/health/live": health.live,
            "/health/ready": health.ready,
        }
        if settings.METRICS:
            self.views["/metrics"] = prometheus_text

    def __call__(self, request: HttpRequest) -> HttpResponse:
        view = self.views.get(request.path)
        if view is None:
            return self.get_response(request)
        response = view(request)
        response[CSP_HEADER] = DATA_POLICY
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Length"] = str(len(response.content))
        return response


class TraceContext:
    """Joins the trace that the caller's `traceparent` header names."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = context.attach(propagate.extract(request.headers))
        try:
            return self.get_response(request)
        finally:
            context.detach(token)


class ApiProblems:
    """Answers with a problem what fails under /api/ before an endpoint is found (no such path,
    wrong method)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_bare = response.status_code >= 400 and "json" not in response.get("Content-Type", "")
        if not (is_bare and request.path.startswith("/api/")):
            return response
        problem = problem_response(request, self.problem(request, response))
        if allow := response.get("Allow"):
            problem["Allow"] = allow
        return problem

    def problem(self, request: HttpRequest, response: HttpResponse) -> Problem:
        """Return 401 for an address that no operation has, asked for without a key: an id that is
        none must not be told from one that is."""
        if response.status_code == 404 and request.resolver_match is None:
            try:
                keys.key_in_headers(request.headers)
            except Unauthorized as refusal:
                return refusal
        return bare_problem(response.status_code)


class CompressedAnswers(GZipMiddleware):
    """Compresses the answers of the API. Pages are left as they are: they hold CSRF tokens beside
    texts that a reader has sent. So are streams: the compressor would hold events back."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if response.streaming or not request.path.startswith("/api/"):
            return response
        return super().process_response(request, response)


class ConditionalReads(ConditionalGetMiddleware):
    """Answers 304 when the `ETag` that a program sends as `If-None-Match` still holds. An answer
    without a version of its own gets a digest of its text. No cache between keeps an answer: the
    next one may be for another key."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path.startswith("/api/"):
            return response
        if request.method == "GET" and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"
        return super().process_response(request, response)


class PageProblems:
    """Answers with a page for people what a view could not carry out: an unknown audience, a NUL
    byte, a database that is away. What it does not know is a fault and goes on to the 500 page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        if request.path.startswith("/api/") or not error_pages.is_expected(exc):
            return None
        return error_pages.problem_page(request, exc)


class ContentSecurityPolicy(CSPMiddleware):
    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Programs' answers have a policy that needs no building, which takes 0.05 ms of a busy
        path."""
        if "json" not in response.get("Content-Type", ""):
            return super().process_response(request, response)
        response[CSP_HEADER] = DATA_POLICY
        return response

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if not report_only:
            for prefix, wider in WIDER.items():
                if request.path_info.startswith(prefix):
                    parts.update = {**wider, **(parts.update or {})}
        return parts
