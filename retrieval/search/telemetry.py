"""Counters and a span for every search (requirement 1.10). A no-op until an SDK is configured."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from opentelemetry import metrics, trace

_tracer = trace.get_tracer("memory37.search")
_meter = metrics.get_meter("memory37.search")
_requests = _meter.create_counter("memory37.search.requests", description="Searches")
_hits = _meter.create_counter("memory37.search.hits", description="Passages found")


def start_span(
    tracer: trace.Tracer, name: str, **attributes: Any
) -> AbstractContextManager[trace.Span]:
    """Begin a span, or nothing while no SDK is configured: even an empty span has a price."""
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return nullcontext(trace.INVALID_SPAN)
    return tracer.start_as_current_span(name, attributes=attributes)


@contextmanager
def record_search(
    domain: str, *, mode: str, k_vector: int, k_keyword: int
) -> Iterator[list[object]]:
    """Time one search; the caller appends its hits. Attributes are counts and names, never text."""
    attributes = {"domain": domain, "op": "search", "mode": mode}
    depths = {"k_vector": k_vector, "k_keyword": k_keyword}
    hits: list[object] = []
    with start_span(_tracer, "memory37.search", **attributes, **depths) as span:
        try:
            yield hits
        finally:
            span.set_attribute("hits", len(hits))
            _requests.add(1, attributes)
            _hits.add(len(hits), attributes)
